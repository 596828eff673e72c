"""The nouns of a described table: dataset, prototask, prior, and an assignment for each training-set size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from redelve.data.tables.dates import AT_RANDOM, Moments, dates_in
from redelve.data.tables.description import ColumnDescription, Description
from redelve.data.tables.first_look import DesignChoice, choose_design
from redelve.data.tables.named_designs import CasesKnown, completed, fold_lists, windows
from redelve.data.tables.table_columns import (
    Coded,
    ColumnFacts,
    attribute_names,
    coded_column,
    former_name,
    legal_name,
)
from redelve.errors import SpecError
from redelve.model import (
    CATEGORICAL,
    Assignment,
    Attribute,
    AttributePrior,
    Cases,
    Dataset,
    DatasetSpec,
    DependencyPrior,
    Instance,
    OwnTable,
    Prior,
    Prototask,
    PrototaskData,
    Task,
    extract,
)
from redelve.model.dataset import Numbers, Rows
from redelve.model.designs import (
    DesignFacts,
    describe,
    draw,
    explicit_instances,
    nest,
    random_order,
    random_order_of_groups,
)
from redelve.model.designs.dependence import group_labels
from redelve.seeds import seed

ANY_LEVEL = "NLMH"
STANDARD, SHARED = "standard", "shared"
"""Random orders: one for each name of a table, and one for all tables of as many rows."""
NAMELESS = "data"
"""What frames are called that nobody names: they and files without a name of their own have the same sets."""
ROWS_HASHED = 2**15
ODD, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
DELVE_SEEDS = 900_000_000
FOLDS = (
    "folds: training sets overlap, and every case trains for the others' tests; no unbiased standard error "
    "exists, and the corrected one that is used is approximate"
)
FOLDS_OF_GROUPS = (
    "folds of whole groups: training sets overlap, and every group trains for the others' tests; standard "
    "errors count groups, not cases, and allow for what is shared"
)
FORWARD = (
    "forward in time: windows of training cases overlap and hold earlier test blocks, and neighbouring "
    "blocks may depend on each other; standard errors count blocks and allow for the overlap, and are "
    "approximate"
)
LOOKS_AHEAD = f'{AT_RANDOM}give design="time" (--design time)'
REPEATED = (
    "folds are drawn several times: in simulations a 5 % test then found a difference where there was none "
    "in up to 13 % of comparisons of methods that follow every case; with repetitions = 1 in 6 % or less"
)


def dates_noted(notes: Sequence[str]) -> tuple[str, ...]:
    """The columns of dates that notes of a design name, because it does not look at them.

    >>> dates_noted([FORWARD, LOOKS_AHEAD.format(name="day")])
    ('day',)
    """
    start, end = LOOKS_AHEAD.split("{name}")
    said = (note for note in notes if note.startswith(start) and note.endswith(end))
    return tuple(note.removeprefix(start).removesuffix(end) for note in said)


@dataclass(frozen=True)
class TableNouns:
    """The columns of a table, rows without target left out, and what each of them is."""

    facts: tuple[ColumnFacts, ...]
    description: Description
    own: OwnTable | None = None

    @cached_property
    def used(self) -> tuple[tuple[ColumnDescription, Coded], ...]:
        """The columns that become attributes, in the table's order."""
        pairs = zip(self.facts, self.description.columns, strict=True)
        used = [(said, coded_column(facts, said)) for facts, said in pairs if said.use in ("input", "target")]
        if len(used) < 2 and not any(said.in_frame for said in self.description.columns):
            raise SpecError(
                "no column is left as an input: the table needs another column than the target, or the "
                'description use = "input" for one that is ignored'
            )
        return tuple(used)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return attribute_names([said.name for said, _ in self.used])

    @property
    def count(self) -> int:
        """The number of cases."""
        return len(self.facts[0].column)

    @cached_property
    def commonality(self) -> Rows | None:
        """The group of each case, if a column tells it."""
        for facts, said in zip(self.facts, self.description.columns, strict=True):
            if said.use == "group":
                if not facts.known:
                    facts.fail("is to tell the groups but has no values: choose another column")
                return facts.coded[0]
        return None

    @cached_property
    def classes(self) -> Rows | None:
        """The class of each case, where classes are predicted."""
        said, coded = next(pair for pair in self.used if pair[0].use == "target")
        return coded.places if said.type in CATEGORICAL else None

    @property
    def target(self) -> ColumnDescription:
        """What is said of the target."""
        return next(said for said, _ in self.used if said.use == "target")

    @cached_property
    def dataset(self) -> Dataset:
        """All cases with a known target, in the order of the table."""
        attributes = tuple(
            Attribute(number, self.names[number - 1], "?", coded.range, self._remark(number - 1))
            for number, (_, coded) in enumerate(self.used, start=1)
        )
        spec = DatasetSpec(
            self.description.name or "data",
            attributes,
            origin=self.description.origin,
            usage="assessment",
            order="?",
            has_commonality=self.commonality is not None,
        )
        columns = tuple(coded.column for _, coded in self.used)
        return Dataset(spec, Cases(columns, self.count, self.commonality))

    def _remark(self, place: int) -> str:
        """What an attribute and its values are called in the table, where that is different."""
        said, coded = self.used[place]
        parts = [f'"{said.name}" in the table'] if said.name != self.names[place] else []
        parts += [f'{text} is "{level}"' for level, text in coded.renamed.items()]
        return " ".join("; ".join(parts).split())

    @property
    def renamed(self) -> tuple[str, ...]:
        """Notes on names and values that are written otherwise."""
        remarks = ((name, self._remark(place)) for place, name in enumerate(self.names))
        return tuple(f"attribute {name}: {remark}" for name, remark in remarks if remark)

    @cached_property
    def design(self) -> DesignChoice:
        """The design described, or else the one that suits the cases.

        The sets of a nameless table do not depend on the name of its file.
        """
        counts, sizes = self._class_counts(), self._group_sizes()
        asked = self.description.design
        usual = choose_design(self.count, class_counts=counts, group_sizes=sizes)
        if asked is None or replace(asked, order=usual.order) == usual:  # its file is read anew
            made = usual if asked is None else replace(asked, reasons=usual.reasons)
        else:
            made = completed(self._dated(asked), CasesKnown(self.count, counts, sizes))
        return (
            replace(made, order=SHARED) if self.description.is_nameless and made.order == STANDARD else made
        )

    @property
    def _seed_names(self) -> tuple[str, str]:
        """What the random sets depend on."""
        if self.design.order == SHARED:
            return NAMELESS, STANDARD
        return former_name(self.dataset.spec.name), self.design.order

    def _dated(self, asked: DesignChoice) -> DesignChoice:
        """The design with the column that tells the time, where it is the only one of dates."""
        if not asked.is_forward or asked.by is not None or not self.dates:
            return asked
        if len(self.dates) > 1:
            listed = ", ".join(self.dates)
            raise SpecError(
                f'columns {listed} hold dates: say which, as in design="time by {next(iter(self.dates))}"'
            )
        return replace(asked, by=next(iter(self.dates)))

    @cached_property
    def dates(self) -> dict[str, Moments]:
        """The columns of dates that are no inputs, with the date of each case."""
        pairs = zip(self.facts, self.description.columns, strict=True)
        found = {facts.name: dates_in(facts) for facts, said in pairs if said.use == "ignore"}
        return {name: moments for name, moments in found.items() if moments is not None}

    @cached_property
    def moments(self) -> Moments | None:
        """The date of each case, forward in time by a column of dates."""
        if not self.design.is_forward or self.design.by is None:
            return None
        if self.design.by not in self.dates:
            known = f"columns of dates are {', '.join(self.dates)}" if self.dates else "no column holds dates"
            raise SpecError(
                f'column "{self.design.by}" is to tell the time, but {known}: write dates like 2024-12-31, '
                'or leave the column out, if the rows are in the order of time, as design="time"'
            )
        moments = self.dates[self.design.by]
        if np.isnat(moments).any():
            count = int(np.isnat(moments).sum())
            raise SpecError(
                f'column "{self.design.by}" lacks {count} dates: leave these rows out or fill them in'
            )
        return moments

    def _class_counts(self) -> dict[str, int] | None:
        if self.classes is None:
            return None
        levels = self.target.levels or ()
        counts = np.bincount(self.classes, minlength=len(levels)).tolist()
        return {level: count for level, count in zip(levels, counts, strict=True) if count}

    def _group_sizes(self) -> list[int] | None:
        if self.commonality is None:
            return None
        sizes: list[int] = np.unique(group_labels(self.commonality, self.count), return_counts=True)[
            1
        ].tolist()
        return sizes

    @cached_property
    def prototask(self) -> Prototask:
        """Which attributes are inputs, which is the target, and how instances are drawn."""
        numbered = list(enumerate((said for said, _ in self.used), start=1))
        plain = Prototask(
            name=legal_name(self.target.name, "target"),
            dataset=self.dataset.spec.name,
            inputs=tuple(number for number, said in numbered if said.use == "input"),
            targets=tuple(number for number, said in numbered if said.use == "target"),
            origin=self.description.origin,
            test_set_size=self.design.test_set_size,
            training_set_sizes=tuple(sorted(self.design.training_set_sizes)),
            maximum_instances=self.design.instances,
            order="Random-order",
            test_set_selection="common" if self.design.selection == "common" else "hierarchical",
        )
        if self.design.is_forward:
            return replace(plain, order="retain" if self.design.by is None else "Time-order")
        return self._folded(plain) if self.design.is_cross_validation else plain

    def _folded(self, plain: Prototask) -> Prototask:
        tested = -(-self.count // self.design.folds)
        return replace(
            plain,
            test_set_size=tested,
            training_set_sizes=(self.count - tested,),
            maximum_instances=self.design.folds * self.design.repetitions,
            order="retain",
            test_set_selection="hierarchical",
        )

    @cached_property
    def prior(self) -> Prior:
        """Any relevance and any noise level is thought possible."""
        attributes = tuple(
            AttributePrior(number, ANY_LEVEL, said.type or "real", unit=said.unit)
            for number, (said, _) in enumerate(self.used, start=1)
        )
        return Prior("std", attributes, None if self.commonality is None else DependencyPrior(ANY_LEVEL))

    @cached_property
    def order(self) -> Rows | None:
        """The random order of the cases, or that of time, from 1; None where they stay as they are."""
        if self.design.is_cross_validation:
            return None
        if self.design.is_forward:
            return None if self.moments is None else np.argsort(self.moments, kind="stable") + 1
        number = seed("order", *self._seed_names) % DELVE_SEEDS
        if self.commonality is None:
            return random_order(self.count, number)
        return random_order_of_groups(self.commonality, number)

    @cached_property
    def data(self) -> PrototaskData:
        """The cases in that order."""
        return extract(self.dataset, self.prototask, order=self.order)  # type: ignore[arg-type]

    def assignment(self, size: int) -> Assignment:
        """The task with training sets of this size, its instances and what must be said of them."""
        instances = self._instances(size)
        facts = describe(instances[: self.design.folds or None], self.data.cases.commonality)
        said = facts.caveats()
        made = Assignment(
            self.dataset.spec,
            Task(self.prototask, self.prior, size),
            self.data,
            instances,
            "cross-validation" if self.design.is_nested else self.design.scheme,
            max(self.design.repetitions, 1),
            (
                *self._caveats(facts, said, instances),
                *self._class_notes(instances),
                *self._twin_notes(instances),
            ),
            own=self.own,
        )
        return nest(made) if self.design.is_nested else made

    def _instances(self, size: int) -> tuple[Instance, ...]:
        if self.design.is_forward:
            moments = None if self.moments is None else np.sort(self.moments)
            return windows(self.design, size, self.count, moments)
        return self._folds() if self.design.is_cross_validation else self._sets(size)

    def _caveats(
        self, facts: DesignFacts, said: tuple[str, ...], instances: Sequence[Instance]
    ) -> tuple[str, ...]:
        """What must be said of the design, and of dates that it does not look at."""
        if self.design.is_forward:
            return (FORWARD,)
        own = self._folds_caveats(facts, instances) if self.design.is_cross_validation else said
        return (*own, *(LOOKS_AHEAD.format(name=name) for name in self.dates))

    def _sets(self, size: int) -> tuple[Instance, ...]:
        commonality = self.data.cases.commonality
        return draw(self.prototask, size, self.count, commonality=commonality)

    def _folds(self) -> tuple[Instance, ...]:
        numbers = self.data.case_numbers
        lists = fold_lists(
            self.design,
            numbers,
            seed_names=self._seed_names,
            classes=self.classes,
            commonality=self.commonality,
        )
        return explicit_instances(self.prototask, numbers, lists, commonality=self.commonality)

    def _folds_caveats(self, facts: DesignFacts, instances: Sequence[Instance]) -> tuple[str, ...]:
        if _differ_by_one_at_most(instances):
            facts = replace(facts, equal_training_sizes=True, equal_test_sizes=True)
        facts = replace(facts, training_sets="disjoint", roles_mixed=False)  # said by FOLDS, and allowed for
        if facts.groups_within_tests:
            facts = replace(facts, groups_within_tests=False, equal_test_sizes=True)
            return (FOLDS_OF_GROUPS, *facts.caveats())
        return (FOLDS, *facts.caveats(), *[REPEATED] * (self.design.repetitions > 1))

    def _class_notes(self, instances: Sequence[Instance]) -> tuple[str, ...]:
        if self.classes is None:
            return ()
        classes = self.classes[self.data.case_numbers - 1]
        count = len(np.unique(classes))
        lacking = sum(len(np.unique(classes[instance.training])) < count for instance in instances)
        if not lacking:
            return ()
        return (f"{lacking} of {len(instances)} training sets have no case of some class",)

    def _twin_notes(self, instances: Sequence[Instance]) -> tuple[str, ...]:
        if self._identities is None:
            return ()
        same = self._identities[self.data.case_numbers - 1]
        tested = sum(len(instance.testing) for instance in instances)
        shared = sum(int(np.isin(same[one.testing], same[one.training]).sum()) for one in instances)
        if not shared:
            return ()
        return (
            f"{shared} of {tested} test cases have a twin, equal in every value, in their training set"
            ": if these are copies, losses are too low; leave copies out, or give them a common group",
        )

    @property
    def without_twins(self) -> Rows | None:
        """The first of all cases that are equal in every value; None if all cases differ."""
        return None if self._identities is None else np.unique(self._identities, return_index=True)[1]

    @cached_property
    def _identities(self) -> Rows | None:
        """A number for each case, equal for cases that are equal in every value; None if all cases differ."""
        columns = [coded.numbers if coded.places is None else coded.places for _, coded in self.used]
        marks = _row_marks([np.asarray(column, dtype=np.float64) for column in columns])
        ordered = np.sort(marks)
        return marks if (ordered[1:] == ordered[:-1]).any() else None


def _row_marks(columns: Sequence[Numbers]) -> Rows:
    """A hash of 64 bits for each row: equal for equal rows, and else with a chance of some 5e-20 a pair.

    Each step is one-to-one in the value and in what came before (xor, an odd factor, a shift), so rows that
    differ in one column alone never have the same.
    """
    count = len(columns[0])
    marks = np.empty(count, dtype=np.uint64)
    for start in range(0, count, ROWS_HASHED):
        part = marks[start : start + ROWS_HASHED]
        part[:] = len(columns)
        for column in columns:
            part ^= (column[start : start + ROWS_HASHED] + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0
            part *= ODD
            part ^= part >> HALF
    return marks.view(np.int64)


def _differ_by_one_at_most(instances: Sequence[Instance]) -> bool:
    sizes = [len(instance.testing) for instance in instances]
    return max(sizes) - min(sizes) <= 1
