"""Verdicts on runs that were never run: as printed, and with faults planted."""

import csv
import io
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from redelve.cli.proben1 import study_proben1 as main
from redelve.errors import SpecError
from redelve.model.dataset import Numbers
from redelve.nets import Engine
from redelve.studies.proben1 import making, printed
from redelve.studies.proben1.comparison_words import seed_ranges
from redelve.studies.proben1.making import make_study
from redelve.studies.proben1.plan import Amounts, Proben1Plan, Sheet, make_plan
from redelve.studies.proben1.readings import BEST
from redelve.studies.proben1.sheet_runs import Runs, joined, runs_csv
from redelve.studies.proben1.verdict_words import verdict_lines, verdicts_csv
from redelve.studies.proben1.verdicts import StudyVerdict, judge
from tests.studies.proben1.made import pretend

DATASETS = ("cancer", "card", "glass", "heart")
Figures = dict[str, Numbers]
Fault = Callable[[Figures], object]


def errors_of(sheet: Sheet) -> Figures:
    """Figures of runs with the printed means, deviations and correlation, skewed as errors are."""
    table = {"linear": 3, "pivot": 8, "no-shortcut": 10}[sheet.part]
    row, count = printed.figures(table)[sheet.dataset], len(sheet.topologies)
    random = np.random.default_rng(sheet.seeds[0])
    noise = {name: random.normal(size=count) for name in row.measures}
    rho = row.correlation or 0.0
    noise["valid"] = rho * noise["test"] + np.sqrt(1 - rho**2) * noise["valid"]
    figures = {}
    for name, given in row.measures.items():
        assert given.deviation is not None
        width = np.sqrt(np.log1p((given.deviation / given.mean) ** 2))
        figures[name] = given.mean * np.exp(width * noise[name] - width**2 / 2)
    return figures


@cache
def planned(part: str) -> tuple[Sheet, ...]:
    table = {"linear": 3, "pivot": 8, "no-shortcut": 10}[part]
    return tuple(
        sheet for seed in range(5) for sheet in make_plan([table], BEST, datasets=DATASETS, seed=seed).sheets
    )


@cache
def judged(part: str, fault: Fault = lambda _: None) -> StudyVerdict:
    every = []
    for sheet in planned(part):
        figures = errors_of(sheet)
        fault(figures)
        every.append(pretend(sheet, **figures))
    return judge(every)


def too_high(figures: Figures) -> None:
    figures["test"] *= 1.02


def noisier(figures: Figures) -> None:
    middle = figures["epochs"].mean()
    figures["epochs"] = middle + 1.5 * (figures["epochs"] - middle)


def diverging(figures: Figures) -> None:
    """One run of twenty is lost, whatever the seed."""
    figures["test"][:3] *= 4


@pytest.mark.parametrize("part", ["linear", "pivot"])
def test_runs_as_printed_pass(part: str) -> None:
    verdict = judged(part)
    assert verdict.passes()
    assert verdict.parts == (part,)
    assert verdict.test_count == 2 * (14 + (part == "pivot"))
    assert verdict_lines(verdict)[-1].startswith("The whole passes")
    assert not verdict.failures()


@pytest.mark.parametrize(
    ("fault", "column"), [(too_high, "test"), (noisier, "epochs sd"), (diverging, "test sd")]
)
def test_a_planted_fault_fails_in_its_column(fault: Fault, column: str) -> None:
    verdict = judged("pivot", fault)
    assert not verdict.passes()
    assert column in {one.column for one in verdict.failures()}
    words = verdict_lines(verdict)
    assert "Verdict on pivot architectures (tables 8 and 9): FAILS in" in words[0]
    assert "The whole FAILS" in words[-1]


def test_the_same_runs_have_the_same_verdict() -> None:
    assert judged.__wrapped__("linear").columns[3].scores == judged("linear").columns[3].scores


def test_the_csv_has_every_column_and_score() -> None:
    verdict = judged("pivot", too_high)
    rows = list(csv.DictReader(io.StringIO(verdicts_csv(verdict))))
    assert len(rows) == len(verdict.columns) == 15
    by_column = {row["column"]: row for row in rows}
    assert by_column["test"]["passes"] == "False"
    assert by_column["epochs"]["passes"] == "True"
    assert float(by_column["test"]["bias"]) > 4
    scores = dict(pair.split("=") for pair in by_column["test"]["scores"].split())
    assert scores.keys() == verdict.columns[0].scores.keys()


def test_too_few_runs_or_datasets_have_no_verdict() -> None:
    plan = make_plan([8], BEST, datasets=DATASETS, amounts=Amounts(multilayer=12))
    verdict = judge(pretend(sheet, **errors_of(sheet)) for sheet in plan.sheets)
    assert verdict.columns == ()
    assert verdict_lines(verdict)[0] == "No verdict: pivot networks have 12 runs, and a verdict needs 300."
    few = [pretend(one, **errors_of(one)) for one in planned("pivot") if one.dataset.startswith("glass")]
    assert judge(few).missing == ("pivot networks have 3 datasets, and a verdict needs 10",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"tables": [8], "datasets": DATASETS, "runs": 59},
            "pivot networks have 295 runs, and a verdict needs 300",
        ),
        ({"tables": [8], "datasets": DATASETS, "seeds": [1, 2]}, "pivot networks have 120 runs"),
        ({"tables": [3], "datasets": ["glass"]}, "linear networks have 3 datasets"),
        ({"tables": [5], "datasets": DATASETS}, "tables 5 have no verdict: ask for 3, 4 or 8 to 12"),
    ],
)
def test_a_check_without_a_verdict_is_refused_before_anything_runs(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        make_study(**options, is_check=True, engine=Engine())  # type: ignore[arg-type]


@pytest.fixture
def never_run(monkeypatch: pytest.MonkeyPatch) -> list[Fault]:
    """Studies take figures as printed instead of training; a fault may be put in."""
    faults: list[Fault] = []

    def made(plan: Proben1Plan, *_: object, **__: object) -> dict[tuple[str, str], Runs]:
        found = {}
        for sheet in plan.sheets:
            figures = errors_of(sheet)
            for fault in faults:
                fault(figures)
            found[sheet.part, sheet.dataset] = pretend(sheet, **figures)
        return found

    monkeypatch.setattr(making, "make_runs", made)
    monkeypatch.setattr(making, "about_data", lambda _: ("data: none, as nothing is trained",))
    return faults


WORDS = ["--table", "3", "-d", ",".join(DATASETS), "--quiet"]


def test_check_exits_with_one_where_a_verdict_fails(
    never_run: list[Fault], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "--check"]) == 0
    told = capsys.readouterr().out
    assert "runs of seeds 0, 1, 2, 3, 4 together" in told
    assert "each of 5 seeds by itself: agreement in test errors for " in told
    assert "The whole passes" in told
    never_run.append(too_high)
    assert main([*WORDS, "--check", "--seeds", "3-7"]) == 1
    assert "The whole FAILS" in capsys.readouterr().out
    assert main([*WORDS, "--seeds", "3-7"]) == 0  # told, not checked


def test_without_check_a_small_study_says_that_it_has_no_verdict(
    never_run: list[Fault], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "--seed", "1"]) == 0
    assert "No verdict: linear networks have 10 runs" in capsys.readouterr().out
    assert main([*WORDS, "--seeds", "1-x"]) == 2
    assert 'seeds are told as 0 or 0,3 or 0-4: got "1-x"' in capsys.readouterr().err


def test_seeds_are_pooled_and_told_apart(never_run: list[Fault]) -> None:
    study = make_study([8], datasets=["glass1"], seeds=[4, 2, 4], engine=Engine())
    assert [runs.sheet.seed for runs in study.runs] == [4, 2]
    assert len(study.by_seed) == 2
    cell = study.tables[0].rows[0].cell("test")
    assert cell is not None
    assert cell.ours == pytest.approx(np.concatenate([runs.figures["test"] for runs in study.runs]).mean())
    rows = list(csv.DictReader(io.StringIO(runs_csv(study.runs))))
    assert [row["seed"] for row in rows] == ["4"] * 60 + ["2"] * 60
    both = joined(study.runs)
    assert len(both.sheet.topologies) == len(both.reasons) == 120
    assert seed_ranges(study.by_seed)[0].startswith("Pivot architectures (tables 8 and 9), each of 2 seeds")
    assert seed_ranges(()) == []
