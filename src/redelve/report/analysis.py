"""From loss files to summaries: which losses belong together, and which analysis is valid for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redelve.answers.baselines import matrix_baseline, with_penalty
from redelve.answers.losses import STANDARD, Loss, MatrixLoss
from redelve.answers.predictions import Truth, target_of, truth_of
from redelve.data.delve.figure_files import read_losses, read_test_set_stats
from redelve.data.delve.method_tasks import MethodTask
from redelve.errors import LocationError, StatisticsError
from redelve.model.designs import commonality_units, describe, prototask_caveats
from redelve.report.summary import Circumstances, Summary
from redelve.stats import anova, seed_runs
from redelve.stats.estimates import Analysis, Comparison
from redelve.stats.standardise import StandardLoss
from redelve.stats.units import pool_units

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class FileDesign:
    """What the analysis must know of the instances: how test sets relate, which cases are dependent."""

    scheme: str
    training_set_size: int | None
    units: Sequence[NDArray[np.int64]] | None = None
    caveats: tuple[str, ...] = ()
    training_sets: str = "disjoint"
    test_sets: str = "disjoint"

    @property
    def unit_count(self) -> int | None:
        """How many independent units the test sets hold, where cases share commonality indexes."""
        if self.units is None:
            return None
        return len({label for labels in self.units for label in labels.tolist()})


def design_of(work: MethodTask) -> FileDesign:
    """The design of a method's instances; cases are read only where it cannot be told without them."""
    source, prototask = work.source, work.source.task.prototask
    size = source.task.training_set_size
    if work.case_lists is None and not source.dataset.has_commonality:
        return FileDesign(prototask.test_set_selection, size, caveats=prototask_caveats(prototask))
    instances = source.instances(work.case_lists)
    facts = describe(instances, source.commonality, dependency_range=prototask.dependency_range)
    scheme = "common" if facts.test_sets == "common" else "hierarchical"
    units = commonality_units(instances, source.commonality) if source.commonality is not None else None
    common_size = len(instances[0].training) if facts.equal_training_sizes else None
    caveats = (*facts.caveats(), *prototask_caveats(prototask))
    return FileDesign(scheme, common_size, units, caveats, facts.training_sets, facts.test_sets)


def loss_codes(work: MethodTask, base: str = "loss") -> list[str]:
    """The codes of the losses that have files, standard ones first."""
    pattern = re.compile(rf"{re.escape(base)}\.(.+)\.(0|[1-9][0-9]*)")
    found = {match[1] for name in work.names if (match := pattern.fullmatch(name))}
    return [code for code in STANDARD if code in found] + sorted(found - set(STANDARD))


def load_losses(work: MethodTask, code: str, base: str = "loss") -> list[Numbers]:
    """The losses of every instance; instances count from 0 without gaps."""
    pattern = re.compile(rf"{re.escape(base)}\.{re.escape(code)}\.(0|[1-9][0-9]*)")
    numbers = sorted(int(match[1]) for name in work.names if (match := pattern.fullmatch(name)))
    if not numbers:
        raise LocationError(f'no loss files "{base}.{code}.*" under "{work.address}": run mloss first')
    if numbers != list(range(len(numbers))):
        absent = min(set(range(numbers[-1])) - set(numbers))
        raise LocationError(
            f'loss file "{base}.{code}.{absent}" is missing under "{work.address}": run mloss'
        )
    rows = [_read_losses(work, f"{base}.{code}.{number}") for number in numbers]
    _check_sizes(work, f"{base}.{code}.*", [len(row) for row in rows])
    return rows


def _check_sizes(work: MethodTask, names: str, sizes: list[int]) -> None:
    """Refuse losses that cannot all be of the task's present instances."""
    listed = [len(testing) for _, testing in work.case_lists or ()]
    known = len(listed) or sum(re.fullmatch(r"normalize\.\d+", name) is not None for name in work.names)
    if known and len(sizes) > known:
        raise StatisticsError(
            f'{work.address} has {known} instances but {len(sizes)} loss files "{names}": '
            "remove those left over from other instances, and run mloss again"
        )
    if sizes != (listed or sizes[:1] * len(sizes))[: len(sizes)]:
        expected = f"as long as the test sets ({_words(listed)})" if listed else "equally long"
        raise StatisticsError(
            f'the loss files "{names}" of {work.address} are not {expected}: {_words(sizes)}'
        )


def _words(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def _read_losses(work: MethodTask, name: str) -> Numbers:
    path = work.find(name)
    assert path is not None
    return read_losses(path)


def standard_of(work: MethodTask, loss: Loss) -> StandardLoss:
    """How a loss is standardised on a task: by the loss of the best constant answer (manual 8.3)."""
    if isinstance(loss, MatrixLoss):
        (truth,) = test_truths(work)
        return StandardLoss(matrix_baseline(loss.matrix(truth.target), truth))
    found = work.read("Test-set-stats")
    if found is None:
        return StandardLoss(None)
    stats = read_test_set_stats(*found, len(work.source.task.prototask.targets))
    entries = [with_penalty(loss, entry) for entry in stats.get(loss.code[0], (None,))]
    known = [entry for entry in entries if entry is not None]
    total = sum(known) if len(known) == len(entries) else None
    if loss.code == "L":  # the file has log probabilities
        return StandardLoss(None if total is None else -total, is_shift=True)
    return StandardLoss(total)


def test_truths(work: MethodTask) -> list[Truth]:
    """The true targets of all test cases in use, each case once."""
    source = work.source
    rows = np.unique(np.concatenate([instance.testing for instance in source.instances(work.case_lists)]))
    prior, data = source.task.prior, source.data
    columns = data.cases.columns[len(data.inputs) :]
    return [
        truth_of(target_of(attribute, prior.attribute(attribute.number)), column.texts()[rows])
        for attribute, column in zip(data.targets, columns, strict=True)
    ]


def summarise(
    work: MethodTask, loss: Loss, *, bases: Sequence[str] = ("loss",), other: MethodTask | None = None
) -> Summary:
    """The summary of one method's losses, or of their differences from another method's.

    Several bases are several runs with different seeds on the same instances; the other method may have
    fewer of them.
    """
    design = design_of(work)
    tables = [[load_losses(work, loss.code, base) for base in bases]]
    if other is not None:
        there = [base for base in bases if loss.code in loss_codes(other, base)] or bases[:1]
        tables.append([load_losses(other, loss.code, base) for base in there])
    if other is not None:
        _check_same_instances(work, other, loss, tables)
    pooled = [[_pooled(rows, design) for rows in table] for table in tables]
    first = tables[0][0]
    sizes = {len(row) for row in first}
    address = work.address
    about = Circumstances(
        address=str(address),
        loss_code=loss.code,
        loss_name=loss.name,
        method=address.method or "",
        scheme=design.scheme,
        training_sets=len(first),
        training_set_size=design.training_set_size,
        training_sets_are=design.training_sets,
        test_sets_are=design.test_sets,
        runs=len(bases),
        test_cases=sizes.pop() if len(sizes) == 1 else None,
        standard=standard_of(work, loss),
        units=design.unit_count,
        caveats=design.caveats,
        other=None if other is None else other.address.method,
    )
    return Summary(about, _analysis(pooled, design.scheme))


def _pooled(rows: list[Numbers], design: FileDesign) -> list[Numbers]:
    if design.units is None:
        return rows
    return pool_units(rows, design.units[0] if design.scheme == "common" else design.units[: len(rows)])


def _analysis(
    tables: list[list[list[Numbers]]], scheme: str
) -> Analysis | Comparison | seed_runs.RunsAnalysis:
    """The analysis that fits: one or two methods, one or several runs, common test set or not."""
    is_repeated = any(len(table) > 1 for table in tables)
    arranged = [_by_instance(table) if is_repeated else table[0] for table in tables]
    kind = ("runs_" if is_repeated else "") + scheme
    module = seed_runs if is_repeated else anova
    verb = "analyse" if len(tables) == 1 else "compare"
    result: Analysis | Comparison | seed_runs.RunsAnalysis = getattr(module, f"{verb}_{kind}")(*arranged)
    return result


def _by_instance(table: list[list[Numbers]]) -> list[Numbers]:
    """Losses by run, then instance, turned into one table of runs by cases per instance."""
    counts = {len(rows) for rows in table}
    if len(counts) > 1:
        raise StatisticsError(
            f"the runs have different numbers of instances: {' '.join(map(str, sorted(counts)))}"
        )
    for instance in zip(*table, strict=True):
        if len({len(row) for row in instance}) > 1:
            raise StatisticsError("the runs have different numbers of test cases on the same instance")
    return [np.stack(instance) for instance in zip(*table, strict=True)]


def _check_same_instances(
    work: MethodTask, other: MethodTask, loss: Loss, tables: list[list[list[Numbers]]]
) -> None:
    if work.case_lists != other.case_lists:
        raise StatisticsError(
            f"{work.address.method} and {other.address.method} were run on different instances of "
            f"{work.address.data}: only losses on the same training and test sets can be compared"
        )
    shapes = [[len(row) for row in table[0]] for table in tables]
    if shapes[0] != shapes[1]:
        raise StatisticsError(
            f"{work.address.method} has {_shape(shapes[0])} of loss {loss.code}, {other.address.method} "
            f"{_shape(shapes[1])}: run mgendata and mloss for both on the same instances"
        )


def _shape(sizes: list[int]) -> str:
    return f"{len(sizes)} instances with {' '.join(map(str, sorted(set(sizes))))} losses"
