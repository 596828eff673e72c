"""A first look at a table before anything is run: which design suits its cases, what looks wrong about it.

Training sets are disjoint where there are enough cases, else there is cross-validation.

What is said to look wrong is true of the rows as they are, and comes with the option that cures it. That an
input gives the target away is said only if chance would not do it once in a thousand million tables;
docs/own-data.md lists the rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from redelve.data.delve.keyed_lines import shown
from redelve.errors import SpecError
from redelve.model import CATEGORICAL, Scheme
from redelve.model.dataset import Numbers, Rows

if TYPE_CHECKING:
    from redelve.data.tables.description import ColumnDescription
    from redelve.data.tables.table_columns import ColumnFacts

Selection = Scheme | Literal["disjoint", "holdout"]
"""A scheme, or a name that stands for one with numbers that suit the cases."""
FEWEST_CASES = 10
FEWEST_TO_DIVIDE = 400  # half of them: 200 for testing, and room for 6 training sets of 32 and more
SMALLEST_SIZE, LARGEST_SIZE = 32, 8192
MOST_SIZES = 5
FEWEST_INSTANCES, MOST_INSTANCES = 6, 8  # with four, ten methods could hardly be told apart
MOST_TEST_CASES = 20_000
FEWEST_TESTED_EACH = 100  # in a test set that belongs to one instance
GROUPS_IN_A_SET = 8
CASES_OF_A_CLASS = 2  # expected in a training set
FOLDS, FEW_FOLDS = 10, 5
FEWEST_FOR_TEN_FOLDS = 100
FEW_TO_DIVIDE = 2000
MOST_LEFT_ALONE = 12  # so many groups have a fold each: a standard error from fewer folds is a poor one
FEWEST_TO_NEST = 4  # groups: two train when a pair is left out
ROWS_LOOKED_AT = (200, 2000)
"""Most inputs are cleared by a few rows; what a few thousand don't clear is looked at in all."""
CHANCE = 1e-9
FEWEST_ROWS = 20
CODES = frozenset(
    {-1.0, -9.0, *(sign * (10.0**digits - 1) for sign in (-1, 1) for digits in range(2, 8)), -8888.0, 8888.0}
)
FAR, FEWEST_OTHERS, ENOUGH_OTHERS = 0.25, 10, 20_000


@dataclass(frozen=True)
class DesignChoice:
    """How training and test sets are to be made; fields of the other kind of design stay 0 or empty.

    So do those that somebody leaves open: `named_designs.completed` fills them in.

    `order` names the random order of the cases: another name, other sets.
    """

    selection: Selection
    training_set_sizes: tuple[int, ...] = ()
    test_set_size: int = 0
    instances: int = 0
    folds: int = 0
    repetitions: int = 0
    stratify: bool | None = None
    order: str = "standard"
    gap: int = 0
    """Cases left out between what trains and what tests, forward in time."""
    by: str | None = None
    """The column of dates that tells the order of time; None for the order of the rows."""
    reasons: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_cross_validation(self) -> bool:
        """Whether every case trains and tests in turn."""
        return self.selection in ("cross-validation", "nested-cross-validation")

    @property
    def is_forward(self) -> bool:
        """Whether what trains comes before what tests."""
        return self.selection == "time"

    @property
    def scheme(self) -> Scheme:
        """The scheme of analysis; a name such as "disjoint" has none before it is completed."""
        assert self.selection != "disjoint"
        assert self.selection != "holdout"
        return self.selection

    @property
    def is_nested(self) -> bool:
        """Whether pairs of folds are left out as well."""
        return self.selection == "nested-cross-validation"


def choose_design(
    case_count: int,
    *,
    class_counts: Mapping[str, int] | None = None,
    group_sizes: Sequence[int] | None = None,
) -> DesignChoice:
    """A design for so many cases with known target; `class_counts` is None where numbers are predicted.

    >>> choice = choose_design(8192)
    >>> choice.selection, choice.test_set_size, choice.training_set_sizes, choice.instances
    ('hierarchical', 4096, (32, 64, 128, 256, 512), 8)
    """
    check_enough(case_count, class_counts, group_sizes)
    groups = _Groups.of(group_sizes)
    if case_count >= FEWEST_TO_DIVIDE:
        choice = divided(case_count, class_counts, group_sizes)
        if choice is not None:
            return choice
        why = (
            f"{len(group_sizes or ())} groups, the largest of {groups.largest} cases, are too few to fill "
            f"{FEWEST_INSTANCES} separate training sets and a test set"
        )
    else:
        why = (
            f"{case_count} cases are fewer than {FEWEST_TO_DIVIDE}, too few to set 200 aside for testing and "
            f"cut {FEWEST_INSTANCES} separate training sets of {SMALLEST_SIZE} from the rest"
        )
    return cross_validated(case_count, class_counts, group_sizes, why)


def check_enough(
    case_count: int, class_counts: Mapping[str, int] | None, group_sizes: Sequence[int] | None
) -> None:
    """Refuse cases from which no design can make anything."""
    if case_count < FEWEST_CASES:
        raise SpecError(
            f"there are only {case_count} cases with a known target: at least {FEWEST_CASES} are needed, and "
            f"some hundreds to tell methods apart"
        )
    if class_counts is not None and len(class_counts) < 2:
        only = shown(", ".join(class_counts))
        raise SpecError(f'the target has only the class "{only}": there is nothing to learn; give 2 or more')
    for name, count in (class_counts or {}).items():
        if count < 2:
            raise SpecError(
                f'class "{shown(name)}" of the target has {count} case, which can\'t both train and test: '
                f'leave that case out (--missing "{shown(name)}", missing="{shown(name)}"), merge the class '
                "with another, or gather more cases"
            )
    if group_sizes is not None and len(group_sizes) < 2:
        raise SpecError("all cases are in one group: nothing is left to test on; check the group column")


@dataclass(frozen=True)
class _Groups:
    """How groups coarsen the cases: what they cost at the end of a set, and how large sets must be."""

    largest: int = 1
    mean: float = 1.0

    @staticmethod
    def of(sizes: Sequence[int] | None) -> _Groups:
        return _Groups(max(sizes), sum(sizes) / len(sizes)) if sizes else _Groups()

    @property
    def gap(self) -> int:
        """The most cases passed over after a set, so that no group is in two."""
        return self.largest - 1

    def sets(self, room: int, size: int) -> int:
        """How many sets of this size surely fit."""
        return max(room + self.gap, 0) // (size + self.gap)


def divided(
    case_count: int, class_counts: Mapping[str, int] | None, group_sizes: Sequence[int] | None
) -> DesignChoice | None:
    """Disjoint training sets in powers of two beside a test part, or None if there is no room."""
    groups = _Groups.of(group_sizes)
    test = min(case_count // 2, MOST_TEST_CASES)
    room = case_count - test - groups.gap
    lowest = SMALLEST_SIZE
    while lowest < GROUPS_IN_A_SET * groups.mean and groups.largest > 1:
        lowest *= 2
    sizes = _sizes(room, lowest, groups)
    if not sizes:
        return None
    sizes, passed_over = _with_all_classes(sizes, case_count, class_counts)
    instances = min(MOST_INSTANCES, groups.sets(room, sizes[0]))
    choice = DesignChoice("hierarchical", sizes, test, instances)
    if test // instances - groups.gap < FEWEST_TESTED_EACH:
        choice = replace(choice, selection="common")
    return replace(choice, reasons=(*_reasons(choice, case_count), *passed_over))


def _sizes(room: int, lowest: int, groups: _Groups) -> tuple[int, ...]:
    """At most five powers of two, the largest of which still gives six sets."""
    sizes = []
    size = lowest
    while size <= max(LARGEST_SIZE, lowest) and groups.sets(room, size) >= FEWEST_INSTANCES:
        sizes.append(size)
        size *= 2
    return tuple(sizes[-MOST_SIZES:])


def _with_all_classes(
    sizes: tuple[int, ...], case_count: int, class_counts: Mapping[str, int] | None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Without the sizes at which the rarest class would often be absent; the largest size always stays."""
    if class_counts is None:
        return sizes, ()
    rarest = min(class_counts, key=lambda name: class_counts[name])
    share = class_counts[rarest] / case_count
    kept = tuple(size for size in sizes if size * share >= CASES_OF_A_CLASS) or sizes[-1:]
    notes = []
    if len(kept) < len(sizes):
        notes.append(
            f"smaller training sets would often lack the rarest class ({class_counts[rarest]} cases)"
        )
    if kept[0] * share < CASES_OF_A_CLASS:
        notes.append(f"training sets may still lack the rarest class ({class_counts[rarest]} cases)")
    return kept, tuple(notes)


def _reasons(choice: DesignChoice, case_count: int) -> tuple[str, ...]:
    largest, test = choice.training_set_sizes[-1], choice.test_set_size
    reasons = [
        f"{case_count} cases suffice for training sets that share no case, up to {largest} cases each: "
        "only then are standard errors right by construction"
    ]
    if choice.selection == "hierarchical":
        reasons.append(f"the {test} test cases are divided, so that instances share nothing at all")
    else:
        reasons.append(
            f"the {test} test cases serve all instances: divided among {choice.instances} they are "
            f"fewer than {FEWEST_TESTED_EACH} each"
        )
    if case_count < FEW_TO_DIVIDE:
        reasons.append(
            'to judge methods trained on nearly all cases, give design="cv" (--design cv), or write '
            'selection = "cross-validation" in place of all else, at the price of training sets that overlap'
        )
    if test == MOST_TEST_CASES < case_count // 2:
        reasons.append(f"no more than {MOST_TEST_CASES} test cases are set aside: they are plenty")
    used = test + max(
        size * min(choice.instances, (case_count - test) // size) for size in choice.training_set_sizes
    )
    if largest == LARGEST_SIZE and used < case_count:
        reasons.append(f"training sets stop at {LARGEST_SIZE}, so {case_count - used} cases are not used")
    return tuple(reasons)


def cross_validated(
    case_count: int, class_counts: Mapping[str, int] | None, group_sizes: Sequence[int] | None, why: str
) -> DesignChoice:
    """Folds that suit the cases; `why` there are any."""
    rarest = min((class_counts or {"": case_count}).values())
    folds = FOLDS if case_count >= FEWEST_FOR_TEN_FOLDS and rarest >= FOLDS else FEW_FOLDS
    selection: Scheme = "cross-validation"
    reasons = [f"{why}: so every case trains and tests in turn, in {folds} folds"]
    if group_sizes is not None and max(group_sizes) > 1:
        groups = len(group_sizes)
        folds = groups if groups <= MOST_LEFT_ALONE else FOLDS
        selection = selection if groups < FEWEST_TO_NEST else "nested-cross-validation"
        reasons = _reasons_by_groups(why, groups, folds)
    if class_counts is not None:
        reasons.append("folds are stratified: each has its share of every class")
    return DesignChoice(
        selection,
        folds=folds,
        repetitions=1,
        stratify=class_counts is not None,
        reasons=tuple(reasons),
    )


def _reasons_by_groups(why: str, groups: int, folds: int) -> list[str]:
    """What is said of folds of whole groups."""
    each = "of one group each" if groups == folds else "of whole groups"
    reasons = [f"{why}: so every group trains and tests in turn, in {folds} folds {each}"]
    if groups < FEWEST_TO_NEST:
        return [*reasons, f"{groups} groups tell very little of others: intervals will be wide"]
    fits = folds * (folds + 1) // 2
    return [
        *reasons,
        f"every pair of folds is left out as well, {fits} trainings in all: only then is it seen what a "
        f'group changes by being trained on; selection = "cross-validation" takes {folds} trainings, and its '
        "standard errors are up to twice as large",
    ]


# What looks wrong


def suspicions(
    facts: Sequence[ColumnFacts],
    columns: Sequence[ColumnDescription],
    target: ColumnDescription,
    rows: Rows | None = None,
) -> tuple[str, ...]:
    """What should be looked at, most serious first; `rows` are the cases without their twins."""
    pairs = list(zip(facts, columns, strict=True))
    inputs = [one for one, said in pairs if said.use == "input"]
    answer = next(one for one, said in pairs if said.use == "target")
    giving = _giving_away(inputs, answer, rows, is_class=target.type in CATEGORICAL)
    codes = filter(None, map(_code, [*inputs, answer]))
    return (*giving, *codes, *filter(None, map(_counter, inputs)))


# --- inputs that give the target away ----------------------------------------------------------------------


def _giving_away(
    inputs: Sequence[ColumnFacts], answer: ColumnFacts, rows: Rows | None, *, is_class: bool
) -> Iterator[str]:
    every = np.arange(len(answer.column)) if rows is None else rows
    suspected = list(inputs) if len(every) >= FEWEST_ROWS else []
    for most in ROWS_LOOKED_AT:
        some = every[:: -(-len(every) // most)]
        target = _values(answer, some)
        suspected = [one for one in suspected if _Pair(_values(one, some), target, is_class).verdict]
    for one in suspected:
        pair = _Pair(_values(one, every), _values(answer, every), is_class, one.is_numeric)
        if pair.verdict and pair.log_chance < math.log(CHANCE / len(inputs)):
            name = shown(one.name)
            yield (
                f'column "{name}" {pair.verdict} the target: if it is known only once the target is, losses '
                f'say nothing of new cases; then leave it out (--ignore "{name}", ignore="{name}")'
            )


def _values(facts: ColumnFacts, rows: Rows) -> Numbers:
    """Numbers, or the places of texts; NaN where missing."""
    if facts.is_numeric and facts.column.numbers is not None:
        return facts.column.numbers[rows]
    codes = facts.coded[0][rows].astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


@dataclass(frozen=True)
class _Pair:
    """An input and the target in the same rows; what is missing of the input counts as a value."""

    one: Numbers
    target: Numbers
    is_class: bool
    is_ordered: bool = True

    @cached_property
    def verdict(self) -> str:
        """How the input tells the target of every row; empty if it does not."""
        if self.is_ordered and np.array_equal(self.one, self.target):
            return "is equal to"
        if self._is_function:
            own = len(self._levels[0]) == len(self._classes[0])
            return "has a value of its own for each value of" if own else "alone tells"
        if self.is_ordered and not np.isnan(self.one).any():
            return self._by_order
        return ""

    @cached_property
    def _levels(self) -> tuple[Numbers, Rows]:
        found = np.unique(self.one, return_inverse=True)
        return found[0], found[1]

    @cached_property
    def _classes(self) -> tuple[Numbers, Rows]:
        found = np.unique(self.target, return_inverse=True)
        return found[0], found[1]

    @cached_property
    def _is_function(self) -> bool:
        """Whether rows with the same value have the same target, and there are such rows."""
        (levels, places), (classes, of_class) = self._levels, self._classes
        if 2 * len(levels) > len(self.one):
            return False
        return len(np.unique(places * len(classes) + of_class)) == len(levels)

    @cached_property
    def _by_order(self) -> str:
        """How the order of the input tells the target."""
        order = np.lexsort((self.target, self.one))
        one, target = self.one[order], self.target[order]
        if self.is_class:
            ends = target[1:] != target[:-1]
            parts = int(ends.sum()) + 1 == len(self._classes[0]) and (one[1:] != one[:-1])[ends].all()
            return "alone, by thresholds, tells" if parts else ""
        if (target[1:] >= target[:-1]).all():
            return "puts the cases into the same order as"
        falling = self.target[np.lexsort((-self.target, self.one))]
        return "puts the cases into the reverse order of" if (falling[1:] <= falling[:-1]).all() else ""

    @property
    def log_chance(self) -> float:
        """The logarithm of the chance of this, or of a bound on it, if input and target were independent.

        For a function every level must have drawn its target again and again. For an order it is the share of
        the orders of the rows that will do.
        """
        levels, classes = (np.bincount(places) for _, places in (self._levels, self._classes))
        if self._is_function:
            shares = classes / classes.sum()
            return float(sum(np.log(np.sum(shares**count)) for count in levels))
        orders = [math.lgamma(count + 1) for count in (*levels, *classes)]
        ways = math.lgamma(len(classes) + 1) if self.is_class else math.log(2)
        return ways + sum(orders) - math.lgamma(len(self.one) + 1)


# --- codes and counters ------------------------------------------------------------------------------------


def _code(facts: ColumnFacts) -> str:
    """A number such as -999 that is repeated, far from all others."""
    if not facts.is_numeric:
        return ""
    for code in set(facts.extremes) & CODES:
        others = facts.numbers[facts.numbers != code]
        times = len(facts.numbers) - len(others)
        if times < 2 or len(np.unique(others[:ENOUGH_OTHERS])) < FEWEST_OTHERS:
            continue
        low, high = float(others.min()), float(others.max())
        if max(low - code, code - high) >= FAR * (high - low):
            name, shape = shown(facts.name), f"{code:.0f}"
            return (
                f'column "{name}" is {shape} {times} times, far from the rest ({low:.6g} to {high:.6g}): '
                f'if that means "missing", say so (--missing "{name}={shape}", missing={{"{name}": {shape}}})'
            )
    return ""


def _counter(facts: ColumnFacts) -> str:
    """Whole numbers that all differ, without gaps or rising from row to row."""
    if not facts.is_numeric or facts.missing or facts.known < FEWEST_ROWS or not facts.is_whole:
        return ""
    low, high = facts.extremes
    if facts.distinct < facts.known:
        return ""
    rises = bool((np.diff(facts.numbers) > 0).all())
    if not rises and high - low >= facts.known:
        return ""
    what = "rises from row to row" if rises else f"has every number from {low:.0f} to {high:.0f} once"
    name = shown(facts.name)
    return (
        f'column "{name}" {what}: if it only numbers the cases, leave it out (--ignore "{name}", '
        f'ignore="{name}"); if it is a time, random sets look into the future (--design time, design="time")'
    )
