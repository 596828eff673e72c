"""An archive, a DELVE tree and a challenge made by commit 7164602 are read with equal results.

`make.py` made them, with that commit's code; nothing here is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import redelve
from redelve.assessment import Assessment
from redelve.challenge import read_challenge, read_submission, score_submission, scores_to_json
from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.methods.contract import METHODS
from redelve.store import Archive
from tests.conftest import RunCommand

KEPT = Path(__file__).parent / "kept"
TABLES = {"flats": ("price", "lin-1"), "fruits": ("kind", "logistic")}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return Path(shutil.copytree(KEPT / "archive", tmp_path / "kept"))


def of_table(folder: Path, table: str) -> Assessment:
    results = Archive.open(folder / "archive").load(answers=True)
    target, second = TABLES[table]
    tasks = [address for address in results.tasks if address.startswith(f"/{table}/{target}/")]
    return Assessment(results.select(methods=["constant", second], tasks=tasks))


def content_of(cases: pd.DataFrame) -> dict[str, str]:
    texts = {name: "\n".join(map(repr, cases[name].tolist())) for name in cases}
    return {str(name): hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "kept" / "delve" / "data").mkdir(parents=True)  # empty, so not kept
    return Path(shutil.copytree(KEPT / "delve", tmp_path / "kept", dirs_exist_ok=True))


@pytest.mark.parametrize("table", TABLES)
def test_every_loss_of_an_archive_is_the_same_to_its_last_bit(archive: Path, table: str) -> None:
    assert content_of(of_table(archive, table).cases()) == json.loads(
        (archive / f"{table}-cases.json").read_text()
    )


@pytest.fixture
def no_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folds as the first house took them: it did not see what stratified ones hide."""
    monkeypatch.setattr("redelve.findings.by_method._is_stratified", lambda folds: False)


def test_stratified_folds_no_longer_hide_how_the_shares_of_classes_vary(archive: Path) -> None:
    """What a constant answer loses had a standard error of 0.017 in the first house."""
    finding = of_table(archive, "fruits").findings.tasks[0].method("constant")
    assert (finding.standard_error or 0.0) > 0.07


@pytest.mark.usefixtures("no_shares")
@pytest.mark.parametrize("table", TABLES)
def test_an_archive_is_analysed_as_before(archive: Path, table: str) -> None:
    found = of_table(archive, table)
    expected = pd.read_csv(archive / f"{table}-findings.csv")
    again = pd.read_csv(Path(_written(found, archive)))  # `reason`, of failures, is a new column
    pd.testing.assert_frame_equal(again.drop(columns="reason"), expected, check_exact=False, rtol=1e-12)
    assert _losses(str(found)) == _losses((archive / f"{table}.txt").read_text())
    kept = (archive / f"{table}-contest.txt").read_text()
    for contest in found.compare("constant", TABLES[table][1]):
        assert f"= {contest.difference:.4g} ± {contest.standard_error:.2g} (" in kept


def _losses(text: str) -> str:
    """The headline and the table of losses; what may be said of them allows for more comparisons now."""
    return text.partition("Which method?")[0]


def _written(found: Assessment, folder: Path) -> Path:
    found.frame().to_csv(folder / "again.csv", index=False)
    return folder / "again.csv"


@pytest.mark.usefixtures("no_shares")
def test_an_archive_is_sound_and_nothing_of_it_is_done_again(
    archive: Path, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified = run_command("archive", ["verify", str(archive / "archive")])
    assert (verified.code, verified.err) == (0, "")
    monkeypatch.setattr("redelve.run.experiment.perform", lambda job: pytest.fail(f"{job} is done already"))
    for table, (target, second) in TABLES.items():
        task = redelve.from_file(archive / f"{table}.csv", target)
        again = redelve.assess(["constant", second], task, runs=2, archive=archive / "archive")
        assert _losses(str(again)) == _losses((archive / f"{table}.txt").read_text())


def test_methods_are_the_same_methods() -> None:
    kept = json.loads((KEPT / "archive" / "digests.json").read_text())
    encoded = sklearn_method(Ridge(alpha=2), inputs="encoded")  # as all estimators were shown their inputs
    assert encoded.digest == kept.pop("Ridge(alpha=2)")
    renamed = kept.pop("mlp-rprop")
    assert renamed != METHODS["mlp-rprop"].digest  # another method since: old records are not taken for its
    assert {name: METHODS[name].digest for name in kept} == kept


@pytest.mark.parametrize("table", TABLES)
def test_what_was_understood_of_a_table_is_the_same_task(archive: Path, table: str) -> None:
    target, _ = TABLES[table]
    intake = redelve.from_file(archive / f"{table}.csv", target)
    kept = Archive.open(archive / "archive").load().tasks
    for one in intake.assignments:
        assert kept[one.address].digest == one.digest


def test_a_delve_tree_gives_the_same_texts(tree: Path, delve_home: Path, run_command: RunCommand) -> None:
    place = tree / "delve" / "methods" / "lin-1" / "demo" / "age" / "std.256"
    for words, text in ((["mstats"], "mstats"), (["mstats", "-l", "S", "-c", "mine"], "mstats-compared")):
        done = run_command(words[0], words[1:], cwd=place)
        assert (done.code, done.out) == (0, (tree / f"{text}.txt").read_text())
    assert run_command("minfo", [], cwd=place).out == (tree / "minfo.txt").read_text()


def test_a_delve_tree_is_made_anew_byte_for_byte(
    tree: Path, delve_home: Path, run_command: RunCommand
) -> None:
    place = tree / "delve" / "methods" / "lin-1" / "demo" / "age" / "std.256"
    made = tree / "delve" / "methods" / "again"
    made.mkdir()
    assert run_command("mgendir", ["-q", "demo/age/std.256"], cwd=made).code == 0
    again = made / "demo" / "age" / "std.256"
    for words in (["mgendata", "-q"], ["apply", "lin-1", "-q"], ["mloss", "-q"]):
        assert run_command(words[0], words[1:], cwd=again).code == 0
    names, kept = ({path.name for path in folder.iterdir()} for folder in (again, place))
    assert names - kept == {"Cases-used"}  # new since then, beside DELVE's own files
    assert kept <= names
    for path in place.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_challenge_scores_an_entry_as_before(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(KEPT / "challenge", tmp_path / "kept"))
    with contextlib.suppress(OSError):
        (folder / "challenge" / "secret").chmod(0o700)
    challenge = read_challenge(folder / "challenge")
    scores = scores_to_json(score_submission(read_submission(folder / "entry.zip", challenge), challenge))
    assert json.loads(json.dumps(scores)) == json.loads((folder / "scores.json").read_text())
