"""Designs by name, such as "cv 10x3" or "time": what is said is kept, what is left open suits the cases.

And the folds and windows of time that a choice stands for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from redelve.data.tables.first_look import (
    FEWEST_TO_NEST,
    DesignChoice,
    check_enough,
    cross_validated,
    divided,
)
from redelve.errors import SpecError, hint
from redelve.model import Instance
from redelve.model.dataset import Rows
from redelve.model.designs import cross_validation_lists
from redelve.model.designs.explicit import CaseLists

Selected = Literal["cross-validation", "nested-cross-validation", "disjoint", "holdout", "time"]
NAMES: Mapping[str, Selected] = {
    "cv": "cross-validation",
    "cross-validation": "cross-validation",
    "nested": "nested-cross-validation",
    "nested-cv": "nested-cross-validation",
    "nested-cross-validation": "nested-cross-validation",
    "disjoint": "disjoint",
    "holdout": "holdout",
    "time": "time",
}
SHAPE = re.compile(r"(?P<folds>\d+)(?:\s*[x×*]\s*(?P<repetitions>\d+))?")
BY = re.compile(r"by\s+(?P<column>.+)")
EXAMPLES = '"cv", "cv 10x3", "nested", "time", "time by date", "holdout", "disjoint"'
BLOCKS = 6  # of a series: with more, those of a series with a long memory depend on each other
FEWEST_IN_A_BLOCK, FEWEST_IN_A_WINDOW = 2, 10
HELD_OUT = 4  # one case of so many is tested


class CasesKnown(NamedTuple):
    """What a design must suit."""

    cases: int
    classes: Mapping[str, int] | None
    groups: Sequence[int] | None


def named_design(text: str, gap: int | None = None) -> DesignChoice:
    """What a name asks for; what it leaves open is 0, empty or None until `completed`.

    >>> asked = named_design("cv 10x3")
    >>> asked.selection, asked.folds, asked.repetitions
    ('cross-validation', 10, 3)
    >>> named_design("time by sold", gap=7).by
    'sold'
    """
    name, _, rest = text.strip().partition(" ")
    selection = NAMES.get(name.lower())
    if selection is None:
        raise SpecError(f'unknown design "{text}"{hint(name.lower(), NAMES)}: choose {EXAMPLES}')
    rest = rest.strip()
    shape, by = SHAPE.fullmatch(rest), BY.fullmatch(rest)
    asked = DesignChoice(selection)
    if selection.endswith("cross-validation") and shape is not None:
        folds, repetitions = int(shape["folds"]), int(shape["repetitions"] or 1)
        if not folds or not repetitions:
            raise SpecError(f'design "{text}" has 0 {"repetitions" if folds else "folds"}: choose {EXAMPLES}')
        asked = replace(asked, folds=folds, repetitions=repetitions)
    elif selection == "time" and by is not None:
        asked = replace(asked, by=by["column"])
    elif rest:
        raise SpecError(f'design "{text}": "{rest}" means nothing after "{name}"; choose {EXAMPLES}')
    return asked if gap is None else with_gap(asked, gap)


def with_gap(asked: DesignChoice, gap: int) -> DesignChoice:
    """The design with so many cases left out between what trains and what tests."""
    if asked.selection != "time":
        raise SpecError(f'gap={gap} is for design "time": give both, or leave it out')
    if gap < 0:
        raise SpecError(f"gap is {gap}: give a number of cases, 0 or more")
    return replace(asked, gap=gap)


def completed(asked: DesignChoice, known: CasesKnown) -> DesignChoice:
    """The design with everything that was left open."""
    check_enough(known.cases, known.classes, known.groups)
    if asked.is_cross_validation:
        return _folded(asked, known)
    if asked.selection == "time":
        return _forward(asked, known)
    if asked.selection == "holdout":
        return _held_out(asked, known)
    return _disjoint(asked, known)


def _folded(asked: DesignChoice, known: CasesKnown) -> DesignChoice:
    usual = cross_validated(known.cases, known.classes, known.groups, "so asked")
    folds = asked.folds or usual.folds
    if asked.is_nested and folds < 3:
        raise SpecError(f"nested cross-validation needs 3 folds or more, not {folds}")
    if folds < 2 or folds > known.cases:
        raise SpecError(f"{folds} folds of {known.cases} cases: give from 2 to {known.cases}")
    if asked.is_nested and known.groups is not None and len(known.groups) < FEWEST_TO_NEST:
        raise SpecError(f'{len(known.groups)} groups are too few for nested folds: choose design "cv"')
    stratify = known.classes is not None if asked.stratify is None else asked.stratify
    reasons = asked.reasons or (f"every case trains and tests in turn, in {folds} folds, as asked",)
    return replace(asked, folds=folds, repetitions=asked.repetitions or 1, stratify=stratify, reasons=reasons)


def _disjoint(asked: DesignChoice, known: CasesKnown) -> DesignChoice:
    """Training sets that share no case; the sizes that suit the cases where none are given."""
    if asked.training_set_sizes and asked.test_set_size and asked.instances:
        return asked
    usual = divided(known.cases, known.classes, known.groups)
    if usual is None:
        raise SpecError(
            f"{known.cases} cases{_in_groups(known)} are too few for sets that share none: "
            'choose design "cv", or write sizes, test_set_size and instances into the description'
        )
    if asked.selection == "disjoint":
        return usual
    return replace(
        asked,
        training_set_sizes=asked.training_set_sizes or usual.training_set_sizes,
        test_set_size=asked.test_set_size or usual.test_set_size,
        instances=asked.instances or usual.instances,
        reasons=asked.reasons or usual.reasons[:1],
    )


def _held_out(asked: DesignChoice, known: CasesKnown) -> DesignChoice:
    """One training and one test set: what is left after the test cases, and after a group cut in two."""
    test = asked.test_set_size or max(known.cases // HELD_OUT, 2)
    spare = max(known.groups or (1,)) - 1
    size = known.cases - test - spare
    if size < FEWEST_IN_A_WINDOW:
        raise SpecError(
            f"holding {test} of {known.cases} cases{_in_groups(known)} out leaves {max(size, 0)} to train "
            f'on, fewer than {FEWEST_IN_A_WINDOW}: choose design "cv"'
        )
    reason = (
        f"{test} cases, drawn at random, are held out and the others train, as asked: nothing is learnt of "
        'how much another training set would change; design "cv" or "disjoint" tells more'
    )
    return replace(
        asked,
        selection="hierarchical",
        training_set_sizes=asked.training_set_sizes or (size,),
        test_set_size=test,
        instances=1,
        reasons=(reason,),
    )


def _forward(asked: DesignChoice, known: CasesKnown) -> DesignChoice:
    """Windows of cases, each with the block after it, that move on from block to block."""
    if known.groups is not None and max(known.groups) > 1:
        raise SpecError(
            'groups and design "time" do not go together: cases of one date are never torn apart; leave '
            'groups out, or choose design "cv"'
        )
    blocks = asked.instances or BLOCKS
    test = asked.test_set_size or known.cases // 2
    sizes = asked.training_set_sizes or (known.cases - test - asked.gap,)
    if max(sizes) > known.cases - test - asked.gap or min(sizes) < FEWEST_IN_A_WINDOW:
        raise SpecError(
            f"of {known.cases} cases {test} are tested and {asked.gap} lie in the gap, so windows have "
            f"{FEWEST_IN_A_WINDOW} to {max(known.cases - test - asked.gap, 0)} cases, not {max(sizes)}: "
            "choose a smaller gap, fewer test cases or smaller windows"
        )
    if blocks < 2 or test < FEWEST_IN_A_BLOCK * blocks:
        raise SpecError(
            f"{test} test cases in {blocks} blocks: give 2 blocks or more, each of {FEWEST_IN_A_BLOCK} cases"
        )
    return replace(
        asked,
        training_set_sizes=sizes,
        test_set_size=test,
        instances=blocks,
        reasons=asked.reasons or _reasons(asked, blocks, test, max(sizes)),
    )


def _reasons(asked: DesignChoice, blocks: int, test: int, size: int) -> tuple[str, ...]:
    order = f'the order of column "{asked.by}"' if asked.by else "the order of the rows"
    gap = f", {asked.gap} cases left out between them" if asked.gap else ""
    advice = (
        "where a case is known only some time after it happened, give a gap, so that no method learns from "
        "what is not known yet"
    )
    moving = "windows move on with the blocks, as a method does that is trained anew from time to time"
    return (
        f"forward in time, by {order}: the last {test} cases are tested in {blocks} blocks, each by what is "
        f"learnt from the {size} cases before it{gap}",
        moving if asked.gap else advice,
    )


def _in_groups(known: CasesKnown) -> str:
    return "" if known.groups is None else f" in {len(known.groups)} groups"


# The sets that a choice stands for


def fold_lists(
    choice: DesignChoice,
    case_numbers: Rows,
    *,
    seed_names: Sequence[str | int],
    classes: Rows | None = None,
    commonality: Rows | None = None,
) -> list[CaseLists]:
    """Training and test cases of every fold of every repetition; `classes` are needed to stratify."""
    if choice.stratify and classes is None:
        raise SpecError("stratify = true needs a target with classes: leave it out to predict numbers")
    return [
        pair
        for repetition in range(choice.repetitions)
        for pair in cross_validation_lists(
            case_numbers,
            choice.folds,
            (*seed_names, repetition),
            classes=classes if choice.stratify else None,
            commonality=commonality,
        )
    ]


def windows(
    choice: DesignChoice, size: int, case_count: int, moments: NDArray[np.datetime64] | None = None
) -> tuple[Instance, ...]:
    """Forward in time: blocks of test cases at the end, each with the window of `size` cases before its gap.

    Cases are in the order of time. Blocks begin where the date changes, so that no date is in both.

    >>> choice = DesignChoice("time", (4,), test_set_size=6, instances=2, gap=1)
    >>> [(one.training.tolist(), one.testing.tolist()) for one in windows(choice, 4, 12)]
    [([1, 2, 3, 4], [6, 7, 8]), ([4, 5, 6, 7], [9, 10, 11])]
    """
    first, blocks = case_count - choice.test_set_size, choice.instances
    edges = first + np.arange(blocks + 1) * choice.test_set_size // blocks
    if moments is not None:
        starts = np.flatnonzero(np.concatenate([[True], moments[1:] != moments[:-1]]))
        places = np.searchsorted(starts, edges[:-1])
        edges = np.append(np.append(starts, case_count)[places], case_count)
    if (np.diff(edges) < 1).any():
        raise SpecError(
            f"the last {choice.test_set_size} cases have too few different dates for {blocks} blocks: choose "
            "fewer blocks (instances in the description), or more test cases"
        )
    ends = edges[:-1] - choice.gap
    pairs = zip(ends, edges[:-1], edges[1:], strict=True)
    return tuple(
        Instance(number, np.arange(end - size, end), np.arange(start, stop))
        for number, (end, start, stop) in enumerate(pairs)
    )
