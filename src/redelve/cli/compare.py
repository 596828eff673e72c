"""redelve compare: which model is better, by scores that were computed elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from redelve.cli import options as of
from redelve.cli.assess import pairs
from redelve.cli.options import Command, UsageError
from redelve.cli.outputs import refuse_inputs
from redelve.cli.score_options import ScoreTableOptions


def two_numbers(letter: str, meaning: str, argument: str) -> of.TypedOption[tuple[float, float] | None]:
    """Two numbers separated by a comma."""

    def found(given: Sequence[str]) -> tuple[float, float]:
        low, high = given[-1].split(",")
        return float(low), float(high)

    return of.TypedOption(of.Option(letter, meaning, argument), found, None, "two numbers, as 0,1")


class CompareOptions(ScoreTableOptions):
    """What `redelve compare` is told."""

    model = of.text("m", "the column of models", "column")
    fold = of.text("f", "the column of folds or resamples", "column")
    training_set = of.text("T", "the column of training sets", "column")
    slices = of.names("S", "columns that say more of the cases, for redelve differ", "columns")
    metric = of.text("n", "what to call the score, or which one where a file has several", "name")
    limits = two_numbers("l", "the lowest and the highest score there can be, as 0,1", "limits")
    ratio = of.text("R", "of scores of folds, test cases over training cases, as 1/9", "ratio")
    missing = of.text(
        "M", "cases that a model lacks: common leaves them out, worst counts", "which", "common"
    )
    pooled = of.flag("p", "take all tasks together as one")
    unfinished = of.flag("u", "take evaluations that did not end well, too")
    margin = of.text("d", "the difference that does not matter: 2%, or 0.5 in units of the score", "margin")
    compare = pairs("C", "planned comparisons, mine:theirs, separated by commas; no others are tested")
    note = of.texts("N", "what you know of the data and no table shows; may be given again", "text")
    chosen_of = of.texts("B", "a model that was picked as the best of n on these cases, model=n", "model=n")
    archive = of.text("a", "a folder to keep the scores in", "folder")
    out = of.text("o", "the report to write: .html, .md, .tex or a folder", "file")


COMPARE = Command(
    "redelve compare",
    "Compare models by scores that were computed elsewhere: a table with a row for every score (columns\n"
    "model, case and score) or a column for every model, or the files of evaluation tools. Cases are\n"
    "paired, all claims together are false in at most 5 % of reports (in more where scores without limits\n"
    "of few cases are skewed). docs/bring-results.md tells more.",
    "scores [ scores … ] [ -H | -L ] [ -o report.html ] [ options ]",
    CompareOptions.declared(),
    least=1,
    most=None,
)
COLUMNS = ("model", "case", "score", "task", "run", "group", "fold", "training_set", "weight")


def _compare(words: Sequence[str], given: CompareOptions) -> str:
    """The summary; the report is written if one is wanted, and has the words of the command."""
    import shlex

    from redelve.assessment import compare_scores

    files = given.arguments
    refuse_inputs(given.out, [*files, given.archive])
    assessment = compare_scores(
        files[0] if len(files) == 1 else files,
        higher_is_better=direction(given.higher, given.lower),
        **given.some(*COLUMNS, "metric", "limits", "reader", "margin", "archive", "missing"),
        pooled=given.pooled,
        unfinished=given.unfinished,
        slices=given.slices,
        ratio=None if given.ratio is None else ratio_of(given.ratio),
        compare=given.compare or None,
        notes=given.note,
        chosen_of=numbers_of(given.chosen_of),
    )
    if given.out is None:
        return f"{assessment}\n"
    written = assessment.report(Path(given.out), command=shlex.join(["redelve", "compare", *words]))
    return f"{assessment}\n\nReport: {written}\n"


def direction(higher: bool, lower: bool) -> bool | None:
    """Whether more is better, where that was said."""
    if higher and lower:
        raise UsageError("--higher and --lower contradict each other: give one")
    return True if higher else False if lower else None


def ratio_of(text: str) -> float:
    """A ratio such as 1/9 or 0.11."""
    from fractions import Fraction

    try:
        found = float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f'"{text}" is no ratio: give test cases over training cases, as 1/9') from None
    if found <= 0:
        raise UsageError(f'"{text}" is no ratio: give a number above 0, as 1/9')
    return found


def numbers_of(given: Sequence[str]) -> dict[str, int]:
    """Models and numbers, each as model=n."""
    found: dict[str, int] = {}
    for one in given:
        name, _, number = one.rpartition("=")
        if not name or not number.strip().isdecimal():
            raise UsageError(f'--chosen-of "{one}" is not a model and a number: give model=n, as mine=20')
        found[name] = int(number)
    return found


def compare(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    words = sys.argv[1:] if argv is None else argv
    return of.run_verb(COMPARE, CompareOptions, partial(_compare, words), argv)
