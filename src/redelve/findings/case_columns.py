"""What is known of the test cases and cuts them into slices: columns by name, or the user's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError, near_names
from redelve.model import Assignment
from redelve.model.dataset import Numbers
from redelve.registry import value_told
from redelve.run.results import InstanceFacts, TaskFacts

ByLike = Any
"""A column's name, several names, or values of all cases: an array, a Series, a frame of several columns."""
Values = NDArray[Any]
PARTS = 4
"""Numbers with more different values than twice this are cut into so many parts of about equal size."""
MISSING = "missing"
TRUTH = "truth"


@dataclass(frozen=True, eq=False)
class CaseColumn:
    """A value for every test case of every instance; `slices` are the different ones in their order."""

    values: tuple[Values, ...]
    slices: tuple[str, ...] = ()


def case_columns(
    by: ByLike, facts: TaskFacts, assignment: Assignment | None = None, *, is_cut: bool = True
) -> dict[str, CaseColumn]:
    """What is known of every test case, by the name of each column: slices, or values as they are."""
    found = {}
    for name, given in _wanted(by).items():
        values = (
            _known(name, facts, assignment)
            if given is None
            else tuple(_aligned(name, given, facts, one) for one in facts.instances)
        )
        found[name] = _sliced(name, values, facts) if is_cut else CaseColumn(values)
    return found


def _wanted(by: ByLike) -> dict[str, Any]:
    """Columns by name; values where the user gave them."""
    if isinstance(by, str):
        return {by: None}
    if hasattr(by, "columns"):
        return {str(name): by[name] for name in by.columns}
    if isinstance(by, Mapping):
        return {str(name): values for name, values in by.items()}
    if (
        isinstance(by, Sequence)
        and by
        and all(isinstance(one, str) for one in by)
        and len(set(by)) == len(by)
    ):
        return dict.fromkeys(by)
    if hasattr(by, "__len__") and len(by):
        return {str(getattr(by, "name", None) or "slice"): by}
    raise SpecError(f"by={value_told(by)} names no column: give a name, several, or a value for every case")


def known_columns(facts: TaskFacts, assignment: Assignment | None = None) -> tuple[str, ...]:
    """The names that slices can be made by."""
    own = [target.name for target in facts.targets]
    inputs = [] if assignment is None else [one.name for one in assignment.data.inputs]
    return tuple(
        dict.fromkeys([*facts.instances[0].columns, *inputs, *own, *([TRUTH] if len(own) == 1 else [])])
    )


def _known(name: str, facts: TaskFacts, assignment: Assignment | None) -> tuple[Values, ...]:
    if all(name in one.columns for one in facts.instances):
        return _parsed(tuple(one.columns[name] for one in facts.instances))
    names = [target.name for target in facts.targets]
    if name in names or (name == TRUTH and len(names) == 1):
        place = names.index(name) if name in names else 0
        return tuple(_truth(one, place) for one in facts.instances)
    if assignment is not None and name in [one.name for one in assignment.data.inputs]:
        return tuple(_input(name, assignment, one) for one in facts.instances)
    known = known_columns(facts, assignment)
    near = near_names(name, known) or known[:12]
    told = f"known are {', '.join(near)}" if near else "none is known of these cases"
    raise SpecError(
        f'{facts.address} has no column "{name}" to make slices by: {told}; '
        f"{_way_to_slices(name, is_fixed=facts.is_fixed, is_archive=assignment is None)}"
    )


def _way_to_slices(name: str, *, is_fixed: bool, is_archive: bool) -> str:
    """What to do about a column that nobody kept; the command line has archives alone."""
    values = f'in Python give the values themselves, as in by=frame["{name}"]'
    if is_fixed:
        return f"keep it with the scores, as in slices=[{name!r}] (redelve compare -S {name}), or {values}"
    return f"an archive keeps no inputs of its cases, so {values}" if is_archive else values


def _parsed(values: tuple[Values, ...]) -> tuple[Values, ...]:
    """Texts as numbers where all are; None where there is none."""
    try:
        return tuple(np.array([float(one or "nan") for one in some.tolist()]) for some in values)
    except ValueError:
        return tuple(np.array([one or None for one in some.tolist()], dtype=object) for some in values)


def _truth(one: InstanceFacts, place: int) -> Values:
    truth = one.truths[place]
    levels = truth.target.levels
    if truth.target.kind in ("real", "integer") or not levels:
        return truth.values
    return np.array(levels, dtype=object)[truth.level_indexes]


def _input(name: str, assignment: Assignment, one: InstanceFacts) -> Values:
    """An input of the task's own data, for these cases."""
    data = assignment.data
    column = data.cases.columns[[each.name for each in data.inputs].index(name)]
    order = np.argsort(data.case_numbers, kind="stable")
    rows = order[np.searchsorted(data.case_numbers[order], one.case_numbers)]
    numbers = column.numbers()
    texts = np.array(column.texts(), dtype=object)
    return texts[rows] if np.isnan(numbers).all() else numbers[rows]


def _aligned(name: str, given: Any, facts: TaskFacts, one: InstanceFacts) -> Values:
    """The user's values for these cases: by the cases' names in an index, or in the order of the cases."""
    values = np.asarray(given)
    if one.names is not None and hasattr(given, "index") and not callable(given.index):
        by_name = dict(zip(map(str, given.index), values.tolist(), strict=True))
        if lacking := [case for case in one.names.tolist() if case not in by_name]:
            raise SpecError(
                f'the values of "{name}" have no row for case "{lacking[0]}" ({len(lacking)} such cases): '
                "let their index hold the names of all cases, as frame.set_index(case)[column] does"
            )
        return np.array([by_name[case] for case in one.names.tolist()], dtype=values.dtype)
    if values.ndim != 1 or len(values) != facts.case_count:
        raise SpecError(
            f'"{name}" has {len(values)} values for the {facts.case_count} cases of {facts.address}: give '
            "one for each, in their order, without the rows that were left out"
        )
    return np.asarray(values[one.case_numbers - 1])


def _sliced(name: str, values: tuple[Values, ...], facts: TaskFacts) -> CaseColumn:
    """Values as texts; numbers with many different values are cut at their quartiles."""
    whole = np.concatenate(values)
    if whole.dtype.kind in "fiu" and np.unique(whole[~_is_missing(whole)]).size > 2 * PARTS:
        cuts = _quartiles(values, facts)
        words = _range_words(name, cuts)
        labels = tuple(_cut(one.astype(np.float64), cuts, words) for one in values)
        there = set(np.concatenate(labels).tolist())
        return CaseColumn(labels, tuple(one for one in (*words, MISSING) if one in there))
    texts = tuple(np.array([_text(value) for value in one.tolist()], dtype=np.str_) for one in values)
    return CaseColumn(texts, tuple(sorted(set(np.concatenate(texts).tolist()))))


def _is_missing(values: Values) -> NDArray[np.bool_]:
    return np.array([_text(value) == MISSING for value in values.tolist()], dtype=np.bool_)


def _text(value: object) -> str:
    if value is None or value != value:  # noqa: PLR0124  (NaN)
        return MISSING
    return f"{value:g}" if isinstance(value, float) else str(value)


def _quartiles(values: tuple[Values, ...], facts: TaskFacts) -> Numbers:
    """Where numbers are cut: each case counts once, however often it is tested."""
    seen = np.concatenate([one.case_numbers for one in facts.instances])
    _, first = np.unique(seen, return_index=True)
    numbers = np.concatenate(values).astype(np.float64)[first]
    shares = np.arange(1, PARTS) / PARTS
    return np.unique(np.quantile(numbers[~np.isnan(numbers)], shares, method="inverted_cdf"))


def _range_words(name: str, cuts: Numbers) -> tuple[str, ...]:
    ends = [f"{cut:.4g}" for cut in cuts]
    between = [f"{low} < {name} ≤ {high}" for low, high in pairwise(ends)]
    return (f"{name} ≤ {ends[0]}", *between, f"{name} > {ends[-1]}")


def _cut(numbers: Numbers, cuts: Numbers, words: Sequence[str]) -> Values:
    """The part that each number is in, in words."""
    found = np.array(words, dtype=np.str_)[np.searchsorted(cuts, numbers, side="left")]
    return np.where(np.isnan(numbers), MISSING, found)
