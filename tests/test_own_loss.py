"""A user's own loss: beside redelve's, with workers, in an archive, verified, rescored, reported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.answers.losses import LOSSES, DistanceLoss, RememberedLoss
from redelve.answers.predictions import Truth
from redelve.errors import SpecError
from redelve.model import Assignment
from redelve.model.dataset import Numbers
from redelve.store import Archive


class Huber(DistanceLoss):
    """Squared near the truth, absolute far from it."""

    letter = "H"
    title = "Huber"
    kinds = ("integer", "real")

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """Half the square up to 1, then the distance less one half."""
        gap = np.abs(guess - truth.values)
        return np.where(gap <= 1, gap**2 / 2, gap - 0.5)


class Doubled(Huber):
    """The same code, other numbers."""

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """Twice as much."""
        return 2 * super().distance(truth, guess)


class Pretender(Huber):
    """A code that is taken."""

    letter = "S"


class Undecided(Huber):
    """It raises."""

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """Nothing."""
        raise ValueError("how far\nis far?")


METHODS = ["constant", "lin-1"]


@pytest.fixture
def registered() -> Iterator[None]:
    """The loss under its letter, for one test."""
    LOSSES.add("H", Huber)
    yield
    LOSSES.remove("H")


@pytest.fixture(scope="module")
def task() -> Assignment:
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "y": 3 * x + rng.normal(size=200)})
    return redelve.from_frame(frame, "y").assignments[0]


@pytest.fixture(scope="module")
def kept(task: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive made with the loss, which nobody knows any more."""
    place = tmp_path_factory.mktemp("kept") / "archive"
    redelve.assess(METHODS, task, losses=["S", Huber()], archive=place)
    return place


@pytest.mark.usefixtures("registered")
def test_a_registered_loss_reaches_the_workers(task: Assignment) -> None:
    found = redelve.assess(METHODS, task, losses=["S", "H"], workers=2)
    assert [record.message for record in found.results.failures] == []
    assert {tuple(record.losses) for record in found.results.records} == {("S", "H")}


def test_a_loss_given_as_a_value_travels_and_is_the_same_everywhere(task: Assignment) -> None:
    there = redelve.assess(METHODS, task, losses=["S", Huber()], workers=2)
    here = redelve.assess(METHODS, task, losses=["S", Huber()])
    for one, other in zip(there.results.records, here.results.records, strict=True):
        np.testing.assert_array_equal(one.losses["H"], other.losses["H"])
        assert one.digest == other.digest
    assert "huber loss" in str(there.judged_by("H"))


@pytest.mark.usefixtures("registered")
def test_an_archive_with_it_is_sound_and_it_has_a_baseline(task: Assignment, tmp_path: Path) -> None:
    found = redelve.assess(METHODS, task, losses=["S", "H"], archive=tmp_path / "archive")
    report = Archive.open(tmp_path / "archive").verify()
    assert (report.problems, report.notes) == ((), ())
    by_huber = found.judged_by("H").findings.tasks[0].method("constant")
    assert by_huber.standardised == pytest.approx(1, abs=0.2)


def test_where_it_is_unknown_the_rest_is_verified_and_it_is_named(kept: Path) -> None:
    report = Archive.open(kept).verify()
    assert report.problems == ()
    (note,) = report.notes
    assert note.startswith('loss "H" is not known here: its losses of 20 records are taken as they are')


def test_wrong_losses_are_found_where_it_is_known(kept: Path) -> None:
    assert Archive.open(kept).verify([Huber()]).notes == ()
    wrong = Archive.open(kept).verify([Doubled()])
    assert len(wrong.problems) == 20
    assert all("losses H do not follow" in problem for problem in wrong.problems)


def test_where_it_is_unknown_its_numbers_are_analysed_and_standardised(kept: Path, tmp_path: Path) -> None:
    results = Archive.open(kept).load()
    found = redelve.Assessment(results, "H").findings.tasks[0]
    assert found.judged_by == RememberedLoss("H", "huber loss")
    assert found.method("constant").standardised == pytest.approx(1, abs=0.2)
    page = redelve.Assessment(results, "H").report(tmp_path / "report.html").read_text()
    assert "Expected huber loss on" in page


def test_an_archive_is_rescored_by_it_and_merged_with_what_is_told_of_it(
    task: Assignment, kept: Path, tmp_path: Path
) -> None:
    redelve.assess(METHODS, task, losses=["S"], archive=tmp_path / "archive")
    archive = Archive.open(tmp_path / "archive")
    again = archive.rescore([Huber()])
    assert {tuple(sorted(record.losses)) for record in again.records} == {("H", "S")}
    other = Archive.open(tmp_path / "other", create=True)
    other.merge(archive)
    (facts,) = other.load().tasks.values()
    (original,) = Archive.open(kept).load().tasks.values()
    assert facts.own_losses == original.own_losses == {"H": RememberedLoss("H", "huber loss")}
    assert facts.baselines["H"] == original.baselines["H"]


def test_a_rerun_with_the_loss_computes_it_from_what_is_kept(task: Assignment, tmp_path: Path) -> None:
    place = tmp_path / "archive"
    redelve.assess(METHODS, task, losses=["S"], archive=place)
    found = redelve.assess(METHODS, task, losses=["S", Huber()], archive=place)
    assert all("H" in record.losses for record in found.results.records)


def test_the_loss_to_judge_by_is_looked_up_among_those_given(task: Assignment) -> None:
    found = redelve.assess(METHODS, task, losses=["S", Huber()], judge_by="H")
    assert "huber loss" in str(found)
    with pytest.raises(SpecError, match='unknown loss "K"'):
        redelve.assess(METHODS, task, losses=["S", Huber()], judge_by="K")


def test_one_that_raises_is_named(task: Assignment) -> None:
    told = r"loss H \(tests\.test_own_loss\.Undecided\) failed: ValueError: how far is far\?: mend it"
    with pytest.raises(SpecError, match=told) as caught:
        redelve.assess(METHODS, task, losses=[Undecided()])
    assert isinstance(caught.value.__cause__, ValueError)


def test_one_code_means_one_loss(task: Assignment) -> None:
    with pytest.raises(SpecError, match='the code "S" of Pretender belongs to another loss, "Squared error"'):
        redelve.assess(METHODS, task, losses=[Pretender()])
    with pytest.raises(SpecError, match='two losses have the code "H"'):
        redelve.assess(METHODS, task, losses=[Huber(), Doubled()])
    with pytest.raises(SpecError, match="is no loss: give a code such as S"):
        redelve.assess(METHODS, task, losses=[Huber])


SCRIPT = """
import sys
import numpy as np
import pandas as pd
import redelve
from redelve.answers.losses import DistanceLoss


class Cubed(DistanceLoss):
    letter = "K"
    title = "Cubed error"
    kinds = ("real",)

    def distance(self, truth, guess):
        return np.abs(guess - truth.values) ** 3


if __name__ == "__main__":
    x = np.random.default_rng(1).normal(size=100)
    task = redelve.from_frame(pd.DataFrame({"x": x, "y": 3 * x}), "y").assignments[0]
    found = redelve.assess(["constant"], task, losses=[Cubed(), "S"], workers=2, archive=sys.argv[1])
    assert not list(found.results.failures)
"""


def test_a_loss_of_a_script_works_and_the_commands_cope_with_it(tmp_path: Path) -> None:
    script, place = tmp_path / "script.py", tmp_path / "archive"
    script.write_text(SCRIPT)
    subprocess.run([sys.executable, script, place], check=True)
    command = [sys.executable, "-c", "from redelve.cli.main import main; raise SystemExit(main())"]
    told = subprocess.run([*command, "archive", "verify", place], capture_output=True, text=True, check=True)
    assert 'note: loss "K" is not known here' in told.stdout
    assert "no problems" in told.stdout
    subprocess.run([*command, "report", place, "-l", "K", "-o", tmp_path / "k.html"], check=True)
    assert "Expected cubed error on" in (tmp_path / "k.html").read_text()


def test_installed_packages_bring_losses_by_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: Assignment
) -> None:
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[redelve.losses]\nK = theirs:Cubed\n")
    (tmp_path / "theirs.py").write_text(SCRIPT)
    monkeypatch.syspath_prepend(str(tmp_path))
    code = "from redelve.answers.losses import parse_loss; print(parse_loss('K2N').name)"
    told = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert told.stdout == "Cubed error, no-guess penalty 2\n"
