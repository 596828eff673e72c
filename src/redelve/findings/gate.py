"""May the new model go in? Not worse than the old one by a margin, worse, or not enough evidence.

"Not worse" means that a loss of the margin or more is ruled out, "worse" that a loss is shown; each is false
in about 5 % of builds at most. A model that has not changed is blocked in at most 5 %. See
docs/gate-and-race.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, sqrt
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from redelve.data.scores.case_grid import CaseGrid, CaseKey, empty_answers_told, grid_of, shown
from redelve.data.scores.score_files import ScoresLike, read_scores
from redelve.data.scores.score_table import UNEVEN, ScoreTable
from redelve.errors import SpecError
from redelve.findings.margin import UnitsOfScore
from redelve.findings.race_sentences import about
from redelve.registry import named_options, value_told
from redelve.stats.bounded_tests import (
    lowest_difference,
    not_worse_p_value,
    t_p_value,
    units_needed,
    worse_p_value,
)

LEVEL = 0.05
MOST_LOOKS = 1_000_000
FEW_GROUPS = 50
"""With fewer groups the gate seldom says anything but "not enough evidence" (docs/calibration.md)."""
FEW_TOLD = (
    "{} groups are few: each counts as one, and a group that was not seen may change as a whole, so the gate "
    "finds only large differences; ask cases of more groups, more cases of these help little"
)
SAME = 1e-12
"""Differences that vary by no more than this part of the largest score vary by rounding alone."""
GateAnswer = Literal["not worse", "worse", "not enough evidence"]
Missing = Literal["common", "worst"]
LimitsLike = tuple[float, float] | Literal["none"]
EXIT_CODES: dict[GateAnswer, int] = {"not worse": 0, "worse": 1, "not enough evidence": 2}
CHOOSING = (
    "name the two that are (as in model=… and than_model=…, on the command line --model and --than-model)"
)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GateVerdict:
    """What a gate found; differences are new less old, above 0 where new is better."""

    new: str
    than: str
    margin: float
    level: float
    looks: int
    cases: int
    units: int
    """What counts as one: cases, or groups of them."""
    scores: tuple[float, float]
    """Mean scores of new and old, as they were given."""
    difference: float
    interval: tuple[float, float]
    """Of the difference, with confidence of 1 less twice the level of a look."""
    p_not_worse: float
    p_worse: float
    needed: int
    """So many fresh cases would show, four times in five, that a model which has not changed is not worse."""
    notes: tuple[str, ...] = ()
    is_constant: bool = False
    """Whether scores without limits differ by the same on all cases: there is no test, and no interval."""

    @property
    def level_of_look(self) -> float:
        """What one of the planned looks has of the level."""
        return self.level / self.looks

    @property
    def answer(self) -> GateAnswer:
        """The verdict."""
        if self.p_not_worse <= self.level_of_look:
            return "not worse"
        return "worse" if self.p_worse <= self.level_of_look else "not enough evidence"

    @property
    def exit_code(self) -> int:
        """0 not worse, 1 worse, 2 not enough evidence."""
        return EXIT_CODES[self.answer]

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        if self.answer == "not worse":
            return f"a loss of {self.margin:g} or more is ruled out ({_p(self.p_not_worse)})"
        if self.answer == "worse":
            return f"{self.new} is worse than {self.than} ({_p(self.p_worse)})"
        if self.is_constant:
            return (
                f"all {self.units:,} differences are the same, so nothing tells how much they vary and there "
                "is no t-test; bring more cases, or say between which limits scores lie (limits=…, --limits)"
            )
        groups = self.needed * self.units // self.cases
        within = f" in {about(groups)} groups" if self.units < self.cases else ""
        return (
            f"neither a loss of {self.margin:g} nor an equal score is ruled out; about {about(self.needed)} "
            f"fresh cases{within} would settle it, four times in five, if {self.new} is as good as "
            f"{self.than}"
        )

    @property
    def measured(self) -> str:
        """The scores and their difference."""
        low, high = (_sided(end) for end in self.interval)
        many = f"{self.cases:,} cases" + (f" in {self.units:,} groups" if self.units < self.cases else "")
        sure = f"{100 * (1 - 2 * self.level_of_look):.3g} %"
        within = "" if self.is_constant else f" ({sure} interval {low} to {high})"
        return (
            f"{self.new} scores {self.scores[0]:.4g}, {self.than} {self.scores[1]:.4g} on {many}: "
            f"{_sided(self.difference)}{within}"
        )

    def __str__(self) -> str:
        notes = "".join(f"\nNote: {note}." for note in self.notes)
        return f"{self.answer}: {self.reason}.\n{self.measured}.{notes}"


def _p(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def _sided(difference: float) -> str:
    """A difference in words: which side it is on."""
    if difference == 0:
        return "no difference"
    return f"{abs(difference):.3g} {'better' if difference > 0 else 'worse'}"


@named_options
def gate(  # noqa: PLR0913  (options of a public function are explicit)
    new: ScoresLike,
    than: ScoresLike | None = None,
    *,
    margin: UnitsOfScore,
    model: str | None = None,
    than_model: str | None = None,
    level: float = LEVEL,
    looks: int = 1,
    missing: Missing = "common",
    columns: Mapping[str, str] | None = None,
    higher_is_better: bool | None = None,
    limits: LimitsLike | None = None,
    reader: str | None = None,
) -> GateVerdict:
    """Find out whether a new model is worse than an old one, case by case.

    Parameters
    ----------
    new
        Scores of the new model: a file, a frame, rows, with a column `case` and a score (see
        docs/bring-results.md).
    than
        Scores of the old model on the same cases; by default they are in the same table.
    margin
        The loss that would matter, in units of the score.
    model
        Which model is the new one, where its table has several.
    than_model
        Which model is the old one, likewise.
    level
        The chance of a false verdict: of "worse" where nothing changed, of "not worse" at a loss of the
        margin.
    looks
        How often you will ask while cases are added; the level is shared by all of them.
    missing
        What becomes of cases that one of the two lacks: "common" leaves them out, "worst" counts them as the
        worst score there can be.
    columns
        Which column of the scores is what, such as {"score": "accuracy"}.
    higher_is_better
        Whether a higher score is better; needed where the name of the score does not tell.
    limits
        The lowest and the highest score there can be; "none" where there are none, for a t-test.
    reader
        The tool that wrote the files, where that cannot be told.

    Returns
    -------
    GateVerdict
        `answer` is "not worse", "worse" or "not enough evidence", `exit_code` 0, 1 or 2; `str` tells it.

    Notes
    -----
    Answers repeated for a case (column `run`) are averaged; cases of a group (column `group`) count as one.
    "Not worse" is Tango's score test (1998), generalised to all scores with limits, "worse" McNemar's mid-p
    of right and wrong answers, else the same test with no margin (`stats.bounded_tests`).

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from redelve.findings.gate import gate
    >>> rng = np.random.default_rng(1)
    >>> old = pd.DataFrame({"case": range(1000), "correct": rng.random(1000) < 0.7})
    >>> new = old.assign(correct=np.where(rng.random(1000) < 0.1, rng.random(1000) < 0.7, old["correct"]))
    >>> gate(new, old, margin=0.05).answer
    'not worse'
    """
    _check(margin, level, looks, missing)
    reading = _Reading(columns, higher_is_better, limits, reader)
    first = reading.grid(new, "new")
    second = first if than is None else reading.grid(than, "old")
    names = _chosen(first, model, "model"), _chosen(second, than_model, "than_model")
    if than is None and names[0] == names[1]:
        raise SpecError(f"{names[0]} would be compared with itself: give the old scores, or than_model")
    pair = _paired(first, second, names, missing)
    return _judged(pair, margin, level, looks)


def _check(margin: float, level: float, looks: int, missing: str) -> None:
    if isinstance(margin, str):
        raise SpecError(f"a margin is a number in units of the score, such as 0.01, not {value_told(margin)}")
    if not margin > 0:
        raise SpecError(f"a margin is a loss that would matter, a number above 0, not {margin:g}")
    if not 0 < level < 0.5:
        raise SpecError(f"a level is between 0 and 0.5, such as 0.05, not {level:g}")
    if not 1 <= looks <= MOST_LOOKS:
        raise SpecError(f"you look once or more often, at most {MOST_LOOKS:,} times, not {looks} times")
    if missing not in ("common", "worst"):
        raise SpecError(f'missing is "common" or "worst", not {value_told(missing)}')


@dataclass(frozen=True)
class _Reading:
    """How the scores are read."""

    columns: Mapping[str, str] | None
    higher_is_better: bool | None
    limits: LimitsLike | None
    reader: str | None

    def grid(self, scores: ScoresLike, unnamed: str) -> CaseGrid:
        """The scores of one table, whose only model may have no name but its file's."""
        is_file = isinstance(scores, str | os.PathLike)
        table: ScoreTable = read_scores(
            scores,
            columns=self.columns,
            higher_is_better=self.higher_is_better,
            limits=None if self.limits == "none" else self.limits,
            reader=self.reader,
            unnamed=Path(scores).name.partition(".")[0] if is_file else unnamed,
            choosing=CHOOSING,
        )
        return grid_of(table, is_unbounded=self.limits == "none")


def _chosen(grid: CaseGrid, model: str | None, option: str) -> str:
    """The model that is meant."""
    if model is not None:
        grid.row(model)
        return model
    if len(grid.models) > 1:
        some = ", ".join(grid.models[:8])
        raise SpecError(f"{grid.source} has {len(grid.models)} models ({some}): say which one, {option}=…")
    return grid.models[0]


@dataclass(frozen=True)
class _Pair:
    """Two models on the same cases: scores, the units of cases, and how it is told."""

    names: tuple[str, str]
    scores: tuple[Floats, Floats]
    units: Sequence[CaseKey]
    weights: Floats
    grid: CaseGrid
    notes: tuple[str, ...]

    def differences(self) -> tuple[Floats, Floats | None]:
        """Differences of units, and their weights; the heaviest unit has weight 1."""
        of_case = self.scores[0] - self.scores[1]
        places = {unit: place for place, unit in enumerate(dict.fromkeys(self.units))}
        unit_of = np.array([places[unit] for unit in self.units])
        weights = np.bincount(unit_of, weights=self.weights)
        heaviest = float(weights.max())
        sums = np.bincount(unit_of, weights=self.weights * of_case)
        if len(places) == len(self.units) and (weights == heaviest).all():
            return of_case, None
        return np.asarray(sums / heaviest), np.asarray(weights / heaviest)


def _paired(first: CaseGrid, second: CaseGrid, names: tuple[str, str], missing: Missing) -> _Pair:
    """The two models, case by case."""
    if first.limits != second.limits:
        raise SpecError(
            f"scores of {first.source} and {second.source} have different limits or directions: give limits "
            "that hold for both, and whether higher is better"
        )
    if missing == "worst" and not first.is_bounded:
        raise SpecError('missing="worst" needs limits: without them there is no worst score')
    one, two = _by_case(first, names[0], missing), _by_case(second, names[1], missing)
    every = list(dict.fromkeys([*first.cases, *second.cases]))
    cases = [case for case in every if case in one and case in two]
    if not cases:
        new, old = (shown(next(iter(has), grid.cases[0])) for has, grid in ((one, first), (two, second)))
        raise SpecError(
            f"the new scores and the old ones share no case: cases such as {new} and {old} must have the "
            "same names in both"
        )
    notes = [*first.notes, *second.notes, *_lacking(every, {"new": one, "old": two}, missing)]
    told = _told_apart(names, first, second)
    notes += _answers_noted({told[0]: (first, names[0]), told[1]: (second, names[1])}, missing)
    if missing == "worst":
        cases = every
    units, weights = _of_cases(first, second)
    return _Pair(
        told,
        (np.array([one.get(case, 0.0) for case in cases]), np.array([two.get(case, 0.0) for case in cases])),
        [units[case] for case in cases],
        np.array([weights[case] for case in cases]),
        first,
        tuple(dict.fromkeys(notes)),
    )


def _lacking(
    every: Sequence[CaseKey], scores: Mapping[str, Mapping[CaseKey, float]], missing: Missing
) -> list[str]:
    """How many cases each of the two lacks, in words."""
    counts = {name: sum(case not in one for case in every) for name, one in scores.items()}
    told = " and ".join(f"the {name} model lacks {count:,}" for name, count in counts.items() if count)
    what = "count as the worst score" if missing == "worst" else "are left out"
    return [f"of {len(every):,} cases {told}, which {what}"] if told else []


def _of_cases(first: CaseGrid, second: CaseGrid) -> tuple[dict[CaseKey, CaseKey], dict[CaseKey, float]]:
    """The unit and the weight of each case, by the table that tells them; where both do, they agree."""
    units = [dict(zip(grid.cases, grid.units, strict=True)) for grid in (first, second)]
    weights = [dict(zip(grid.cases, grid.weights.tolist(), strict=True)) for grid in (first, second)]
    if first.has_groups and second.has_groups:
        _check_same("group", *units)
    if first.has_weights and second.has_weights:
        _check_same("weight", *weights)
    return (
        {**units[1], **units[0]} if first.has_groups else {**units[0], **units[1]},
        {**weights[1], **weights[0]} if first.has_weights else {**weights[0], **weights[1]},
    )


def _check_same(what: str, new: Mapping[CaseKey, object], old: Mapping[CaseKey, object]) -> None:
    """Refuse tables that say different things of a case: nobody knows which holds."""
    case = next((one for one, value in new.items() if old.get(one, value) != value), None)
    if case is not None:
        two = f"{_own_name(new[case])} in the new scores and {_own_name(old[case])} in the old ones"
        raise SpecError(
            f"case {shown(case)} has two values of {what}, {two}: a case has one; correct a table, or remove "
            f"the {what} from one of them"
        )


def _own_name(value: object) -> str:
    """A group without its task's name; a weight as it is."""
    return repr(value[1] if isinstance(value, tuple) else value)


def _answers_noted(of: Mapping[str, tuple[CaseGrid, str]], missing: Missing) -> list[str]:
    """What is said of repeated answers: which have no score, and that one model has more than the other."""
    is_worst = missing == "worst"
    empty = {name: grid.empty_answers(model) for name, (grid, model) in of.items()}
    counts = {name: grid.answers(model, with_empty=is_worst) for name, (grid, model) in of.items()}
    notes = empty_answers_told(empty, is_worst=is_worst)
    if notes and not is_worst:
        notes = [f'{notes[0]}; missing="worst" (--missing worst) counts them as the worst score']
    if len(set(counts.values())) > 1:
        means = " and ".join(f"{name} {count:.3g}" for name, count in counts.items())
        notes.append(f"models have {UNEVEN} ({means} on average): it counts by their mean")
    return notes


def _by_case(grid: CaseGrid, model: str, missing: Missing) -> dict[CaseKey, float]:
    """The scores of a model, where it has one."""
    row = (grid.row(model) if missing == "common" else grid.row_with_worst(model)).tolist()
    return {case: score for case, score in zip(grid.cases, row, strict=True) if not isnan(score)}


def _told_apart(names: tuple[str, str], first: CaseGrid, second: CaseGrid) -> tuple[str, str]:
    """Names of the two; where they are the same, with the file."""
    if names[0] != names[1]:
        return names
    if first.source == second.source:
        return f"new {names[0]}", f"old {names[1]}"
    return f"{names[0]} ({first.source})", f"{names[1]} ({second.source})"


def _judged(pair: _Pair, margin: float, level: float, looks: int) -> GateVerdict:
    """Both tests, the interval, and how many cases would settle it."""
    d, weights = pair.differences()
    grid, share = pair.grid, level / looks
    scaled = margin / grid.scale
    if grid.is_bounded and scaled >= 1:
        raise SpecError(f"a margin of {margin:g} is as much as the score can vary: give a smaller one")
    if d.size < 2:
        raise SpecError(
            f"there is only one {'case' if weights is None else 'group'} to compare by: bring more"
        )
    is_constant = not grid.is_bounded and _is_constant(d, weights, pair.scores)
    tested = _UNTESTED if is_constant else _tested(d, weights, scaled, share, is_bounded=grid.is_bounded)
    means = [float(np.average(one, weights=pair.weights)) for one in pair.scores]
    notes = pair.notes
    if not grid.is_bounded and not is_constant:
        notes += ("scores without limits are judged by a t-test, which rare large losses can deceive",)
    found = GateVerdict(
        *pair.names,
        margin,
        level,
        looks,
        len(pair.units),
        d.size,
        (_shown(means[0], grid), _shown(means[1], grid)),
        (means[0] - means[1]) * grid.scale,
        (tested.low * grid.scale, tested.high * grid.scale),
        tested.p_not_worse,
        tested.p_worse,
        tested.needed * len(pair.units) // d.size,
        notes,
        is_constant,
    )
    is_few = grid.is_bounded and found.units < min(found.cases, FEW_GROUPS)
    if is_few and found.answer == "not enough evidence":
        return replace(found, notes=(*notes, FEW_TOLD.format(found.units)))
    return found


@dataclass(frozen=True)
class _Tested:
    """What the tests found, in units of the grid's scores."""

    p_not_worse: float
    p_worse: float
    low: float
    high: float
    needed: int


_UNTESTED = _Tested(1.0, 1.0, -inf, inf, 0)
"""What is known where there is no test."""


def _tested(d: Floats, weights: Floats | None, margin: float, level: float, *, is_bounded: bool) -> _Tested:
    """Both tests, the interval, and how many units would settle it."""
    p = _p_values(d, weights, margin, is_bounded=is_bounded)
    low, high = (lowest_difference(one, level, weights=weights, is_bounded=is_bounded) for one in (d, -d))
    return _Tested(*p, low, -high, _needed(d, weights, margin, level, is_bounded=is_bounded))


def _is_constant(d: Floats, weights: Floats | None, scores: tuple[Floats, Floats]) -> bool:
    """Whether all units differ by the same for their weight, but for rounding."""
    share = np.ones_like(d) if weights is None else weights
    rest = d - share * d.sum() / share.sum()
    return bool(np.abs(rest).max() <= SAME * max(np.abs(one).max() for one in scores))


def _p_values(d: Floats, weights: Floats | None, margin: float, *, is_bounded: bool) -> tuple[float, float]:
    """Against "worse by the margin", and against "as good"."""
    if is_bounded:
        return float(not_worse_p_value(d, margin, weights=weights)), float(worse_p_value(d))
    share = 1.0 if weights is None else weights
    return float(t_p_value(d + margin * share)), float(t_p_value(-d))


def _needed(d: Floats, weights: Floats | None, margin: float, level: float, *, is_bounded: bool) -> int:
    """How many units would settle it; scores without limits are brought to the size of the others."""
    if is_bounded:
        return units_needed(d, margin, level, weights=weights)
    size = max(float(np.abs(d).max()), sqrt(float(np.mean(d**2))), margin)
    return units_needed(d / size, margin / size, level, weights=weights)


def _shown(score: float, grid: CaseGrid) -> float:
    """A mean score as it was given."""
    if grid.limits is None:
        return grid.sign * score
    worst, best = grid.limits
    return worst + (best - worst) * score
