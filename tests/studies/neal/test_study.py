"""The study of relevance determination: its plan, its methods, what is kept and written."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from redelve.answers.distributions import Normal
from redelve.cli.main import main
from redelve.errors import FormatError, LocationError, OptionalPackageError, SpecError
from redelve.findings.findings import coverage_of
from redelve.methods.contract import METHODS
from redelve.nets import Engine
from redelve.run.experiment import plan as plan_jobs
from redelve.store.archive import carry_out
from redelve.studies.neal import make_study, plan_for
from redelve.studies.neal.must_hold import MustHold, is_sound, must_hold
from redelve.studies.neal.neal_page import BEGIN, END, describe, write_documentation
from redelve.studies.neal.neal_tables import tables_of
from redelve.studies.neal.relevance_study import NealStudy
from redelve.studies.neal.tested_methods import Effort, StudiedMethod, is_wanted, make_method
from redelve.studies.neal.transformed_target import mean_share, shrunk, stretched

TINY = plan_for(
    prototasks=("kin-8nm", "bank-8nm"),
    sizes=(64,),
    methods=("lin-1", "knn-cv-1", "mlp-bgd-2b", "gp-ard", "gp-ard-arcsine"),
    passes=1000,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("neal")


@pytest.fixture(scope="module")
def study(folder: Path) -> NealStudy:
    return make_study(TINY, folder=folder)


def test_stretched_targets_are_for_bank_and_longer_runs_where_the_paper_has_them() -> None:
    assert is_wanted("gp-ard-arcsine", "bank-32nm/rej", 64)
    assert not is_wanted("gp-ard-arcsine", "kin-8nm/dist", 64)
    assert is_wanted("mlp-mc-3b", "pumadyn-32nm/accel", 1024)
    assert not is_wanted("mlp-mc-3b", "bank-32nm/rej", 64)
    ten_times = [is_wanted("mlp-mc-3-10x", "bank-8nm/rej", size) for size in (64, 256, 512)]
    assert ten_times == [True, True, False]
    jobs = TINY.jobs()
    assert {job.task for job in jobs if job.method == "gp-ard-arcsine"} == {"/bank-8nm/rej/std.64"}
    assert len(jobs) == 4 * 2 * 8 + 8
    assert len(set(jobs.values())) == len(jobs), "every training set has a seed of its own"


def test_a_shorter_method_is_another_method() -> None:
    short, long = (make_method("mlp-bgd-2", Effort(passes), Engine()) for passes in (6000, 60_000))
    assert isinstance(short, StudiedMethod)
    assert isinstance(long, StudiedMethod)
    assert short.digest != long.digest
    assert (short.passes, long.passes) == (6000, 60_000)
    assert "iterations is 2000" in short.summary
    assert long.summary == METHODS["mlp-bgd-2"].summary


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": "tiny"}, 'size is "tiny": choose small or whole'),
        ({"methods": ("mlp-bgd-4",)}, '"mlp-bgd-4" is no method of this study'),
        ({"prototasks": ("kin-8nn",)}, 'did you mean "kin-8nm"'),
        ({"sizes": (100,)}, "sizes are 64, 128, 256, 512, 1024: got 100"),
        ({"passes": 10}, "give 1000"),
    ],
)
def test_bad_options_are_told(options: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        plan_for(**options)  # type: ignore[arg-type]


def test_stretching_and_back() -> None:
    shares = np.array([0.0, 0.03, 0.5, 1.0])
    assert shrunk(stretched(shares)) == pytest.approx(shares)
    assert shrunk(np.array([-1.0, 9.0])).tolist() == [0.0, 1.0]


def test_the_mean_share_is_the_mean_of_what_a_normal_becomes() -> None:
    """E sin²Z = (1 - exp(-2σ²) cos 2μ)/2 for Z normal, where next to nothing lies beyond the ends."""
    mean, spread = np.array([0.7, 0.9]), np.array([0.12, 0.05])
    exact = 0.5 * (1 - np.exp(-2 * spread**2) * np.cos(2 * mean))
    assert mean_share(Normal(mean, spread)) == pytest.approx(exact, abs=1e-5)


def test_what_is_kept_is_not_made_again(study: NealStudy, folder: Path) -> None:
    told: list[str] = []
    again = make_study(TINY, folder=folder, progress=told.append)
    assert told == []
    for one, other in zip(study.results.records, again.results.records, strict=True):
        assert one.job == other.job
        assert np.array_equal(one.losses["S"], other.losses["S"])


def test_coverage_is_that_of_the_distributions_that_are_not_kept(study: NealStudy) -> None:
    experiment = TINY.experiment(Engine())
    whole = carry_out(experiment)
    shares = {(one.method, one.task): one.share for one in coverage_of(whole)}
    assert plan_jobs(experiment)
    for (method, prototask), covered in study.coverage.items():
        assert covered.mean() == pytest.approx(shares[method, f"/{prototask}/std.64"])
    assert all(
        record.answer is None or record.answer.distributions is None for record in study.results.records
    )


def test_stretched_predictions_are_proportions(study: NealStudy) -> None:
    records = [one for one in study.results.records if one.job.method == "gp-ard-arcsine"]
    assert len(records) == 8
    assert all("L" not in one.losses for one in records)
    task = study.tasks["bank-8nm/rej", 64]
    losses = {one.method: one.standardised or 0.0 for one in task.methods}
    assert losses["gp-ard-arcsine"] == pytest.approx(losses["gp-ard"], rel=0.4)
    assert losses["gp-ard-arcsine"] < 0.5 * losses["knn-cv-1"]


def test_the_text_has_verdicts_tables_and_what_cannot_be_read(study: NealStudy) -> None:
    text = describe(study)
    assert "6. Relevance determination" in text
    assert "CANNOT TELL" in text
    assert "replicas" in text
    assert "Not readable" in text
    assert max(map(len, text.splitlines())) <= 80
    names = [table.name for table in tables_of(study, must_hold(study))]
    assert names[:4] == ["findings", "questions", "must-hold", "printed"]
    assert len(names) == len(set(names))


def test_nothing_must_hold_of_what_was_not_run(study: NealStudy) -> None:
    assert must_hold(study) == ()
    assert is_sound(must_hold(study))


def test_results_stand_between_the_marks_of_a_page(study: NealStudy, tmp_path: Path) -> None:
    page = tmp_path / "study.md"
    with pytest.raises(LocationError, match="has no lines"):
        write_documentation(page, study)
    page.write_bytes(f"{BEGIN}\xff{END}".encode("latin-1"))
    with pytest.raises(FormatError, match="neither ASCII nor UTF-8"):
        write_documentation(page, study)
    page.write_text(f"{END}\n{BEGIN}\n", encoding="utf-8")
    with pytest.raises(LocationError, match="has no lines"):
        write_documentation(page, study)
    page.write_text(f"# Head\n{BEGIN}\nformer\n{END}\nfoot\n", encoding="utf-8")
    (tmp_path / "images").mkdir()
    write_documentation(page, study)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Head\n")
    assert text.endswith("foot\n")
    assert "former" not in text
    assert "images/neal-kin-8nm-dist.png" in text
    assert (tmp_path / "images" / "neal-bank-8nm-rej.png").stat().st_size > 10_000


def test_the_command_shows_and_writes(
    study: NealStudy, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-d", "kin-8nm,bank-8nm", "-n", "64", "-m", ",".join(TINY.methods), "-p", "1000", "-j", "1"]
    assert main(["study", "neal", str(folder), *options, "--check"]) == 0
    assert "The six findings" in capsys.readouterr().out
    for name in ("study.html", "study.md", "findings.csv", "neal-kin-8nm-dist.svg"):
        assert (folder / name).exists()


def test_a_page_without_marks_is_refused_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page.md").write_text("no marks\n")
    assert main(["study", "neal", str(tmp_path / "n"), "-P", str(tmp_path / "page.md")]) == 1
    assert "has no lines" in capsys.readouterr().err
    assert not (tmp_path / "n").exists()


def test_the_check_fails_where_something_that_must_hold_does_not(
    study: NealStudy, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = (MustHold("gp-ard is better", "it is not", False),)
    monkeypatch.setattr("redelve.studies.neal.must_hold.must_hold", lambda study: broken)
    monkeypatch.setattr("redelve.studies.neal.neal_page.write_study", lambda folder, study: folder)
    options = ["-d", "kin-8nm,bank-8nm", "-n", "64", "-m", ",".join(TINY.methods), "-p", "1000", "-j", "1"]
    assert main(["study", "neal", str(folder), *options]) == 0
    assert main(["study", "neal", str(folder), *options, "--check"]) == 1
    assert not is_sound(broken)


def test_a_missing_torch_is_told_before_anything_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "array_api_compat.torch", None)
    with pytest.raises(OptionalPackageError, match=r"pip install \"redelve\[torch\]\""):
        make_study(TINY, engine=Engine("torch", device="cuda"), folder=tmp_path / "study")
    assert not (tmp_path / "study").exists()


@pytest.mark.torch
def test_a_device_that_is_not_there_is_told_before_anything_is_run(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(SpecError, match=r'device "cuda" cannot be used: .*; use device="cpu"'):
        make_study(TINY, engine=Engine("torch", device="cuda"), folder=tmp_path / "study")
    assert not (tmp_path / "study").exists()
