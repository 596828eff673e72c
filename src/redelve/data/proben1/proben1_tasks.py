"""PROBEN1's problems as assignments: what every method of redelve can be set to work on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from redelve.data.files import StrPath
from redelve.data.proben1.data_sources import Origin
from redelve.data.proben1.dt_attributes import (
    Targets,
    input_column,
    real_input,
    real_targets,
    targets_of,
)
from redelve.data.proben1.dt_files import DtFile, number_text
from redelve.data.proben1.number_sets import (
    Proben1Problem,
    constant_inputs,
    lacking_classes,
    load,
    partition,
    twins,
)
from redelve.data.proben1.problem_names import DATASETS, PERMUTATIONS, WITHOUT_VALIDATION, Variant
from redelve.data.proben1.problem_names import QUARTERS as QUARTERED
from redelve.data.tables.table_columns import legal_name
from redelve.errors import SpecError
from redelve.model import (
    Assignment,
    Attribute,
    AttributePrior,
    Cases,
    Column,
    Dataset,
    DatasetSpec,
    Instance,
    Prior,
    Prototask,
    Task,
    extract,
)
from redelve.model.prototask import VALIDATION

ONE_PARTITION = (
    "one training set and one test set, as PROBEN1 gives them: runs with different seeds tell how much "
    "the seed matters on this partition, and nothing of other training sets"
)
REORDERED = (
    "{name} takes the sets from the file of {file} in another order: such variants are not independent of "
    "each other (PROBEN1, 2.3)"
)
IN_TIME = "the examples are in their original order, not in a random one: the test set comes last"
OVERLAPPING = (
    "the three permutations divide the same cases: their training sets overlap and cases train in one and "
    "test in another; the corrected resampled t-test (Nadeau and Bengio 2003) allows for that, approximately"
)

QUARTERS = (
    "the orders a, b, d and e of one file: training sets overlap, and every quarter tests once; no unbiased "
    "standard error exists, and the corrected one that is used is approximate"
)


def assignment(
    source: StrPath, *, order: str | None = None, folder: StrPath | None = None, as_numbers: bool = False
) -> Assignment:
    """The task of a name such as `glass1d`, or of a .dt file of your own, with its one training and test set.

    The training set is PROBEN1's training and validation set, in this order: a method that needs a
    validation set takes the last cases of it (`validation_size` tells how many). With `as_numbers`, all
    inputs and outputs are real, as PROBEN1's own networks have them: classes are outputs of 0 and 1.
    """
    file, name, letter, variant = load(source, order=order, folder=folder)
    return assignment_of(file, name=name, order=letter, variant=variant, as_numbers=as_numbers)


def numbers_and_origin(source: StrPath) -> tuple[Assignment, Origin]:
    """The task of a name or a .dt file, all of it numbers, and where its data come from, found at once."""
    file, name, letter, variant = load(source)
    task = assignment_of(file, name=name, order=letter, variant=variant, as_numbers=True)
    return task, "rebuilt" if file.is_rebuilt else "own file"


def named(name: str, *, folder: StrPath | None = None) -> Assignment:
    """The task of a name as it stands after `proben1:` in an address.

    `glass1` and `glass1d` are one partition, `glass` the three permutations and `glass1-quarters` the four
    orders that differ without a validation set.
    """
    if name in DATASETS:
        return permutations(name, folder=folder)
    if name.endswith(f"-{QUARTERED}"):
        return quarters(name.removesuffix(f"-{QUARTERED}"), folder=folder)
    return assignment(name, folder=folder)


def assignment_of(
    file: DtFile,
    *,
    name: str,
    order: str = "a",
    variant: Variant | None = None,
    as_numbers: bool = False,
) -> Assignment:
    """The task in a .dt file that has been read or made."""
    parts = partition(file, order)
    _check_learnable(parts, name)
    nouns = _Nouns(file, legal_name(name), variant, as_numbers)
    rows = np.concatenate([part.rows for part in parts])
    trained = len(parts.training) + len(parts.validation)
    instance = Instance(0, np.arange(trained), np.arange(trained, len(rows)))
    made = nouns.assignment((instance,), rows, extra=((VALIDATION, str(len(parts.validation))),))
    notes = [ONE_PARTITION]
    if order != "a":
        notes.append(REORDERED.format(name=name, file=variant.file if variant else file.source))
    if variant is not None and variant.dataset.order_kept and variant.permutation == 1:
        notes.append(IN_TIME)
    return replace(made, notes=(*notes, *nouns.notes(parts)))


def _check_learnable(parts: Proben1Problem, name: str) -> None:
    """Refuse what no method can learn, or be assessed by."""
    if not len(parts.test):
        raise SpecError(f"{name}: test_examples is 0, so there is nothing to assess a method by")
    seen = parts.training_data
    if (seen.inputs == seen.inputs[0]).all():
        raise SpecError(
            f"{name}: every input is constant in the training data: nothing can be learnt from them; "
            "shuffle the examples, or give other inputs"
        )
    if (seen.outputs == seen.outputs[0]).all():
        only = " ".join(number_text(value) for value in seen.outputs[0].tolist())
        raise SpecError(
            f"{name}: all {len(seen)} training and validation examples have the outputs {only}: shuffle the "
            "examples, so that the training data have cases of every class"
        )


def validation_size(given: Assignment) -> int:
    """How many of the last training cases PROBEN1 sets apart for validation; 0 for other tasks."""
    return int(dict(given.task.prototask.extra).get(VALIDATION, "0"))


def quarters(source: StrPath, *, folder: StrPath | None = None) -> Assignment:
    """The orders a, b, d and e of a file as four instances: each tests one quarter, as in cross-validation.

    These are the orders that differ when no validation set is used (section 2.3).
    """
    file, name, _, variant = load(source, folder=folder)
    name = name if variant is None else variant.file
    if not file.header.has_standard_sizes:
        raise SpecError(
            f"{name}: its sets have {file.header.sizes} examples, not a half and two quarters of them"
        )
    nouns = _Nouns(file, legal_name(f"{name}-{QUARTERED}"), variant)
    instances = []
    for number, letter in enumerate(WITHOUT_VALIDATION):
        parts = partition(file, letter)
        _check_learnable(parts, f"{name}{letter}")
        instances.append(Instance(number, parts.training_data.rows, parts.test.rows))
    extra = ((VALIDATION, str(file.header.validation_examples)),)
    made = nouns.assignment(instances, np.arange(file.header.examples), extra=extra)
    notes = (QUARTERS, *file.cautions)
    return replace(made, scheme="cross-validation", notes=notes)


def permutations(dataset: str, *, folder: StrPath | None = None) -> Assignment:
    """The three permutations of a problem, such as `glass`, as three instances of one task.

    Their training and test sets overlap, so the scheme is that of random resamples.
    """
    if dataset not in DATASETS:
        raise SpecError(f'"{dataset}" is no problem of PROBEN1: it has {", ".join(DATASETS)}')
    if DATASETS[dataset].order_kept:
        raise SpecError(
            f"{dataset}1 has its examples in their original order, so it is no random division like "
            f"{dataset}2 and {dataset}3: assess them one by one"
        )
    files = [load(f"{dataset}{number}", folder=folder)[0] for number in PERMUTATIONS]
    nouns = _Nouns(files[0], dataset, Variant(DATASETS[dataset], 1))
    instances: list[Instance] = []
    for number, file in enumerate(files):
        rows, trained = _same_cases(files[0], file), sum(file.header.sizes[:2])
        instances.append(Instance(number, rows[:trained], rows[trained:]))
    extra = ((VALIDATION, str(files[0].header.validation_examples)),)
    made = nouns.assignment(instances, np.arange(files[0].header.examples), extra=extra)
    notes = (OVERLAPPING, *nouns.notes(partition(files[0])))
    return replace(made, scheme="cross-validation", repetitions=len(files), notes=notes)


def _same_cases(first: DtFile, other: DtFile) -> NDArray[np.int64]:
    """For each example of `other` the row that it has in `first`; of equal examples each is taken once."""
    places: dict[bytes, list[int]] = defaultdict(list)
    for row, values in enumerate(np.hstack([first.inputs, first.outputs])):
        places[values.tobytes()].append(row)
    try:
        found = [places[values.tobytes()].pop(0) for values in np.hstack([other.inputs, other.outputs])]
    except IndexError:
        raise SpecError(f"{other.source} does not hold the same examples as {first.source}") from None
    return np.array(found, dtype=np.int64)


@dataclass(frozen=True)
class _Nouns:
    """Attributes, prior and cases made of a file."""

    file: DtFile
    name: str
    variant: Variant | None
    as_numbers: bool = False

    @cached_property
    def _targets(self) -> Targets:
        return real_targets(self.file) if self.as_numbers else targets_of(self.file)

    @cached_property
    def _inputs(self) -> tuple[tuple[Attribute, Column, AttributePrior], ...]:
        made = real_input if self.as_numbers else input_column
        return tuple(made(number, values) for number, values in enumerate(self.file.inputs.T, start=1))

    def assignment(
        self, instances: Sequence[Instance], rows: NDArray[np.int64], *, extra: tuple[tuple[str, str], ...]
    ) -> Assignment:
        """The task with the file's examples in the order of `rows`; notes and scheme are for the caller."""
        dataset, prior, targets = self._dataset(), self._prior(), self._targets
        inputs = self.file.header.inputs
        prototask = Prototask(
            name=targets.name,
            dataset=self.name,
            inputs=tuple(range(1, inputs + 1)),
            targets=tuple(range(inputs + 1, inputs + 1 + len(targets.columns))),
            origin=dataset.spec.origin,
            test_set_size=len(instances[0].testing),
            training_set_sizes=(len(instances[0].training),),
            maximum_instances=len(instances),
            extra=extra,
        )
        data = extract(dataset, prototask, order=(rows + 1).tolist())
        task = Task(prototask, prior, len(instances[0].training))
        return Assignment(dataset.spec, task, data, tuple(instances), "hierarchical")

    def _dataset(self) -> Dataset:
        inputs, first = self._inputs, len(self._inputs) + 1
        targets = [one.attribute(first + place) for place, one in enumerate(self._targets.columns)]
        columns = [*(column for _, column, _ in inputs), *(one.column for one in self._targets.columns)]
        spec = DatasetSpec(
            self.name,
            (*(attribute for attribute, _, _ in inputs), *targets),
            origin=self._origin,
            usage="assessment" if self.variant is None else "historical",
            order="uninformative" if self.variant and not self._is_in_time else "?",
            title=self.variant.dataset.title if self.variant else None,
        )
        return Dataset(spec, Cases(tuple(columns), self.file.header.examples))

    @property
    def _origin(self) -> str:
        return "artificial" if self.variant and self.variant.dataset.name == "mushroom" else "natural"

    @property
    def _is_in_time(self) -> bool:
        return self.variant is not None and self.variant.dataset.order_kept and self.variant.permutation == 1

    def _prior(self) -> Prior:
        first = len(self._inputs) + 1
        believed = [prior for _, _, prior in self._inputs]
        believed += [one.prior(first + place) for place, one in enumerate(self._targets.columns)]
        return Prior("std", tuple(believed))

    def notes(self, parts: Proben1Problem) -> tuple[str, ...]:
        """What is unusual about the file, and about this way to divide it."""
        found = [*self.file.cautions, *self._targets.cautions, *constant_inputs(parts)]
        if self._targets.name == "class":
            found += lacking_classes(parts)
        return (*found, *twins(parts))
