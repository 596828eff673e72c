"""Whatever route one comes by, it just works, or the error speaks of that route."""

import traceback
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import redelve
from redelve.cli.main import main
from redelve.data.tables.table_columns import LONGEST_NAME, legal_name
from redelve.data.tasks import assignments_for
from redelve.errors import RedelveError
from redelve.methods.contract import named_methods
from redelve.store.fact_files import called_before


def frame(rows: int = 45) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    made = pd.DataFrame(rng.normal(size=(rows, 2)), columns=["a", "b"])
    return made.assign(y=made["a"] + rng.normal(size=rows))


FRAME = frame()
X, Y = FRAME[["a", "b"]], FRAME["y"]


def guess(training: Any, inputs: Any, rng: Any) -> Any:
    """Never called."""
    raise AssertionError


# Methods


@pytest.mark.parametrize(
    ("methods", "names"),
    [
        (Ridge(), ["Ridge"]),
        (RandomForestRegressor(), ["RandomForestRegressor"]),
        ([Ridge(), "lin-1", guess], ["Ridge", "lin-1", "guess"]),
        (make_pipeline(StandardScaler(), Ridge()), ["Ridge"]),
        ({"RF 500": Ridge(), "Größe": Ridge(), "v1.0 (best)": Ridge()}, ["RF 500", "Größe", "v1.0 (best)"]),
        ("lin-1", ["lin-1"]),
    ],
    ids=["an estimator", "a forest", "a list", "a pipeline", "names", "a word"],
)
def test_methods_may_be_given_bare(methods: Any, names: list[str]) -> None:
    assert list(named_methods(methods)) == names


def test_a_name_with_blanks_goes_all_the_way(tmp_path: Path) -> None:
    done = redelve.assess({"my model": Ridge(), "constant": "constant"}, (X, Y), archive=tmp_path / "archive")
    assert "my model" in str(done)
    assert redelve.Archive.open(tmp_path / "archive").verify().ok
    assert done.report(tmp_path / "report.html").exists()
    assert "my model" in redelve.Archive.open(tmp_path / "archive").load().methods


# Tasks


@pytest.mark.parametrize(
    ("tasks", "target", "address"),
    [
        (FRAME, "y", "/data/y/std.36"),
        ((X, Y), None, "/data/y/std.36"),
        ((X.to_numpy(), Y.to_numpy()), None, "/data/target/std.36"),
        ((X.to_numpy(), list(Y)), None, "/data/target/std.36"),
        (X, Y, "/data/y/std.36"),
        (X, Y.to_numpy().reshape(-1, 1), "/data/target/std.36"),
        ({"houses": FRAME}, "y", "/houses/y/std.36"),
        ([FRAME], "y", "/data/y/std.36"),
        (FRAME.set_axis(range(3), axis=1), 2, "/data/2/std.36"),
        (FRAME.rename(columns={"a": "target"}).drop(columns="y"), Y.to_numpy(), "/data/target_target/std.36"),
    ],
    ids=range(10),
)
def test_frames_and_arrays_are_tasks(tasks: Any, target: Any, address: str) -> None:
    assert list(assignments_for(tasks, target)) == [address]


def test_what_was_made_ready_may_come_in_a_dictionary() -> None:
    made = assignments_for("demo/age", sizes=32)
    assert assignments_for(made) == made


def test_rows_of_inputs_and_target_belong_together_whatever_their_index() -> None:
    shuffled = Y.sample(frac=1, random_state=0).sort_values()
    (made,) = redelve.from_frame(X, shuffled).assignments
    assert made.data.cases.columns[-1].numbers().tolist() == shuffled.tolist()


def test_a_file_is_a_task_too(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "table.csv", index=False)
    done = redelve.assess("constant", tmp_path / "table.csv", "y", design="cv 3")
    assert list(done.results.tasks) == ["/table/y/std.30"]


def test_options_of_frames_reach_them() -> None:
    done = redelve.assess("constant", FRAME, target="y", design="time", gap=2)
    assert done.results.tasks["/data/y/std.21"].scheme == "time"
    labels = [n // 5 for n in range(45)]
    grouped = redelve.assess("constant", FRAME, target="y", groups=labels, design="cv 3")
    assert next(iter(grouped.results.tasks.values())).instances[0].units is not None


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: redelve.assess("constant", FRAME), 'as in target="price"'),
        (lambda: redelve.assess("constant", FRAME, "Y"), 'has no column "Y": it has a, b, y'),
        (lambda: redelve.assess("constant", FRAME, ["y"]), "give the name alone, as in target='y'"),
        (lambda: redelve.assess("constant", FRAME, ["y", "a"]), "one target at a time"),
        (lambda: redelve.assess("constant", X, Y[:7]), "the target has 7 values, but there are 45 rows"),
        (lambda: redelve.assess("constant", X, X.to_numpy()), "the target has 2 dimensions"),
        (lambda: redelve.assess("constant", (X, Y), "y"), "target='y' is for"),
        (lambda: redelve.assess(FRAME, {"ridge": Ridge()}), "methods come first, then the data"),
        (lambda: redelve.assess(redelve.from_frame(FRAME, "y"), ["constant"]), "methods come first"),
        (lambda: redelve.assess("constant", Ridge()), "methods come first"),
        (lambda: redelve.assess("constant", None), "tasks is None: give an address"),
        (lambda: redelve.assess("constant", 5), "tasks is 5: give an address"),
        (lambda: redelve.assess("constant", "none.csv", "y"), "none.csv: no such file"),
        (lambda: redelve.assess("constant", "demo/age", design="cv"), "design='cv' is for tables"),
        (lambda: redelve.from_frame(Y, "y"), "from_frame(X, y)"),
        (lambda: redelve.assess({"a/b": Ridge()}, FRAME, "y"), "a text without slashes"),
    ],
)
def test_what_cannot_be_is_told_in_the_words_of_the_route(call: Any, told: str) -> None:
    with pytest.raises(RedelveError) as caught:
        call()
    assert told in str(caught.value)
    assert "prior" not in str(caught.value)


# Stopping, and asking for help


class Stopped(Ridge):  # type: ignore[misc]
    """Somebody presses Ctrl-C."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        raise KeyboardInterrupt


def test_an_interrupt_has_a_short_traceback_and_says_how_to_go_on(tmp_path: Path) -> None:
    for archive, told in ((None, "give archive=… to keep it"), (tmp_path / "kept", f"kept in {tmp_path}")):
        with pytest.raises(KeyboardInterrupt, match=told) as caught:
            redelve.assess(Stopped(), FRAME, "y", archive=archive)
        assert len("".join(traceback.format_exception(caught.value)).splitlines()) < 15


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        (["help"], "usage: redelve <command>", 0),
        (["help", "assess"], "usage: redelve assess data", 0),
        (["asses"], 'unknown command "asses": redelve -h lists them (did you mean "assess"?)', 2),
        (["help", "asses"], 'did you mean "assess"?', 2),
        (["assess", "x.csv", "--size", "3"], 'unknown option "--size" (did you mean "--sizes"?)', 2),
        (["assess", "x.csv", "--desing", "cv"], 'did you mean "--design"?', 2),
    ],
)
def test_commands_help(words: list[str], told: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == code
    said = capsys.readouterr()
    assert told in said.out + said.err


# Names in any alphabet

HEIGHT = "Größe (cm) 身長"


def measured() -> pd.DataFrame:
    return FRAME.rename(columns={"y": HEIGHT})


def test_names_in_any_alphabet_survive(tmp_path: Path) -> None:
    tasks = redelve.from_frame(measured(), HEIGHT, name="Größen", design="holdout")
    done = redelve.assess("constant", tasks, archive=tmp_path / "archive")
    address = "/Größen/Größe_cm_身長/std.34"
    assert list(done.results.tasks) == [address]
    assert "/Größen/Größe_cm_身長" in str(done)
    archive = redelve.Archive.open(tmp_path / "archive")
    assert archive.verify().ok
    archive.export_delve(tmp_path / "delve")
    assert [path.parts[-3:-1] for path in (tmp_path / "delve").rglob("std.34")] == [
        ("Größen", "Größe_cm_身長")
    ]


def test_an_archive_of_before_is_gone_on_with_under_its_old_address(tmp_path: Path) -> None:
    """Only ASCII letters were kept: /Gr_en/Gr_e_cm."""
    tasks = redelve.from_frame(measured(), HEIGHT, name="Größen")
    (old,) = (called_before(one) for one in tasks.assignments)
    assert old.address == "/Gr_en/Gr_e_cm/std.36"
    first = redelve.assess("constant", old, archive=tmp_path / "archive")
    again = redelve.assess("constant", tasks, archive=tmp_path / "archive")
    assert list(again.results.tasks) == [old.address]
    assert [one.started for one in again.results.records] == [one.started for one in first.results.records]
    other = redelve.from_frame(measured()[:44], HEIGHT, name="Größen")  # other cases are another task
    assert list(redelve.assess("constant", other, archive=tmp_path / "archive").results.tasks) == [
        "/Größen/Größe_cm_身長/std.35"
    ]


def test_sets_are_drawn_as_before_whatever_the_alphabet() -> None:
    ours, theirs = (redelve.from_frame(FRAME, "y", name=name).assignments[0] for name in ("Größen", "Gr_en"))
    assert [one.digest for one in ours.instances] == [one.digest for one in theirs.instances]


@pytest.mark.parametrize("name", ["身" * 200, "a" * 200, "ß" * 79 + "."])
def test_long_names_fit_into_an_archive(name: str) -> None:
    assert len(quote(legal_name(name))) <= LONGEST_NAME
