"""Same task means same cases: results on other data under the same name are never compared.

The scene: results on an original dataset, kept as the manual tells to keep them, are laid into a delve
directory without data, where the address stands for redelve's replica.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from redelve.data.catalogue.dataset_folder import AttributeLine, PrototaskPlan, attribute_lines, dataset_files
from redelve.data.delve.cases_used import CASES_USED, CaseEvidence, UsedCases, difference, read_cases_used
from redelve.data.delve.dataset_spec import COMMONALITY
from redelve.data.delve.figure_files import TEST_SET_STATS, read_test_set_stats
from redelve.data.delve.prediction_files import PREDICTIONS
from redelve.data.delve.roots import make_builtin_root
from redelve.errors import FormatError
from tests.conftest import RunCommand, make_root, write_tree

TASK = "bank-8fm/rej/std.1024"
CLEARED = ("train", "test", "targets", "normalize", "cguess", "cptarg", "clptarg")
Removed = Callable[[Path], None]


def test_digests_decide_and_figures_stand_in_for_them() -> None:
    stats = read_test_set_stats("L -1\nQ undefined\nA 2\nZ undefined\nS 0.0715292402\n", "x", 1)
    other = read_test_set_stats("L -1\nQ undefined\nA 2\nZ undefined\nS 0.071273536\n", "x", 1)
    rounded = read_test_set_stats("L -1\nQ undefined\nA 2.0000001\nZ 0.5\nS 0.07152924\n", "x", 1)
    assert difference(CaseEvidence(None, stats), CaseEvidence(None, other)) == (
        "Test-set-stats S 0.0715292402 against 0.071273536"
    )
    assert difference(CaseEvidence(None, stats), CaseEvidence(None, rounded)) is None
    assert difference(CaseEvidence(None, stats), CaseEvidence()) is None
    one, two = {0: UsedCases(5, "a" * 32, "b" * 32)}, {0: UsedCases(5, "c" * 32, "b" * 32)}
    told = difference(CaseEvidence(one, stats), CaseEvidence(two, other))
    assert told is not None
    assert "S 0.0715292402 against 0.071273536, instance 0: 5 test cases aaaaaaaa… against 5" in told
    assert difference(CaseEvidence(one, stats), CaseEvidence(one, other)) is None
    inputs, bare = {0: UsedCases(5, "a" * 32, "d" * 32)}, {0: UsedCases(5, "a" * 32)}
    told = difference(CaseEvidence(one), CaseEvidence(inputs))
    assert told == "instance 0: the same test targets, but other inputs or other training cases"
    assert difference(CaseEvidence(one), CaseEvidence(bare)) is None
    assert difference(CaseEvidence(one), CaseEvidence({**one, 1: one[0]})) == "1 instances against 2"


@pytest.mark.parametrize("text", ["0 5 abc def\n", f"0 5 {'a' * 32} -\n0 5 {'a' * 32} -\n", "nonsense\n"])
def test_a_bad_file_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="expected instance, test cases and two digests"):
        read_cases_used(text, "x")


# The scene


def original() -> dict[str, str]:
    """A small dataset by the name of one of redelve's; its cases are others."""
    rows = [[f"{(n * 37 % 101) / 7:.3f}", f"{n * 61 % 89}.5"] for n in range(60)]
    attributes = [AttributeLine("x", "[0,Inf)", ""), AttributeLine("y", "[0,Inf)", "")]
    plan = PrototaskPlan((1,), (2,), {1: "real", 2: "real"}, 24, (12,), "simulated")
    head = "Origin: simulated\nUsage: development\nOrder: uninformative\nAttributes:\n"
    return dataset_files(rows, head + attribute_lines(attributes), {"rej": plan}, {})


def worked(root: Path, method: str, task: str, run_command: RunCommand) -> Path:
    """A method's directory with guesses and losses of lin-1, cleared as the manual says."""
    folder = write_tree(root / "methods", {f"{method}/{task}/": ""}) / method / task
    for words in (["mgendata", "-q"], ["apply", "lin-1", "-q"], ["mloss", "-q"]):
        done = run_command(words[0], words[1:], cwd=folder)
        assert done.code == 0, done.err
    for path in folder.iterdir():
        if path.name.startswith(CLEARED):
            path.unlink()
    return folder


@pytest.fixture
def scene(delve_home: Path, tmp_path: Path, run_command: RunCommand) -> tuple[Path, Path]:
    """Results on the original in a directory without data, and redelve's data changed in theirs."""
    ours = make_root(
        delve_home / "delve-2", {f"data/bank-8fm/{name}": text for name, text in original().items()}
    )
    data = (ours / "data/bank-8fm/Dataset.data").read_text().splitlines()
    theirs = make_root(tmp_path / "delve-theirs")
    folder = shutil.copytree(ours / "data", theirs / "data", dirs_exist_ok=True) / "bank-8fm"
    (folder / "Dataset.data").write_text("\n".join(reversed(data)) + "\n")
    made = worked(theirs, "mine", "bank-8fm/rej/std.12", run_command)
    here = make_root(tmp_path / "delve-here")
    shutil.copytree(theirs / "methods", here / "methods", dirs_exist_ok=True)
    worked(here, "lin-1", "bank-8fm/rej/std.12", run_command)
    return here / "methods" / made.relative_to(theirs / "methods"), theirs


def keep_all(folder: Path) -> None:
    """What today's mgendata leaves."""


def only_delves(folder: Path) -> None:
    """What DELVE 1.1 leaves."""
    (folder / CASES_USED).unlink()


@pytest.mark.parametrize("prepare", [keep_all, only_delves])
@pytest.mark.parametrize(
    "words",
    [["mloss"], ["mstats", "-l", "S", "-c", "lin-1"], ["archive", "import", "results", "-d", "{root}"]],
)
def test_results_on_other_data_are_refused(
    scene: tuple[Path, Path], prepare: Removed, words: list[str], run_command: RunCommand, tmp_path: Path
) -> None:
    folder, _ = scene
    prepare(folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    root = str(folder.parents[4])
    done = run_command(words[0], [word.format(root=root) for word in words[1:]], cwd=folder)
    theirs, ours = (
        read_test_set_stats(
            (folder.parents[3] / name / "bank-8fm/rej/std.12" / TEST_SET_STATS).read_text(), "", 1
        )
        for name in ("mine", "lin-1")
    )
    assert done.code == 1
    assert f"{TEST_SET_STATS} S {theirs['S'][0]:.9g} against {ours['S'][0]:.9g}" in done.err
    way_out = "run both on the same data" if words[0] == "mstats" else "into a delve directory of your own"
    assert way_out in done.err
    assert not list(folder.glob("results/fresh/*"))
    assert {path: path.read_bytes() for path in before} == before


def test_mgendata_does_not_make_old_results_pass_for_new_ones(
    scene: tuple[Path, Path], run_command: RunCommand
) -> None:
    """With new data files beside them nothing would tell that guesses and losses are of other cases."""
    folder, _ = scene
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = run_command("mgendata", ["-q"], cwd=folder)
    assert done.code == 1
    assert "has results on other data" in done.err
    assert "then run mgendata and the method again" in done.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    for path in before:
        if path.name.partition(".")[0] in (*PREDICTIONS, "loss"):
            path.unlink()
    assert run_command("mgendata", ["-q"], cwd=folder).code == 0
    assert run_command("mgendata", ["-q"], cwd=folder.parents[3] / "lin-1/bank-8fm/rej/std.12").code == 0


@pytest.mark.parametrize("prepare", [keep_all, only_delves])
@pytest.mark.parametrize("words", [["-l", "S"], ["-l", "S", "-j"]])
def test_a_summary_of_losses_on_other_data_says_so(
    scene: tuple[Path, Path], prepare: Removed, words: list[str], run_command: RunCommand
) -> None:
    folder, theirs = scene
    prepare(folder)
    said = "the losses of /mine/bank-8fm/rej/std.12 are of other data than those of this name that are active"
    done = run_command("mstats", words, cwd=folder)
    assert done.code == 0
    assert said in done.err
    assert f"{TEST_SET_STATS} S" in done.err
    assert run_command("mstats", words, cwd=folder.parents[3] / "lin-1/bank-8fm/rej/std.12").err == ""
    shutil.copytree(theirs / "data", folder.parents[4] / "data", dirs_exist_ok=True)
    again = run_command("mstats", words, cwd=folder)
    assert (again.err, again.out) == ("", done.out)


def test_losses_whose_analysis_takes_the_cases_themselves_are_refused_on_other_ones(
    delve_home: Path, tmp_path: Path, run_command: RunCommand
) -> None:
    """Which cases belong together is told by the data alone."""
    files = original()
    rows = files["Dataset.data"].splitlines()
    files["Dataset.data"] = "".join(f"{row} @{number // 2}\n" for number, row in enumerate(rows))
    files["Dataset.spec"] = files["Dataset.spec"].replace("Attributes:", f"{COMMONALITY}\nAttributes:")
    own = make_root(tmp_path / "delve", {f"data/small/{name}": text for name, text in files.items()})
    folder = worked(own, "one", "small/rej/std.12", run_command)
    assert run_command("mstats", ["-l", "S"], cwd=folder).err == ""
    data = own / "data/small/Dataset.data"
    data.write_text("\n".join(reversed(data.read_text().splitlines())) + "\n")
    done = run_command("mstats", ["-l", "S"], cwd=folder)
    assert done.code == 1
    assert "was made for other data than the active ones" in done.err


def test_with_the_data_they_were_made_for_they_are_taken(
    scene: tuple[Path, Path], run_command: RunCommand
) -> None:
    folder, theirs = scene
    losses = np.loadtxt(folder / "loss.S.0")
    shutil.rmtree(folder.parents[3] / "lin-1")
    shutil.copytree(theirs / "data", folder.parents[4] / "data", dirs_exist_ok=True)
    assert run_command("mloss", ["-q"], cwd=folder).code == 0
    np.testing.assert_allclose(np.loadtxt(folder / "loss.S.0"), losses, rtol=1e-6)
    done = run_command("archive", ["import", "results", "-d", str(folder.parents[4])], cwd=folder)
    assert (done.code, done.err) == (0, "")
    assert done.out == "3 records imported\n"
    done = run_command("report", ["results"], cwd=folder)
    assert "in place of the bank-8fm that comes with redelve" in " ".join(done.out.split())


def test_where_nothing_tells_the_cases_that_is_said(
    scene: tuple[Path, Path], run_command: RunCommand
) -> None:
    folder, _ = scene
    for name in (CASES_USED, TEST_SET_STATS):
        (folder / name).unlink()
    assert "whether it was made for these cases" in run_command("mloss", ["-q"], cwd=folder).err
    compared = " ".join(run_command("mstats", ["-l", "S", "-c", "lin-1"], cwd=folder).out.split())
    assert "mine without Cases-used and Test-set-stats: whether the losses are of the same cases" in compared
    done = run_command("archive", ["import", "results", "-d", str(folder.parents[4])], cwd=folder)
    assert "has neither Cases-used nor Test-set-stats" in done.err


def test_other_inputs_with_the_same_targets_are_other_data(
    delve_home: Path, tmp_path: Path, run_command: RunCommand
) -> None:
    own = make_root(tmp_path / "delve", {f"data/small/{name}": text for name, text in original().items()})
    one = worked(own, "one", "small/rej/std.12", run_command)
    data = own / "data/small/Dataset.data"
    rows = [line.split() for line in data.read_text().splitlines()]
    data.write_text("".join(f"{float(x) + 1:.3f} {y}\n" for x, y in rows))
    assert "the same test targets, but other inputs" in run_command("mloss", ["-q"], cwd=one).err
    two = worked(own, "two", "small/rej/std.12", run_command)
    assert (
        "different data under the name /small/rej/std.12" in run_command("mstats", ["-c", "one"], cwd=two).err
    )
    data.write_text("".join(f"{float(x):.5f} {float(y):.2f}\n" for x, y in rows))
    assert run_command("mloss", ["-q"], cwd=one).err == ""  # written otherwise, but the same numbers


# Instances


def test_an_instance_without_predictions_is_an_error_even_after_clearing(
    delve_home: Path, tmp_path: Path, run_command: RunCommand
) -> None:
    own = make_root(tmp_path / "delve", {f"data/small/{name}": text for name, text in original().items()})
    folder = worked(own, "one", "small/rej/std.12", run_command)
    for name in ("guess.2", "guess.S.2", "guess.A.2"):
        (folder / name).unlink(missing_ok=True)
    done = run_command("mloss", ["-q"], cwd=folder)
    assert done.code == 1
    assert 'no prediction file "guess' in done.err
    for path in folder.glob("loss.*"):
        path.unlink()
    assert run_command("mloss", ["-q", "-i", "0,1"], cwd=folder).code == 0
    said = "the task has 3 instances: there are no losses of 2"
    assert said in run_command("mstats", ["-l", "S"], cwd=folder).out
    (folder / CASES_USED).unlink()
    assert said in run_command("mstats", ["-l", "S"], cwd=folder).out
    done = run_command("archive", ["import", "results", "-d", str(own)], cwd=folder)
    assert "/one/small/rej/std.12 has no losses of instance 2 of 3" in done.err
    told = " ".join(run_command("report", ["results"], cwd=folder).out.split())
    assert "of the 3 instances of /small/rej/std.12 nobody has results on 2: they are left out" in told


# Genuine data


def genuine() -> Path:
    """The original bank-8fm, or a word that it is not at hand."""
    folder = Path(os.environ.get("REDELVE_DELVE", Path(__file__).parents[4] / "shared/data/delve"))
    path = folder / "bank8FM.arff"
    if not path.is_file():
        pytest.skip(f"{path} is not at hand: name its folder in REDELVE_DELVE")
    return path


def test_the_original_bank_and_its_replica_are_told_apart(
    delve_home: Path, tmp_path: Path, run_command: RunCommand
) -> None:
    rows = [
        line.strip().rstrip(",").replace(",", " ")
        for line in genuine().read_text().splitlines()
        if line[:1].isdigit() or line.startswith("-")
    ]
    assert len(rows) == 8192
    replica = Path(make_builtin_root()) / "data/bank-8fm"
    assert run_command("dls", ["/bank-8fm"]).code == 0
    theirs = make_root(tmp_path / "delve-theirs")
    folder = Path(shutil.copytree(replica, theirs / "data/bank-8fm"))
    spec = (folder / "Dataset.spec").read_text().splitlines(keepends=True)
    (folder / "Dataset.spec").write_text("".join(_unlimited(line) for line in spec))
    (folder / "Dataset.data").write_text("\n".join(rows) + "\n")
    made = worked(theirs, "mine", TASK, run_command)
    here = make_root(tmp_path / "delve-here")
    shutil.copytree(theirs / "methods", here / "methods", dirs_exist_ok=True)
    moved = here / "methods" / made.relative_to(theirs / "methods")
    assert (TEST_SET_STATS + " S") in run_command("mloss", ["-q"], cwd=moved).err
    (moved / CASES_USED).unlink()
    told = run_command("mloss", ["-q"], cwd=moved).err
    assert "redelve's replica of bank-8fm, not the original data" in told


def _unlimited(line: str) -> str:
    """An attribute's line with a range that admits every number."""
    words = line.split()
    is_attribute = len(words) > 3 and words[0].isdigit()
    return f"{words[0]} {words[1]} {words[2]} (-Inf,Inf)\n" if is_attribute else line
