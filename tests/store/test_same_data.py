"""The same data under two names are one task; another method can be added to somebody's archive."""

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from redelve import Archive, assess, from_file, from_frame
from redelve.assessment import Assessment
from redelve.cli.adding import add
from redelve.cli.assess import report
from redelve.data.tables import Description, Intake
from redelve.errors import LocationError, SpecError
from redelve.run.cells.confining import mechanism
from redelve.run.races import Race
from redelve.store.wanted_data import assignments_of

COUNT = 60


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """One table in two files."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"x": random.normal(size=COUNT), "city": random.choice(["a", "b"], COUNT)})
    frame["y"] = (2 * frame["x"] + random.normal(size=COUNT)).round(3)
    for name in ("people.csv", "folks.csv"):
        frame.to_csv(tmp_path / name, index=False)
    return tmp_path / "people.csv", tmp_path / "folks.csv"


def nameless(path: Path) -> Intake:
    """A table as `redelve assess` takes it the first time."""
    return from_file(path, "y", description=Description(is_nameless=True))


def test_the_name_of_a_file_does_not_change_the_sets_of_a_nameless_table(tables: tuple[Path, Path]) -> None:
    people, folks = (nameless(path).assignments[0] for path in tables)
    frame = from_frame(pd.read_csv(tables[0]), "y").assignments[0]
    for other in (folks, frame):
        assert other.data.cases == people.data.cases
        assert [one.digest for one in other.instances] == [one.digest for one in people.instances]


def test_a_name_that_is_given_has_sets_of_its_own_as_before(tables: tuple[Path, Path]) -> None:
    # archives of before have been made with sets that depend on the name
    first, second = from_file(tables[0], "y"), from_file(tables[1], "y", name="people")
    assert first.description.design is not None
    assert first.description.design.order == "standard"
    assert first.assignments[0].digest == second.assignments[0].digest
    assert first.assignments[0].instances != nameless(tables[0]).assignments[0].instances


def test_archives_of_the_same_data_under_two_names_are_merged_into_one_task(
    tmp_path: Path, tables: tuple[Path, Path]
) -> None:
    for path, method in zip(tables, ("constant", "lin-1"), strict=True):
        assess([method], nameless(path), archive=tmp_path / path.stem)
    merged = Archive.open(tmp_path / "people")
    told = str(merged.merge(Archive.open(tmp_path / "folks")))
    assert "known by its data: /people/y/std.48 is /folks/y/std.48: same data, same sets" in told
    results = merged.load()
    assert list(results.tasks) == ["/folks/y/std.48"]
    assert set(results.methods) == {"constant", "lin-1"}
    assert "/people/y/std.48 has the same data" in results.tasks["/folks/y/std.48"].left_out[-1]
    (contest,) = Assessment(results).compare("lin-1", "constant")
    assert (contest.first, contest.second) == ("lin-1", "constant")
    assert "lin-1 − constant = −" in str(contest)
    assert merged.verify().ok


def test_work_on_the_same_data_under_another_name_goes_on_where_it_was(
    tmp_path: Path, tables: tuple[Path, Path]
) -> None:
    first = assess(["constant"], nameless(tables[0]), archive=tmp_path / "a")
    again = assess(["constant", "lin-1"], nameless(tables[1]), archive=tmp_path / "a")
    assert list(again.results.tasks) == list(first.results.tasks) == ["/people/y/std.48"]
    assert {one.digest for one in first.results.records} <= {one.digest for one in again.results.records}
    assert "goes by that name" in again.results.tasks["/people/y/std.48"].left_out[-1]


def raced(path: Path, archive: Path, *methods: str) -> Assessment:
    return assess(list(methods), nameless(path), sizes=32, until_settled=True, archive=archive)


@pytest.fixture
def larger(tmp_path: Path) -> tuple[Path, Path]:
    """One table in two files, large enough to be raced."""
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(600, 2)).round(3), columns=["x", "y"])
    for name in ("people.csv", "folks.csv"):
        frame.to_csv(tmp_path / name, index=False)
    return tmp_path / "people.csv", tmp_path / "folks.csv"


def test_a_race_goes_on_by_its_plan_under_another_name_of_the_table(
    tmp_path: Path, larger: tuple[Path, Path]
) -> None:
    archive = tmp_path / "a"
    first = raced(larger[0], archive, "constant", "lin-1")
    again = raced(larger[1], archive, "constant", "lin-1")
    assert again.results.races == first.results.races
    assert list(again.results.races) == ["/people/y/std.32"]
    with pytest.raises(SpecError, match=r"a race on /people/y/std.32 whose plan was another \(methods\)"):
        raced(larger[1], archive, "constant", "ridge")


def test_two_races_on_the_same_data_are_told_apart(tmp_path: Path, larger: tuple[Path, Path]) -> None:
    """Under one name one of them would be lost."""
    races: dict[str, Race] = {}
    for path, other in zip(larger, ("lin-1", "ridge"), strict=True):
        races |= raced(path, tmp_path / path.stem, "constant", other).results.races
    merged = Archive.open(tmp_path / "people")
    told = str(merged.merge(Archive.open(tmp_path / "folks")))
    assert "/people/y/std.32 is /folks/y/std.32: same data, same sets; apart, because of a race" in told
    results = merged.load()
    assert results.races == races
    assert list(results.tasks) == ["/folks/y/std.32", "/people/y/std.32"]
    said = "/people/y: the same data and sets as /folks/y/std.32; they stand apart because of a race"
    assert said in " ".join(str(Assessment(results)).split())


def test_two_races_on_one_task_with_different_plans_are_not_merged(
    tmp_path: Path, larger: tuple[Path, Path]
) -> None:
    for name, other in (("mine", "lin-1"), ("theirs", "ridge")):
        raced(larger[0], tmp_path / name, "constant", other)
    mine = Archive.open(tmp_path / "mine")
    with pytest.raises(SpecError, match=r"/mine, by another plan \(methods\): keep the two archives apart"):
        mine.merge(Archive.open(tmp_path / "theirs"))
    assert set(mine.load().methods) == {"constant", "lin-1"}


def test_tasks_that_differ_in_a_value_or_in_the_kind_of_target_are_not_joined(
    tmp_path: Path, tables: tuple[Path, Path]
) -> None:
    other = pd.read_csv(tables[1])
    other["x"] = other["x"].where(other.index > 0, 9.0)
    assess(["constant"], nameless(tables[0]), archive=tmp_path / "a")
    assess(["constant"], from_frame(other, "y", name="folks"), archive=tmp_path / "a")
    assert len(Archive.open(tmp_path / "a").load().tasks) == 2


METHODS = '''
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

def make():
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge(alpha=3.0))

def mean(training_inputs, training_targets, test_inputs):
    """The mean of the targets."""
    return [training_targets.mean()] * len(test_inputs)

broken = 1 / 0
'''


def test_a_method_is_added_to_somebodys_archive(
    tmp_path: Path,
    tables: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assess(["constant"], nameless(tables[0]), archive=tmp_path / "theirs" / "archive")
    (tmp_path / "ridge.py").write_text(METHODS.replace("broken = 1 / 0", ""))
    assert add(["theirs", "ridge.py:make", "-q"]) == 0
    shown = capsys.readouterr().out
    assert "2 methods, 1 task" in shown
    assert "ridge" in shown
    assert (tmp_path / "theirs" / "report.html").is_file()
    results = Archive.open(tmp_path / "theirs").load()
    assert set(results.methods) == {"constant", "ridge"}
    told = {one.environment["isolation"] for one in results.records if one.job.method == "ridge"}
    how = (
        "not confined: this machine does not allow it"
        if mechanism() is None
        else f"confined by {mechanism()}"
    )
    assert told == {f"a process of its own, {how}"}


def test_data_that_are_not_there_are_asked_for(
    tmp_path: Path, tables: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assess(["constant"], nameless(tables[0]), archive=tmp_path / "theirs")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    shutil.move(tmp_path / "theirs", tmp_path / "empty" / "theirs")
    archive = tmp_path / "empty" / "theirs"
    (tmp_path / "people.csv").rename(tmp_path / "hidden.csv")
    with pytest.raises(LocationError, match=r'table with 60 cases, 2 inputs and target "y" whose digest is'):
        assignments_of(archive, [])
    found = assignments_of(archive, [tmp_path / "hidden.csv"])
    assert list(found) == ["/people/y/std.48"]


@pytest.mark.parametrize(
    ("method", "complaint"),
    [
        ("nope.py:make", '"nope.py" is not there: give file.py:function'),
        ("broken.py:make", "ZeroDivisionError: division by zero"),
        ("json:nothing", 'can\'t load "nothing" from json'),
        ("knn", "unknown method"),
    ],
)
def test_a_method_that_cannot_be_loaded_is_told(
    tmp_path: Path,
    method: str,
    complaint: str,
    tables: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assess(["constant"], nameless(tables[0]), archive=tmp_path / "theirs")
    (tmp_path / "broken.py").write_text(METHODS)
    assert add(["theirs", method, "-q"]) != 0
    assert complaint in capsys.readouterr().err


def test_a_report_is_made_of_an_assessments_folder_too(
    tmp_path: Path, tables: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assess(["constant"], nameless(tables[0]), archive=tmp_path / "out" / "archive")
    assert report([str(tmp_path / "out")]) == 0
    assert "/people/y" in capsys.readouterr().out


def test_versions_are_told_apart_by_days_and_meaning(tmp_path: Path, tables: tuple[Path, Path]) -> None:
    changed = pd.read_csv(tables[0])
    changed["x"] = changed["x"].where(changed.index > 0, 9.0)
    for frame in (pd.read_csv(tables[0]), changed):
        assess(["constant"], from_frame(frame, "y", name="people"), archive=tmp_path / "a")
    with pytest.raises(LocationError) as caught:
        Archive.open(tmp_path / "a").load()
    assert "on different data (a changed table, say)" in str(caught.value)
    assert str(caught.value).count("(5 instances, results of 20") == 2


@pytest.mark.parametrize("name", ["Größen", "身長と体重"])
def test_names_in_every_alphabet_survive_archives_and_zips(
    tmp_path: Path, tables: tuple[Path, Path], name: str
) -> None:
    archive = tmp_path / "a"
    assess(["constant"], from_frame(pd.read_csv(tables[0]), "y", name=name), archive=archive)
    (address,) = Archive.open(archive).load().tasks
    assert address == f"/{name}/y/std.48"
    assert Archive.open(archive).verify().ok
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        for path in sorted(archive.rglob("*")):
            file.write(path, path.relative_to(tmp_path))
    zipped = Archive.open(tmp_path / "a.zip")
    assert list(zipped.load().tasks) == [address]
    merged = Archive.open(tmp_path / "b", create=True)
    assert merged.merge(zipped).added == 5
    assert list(merged.load().tasks) == [address]
