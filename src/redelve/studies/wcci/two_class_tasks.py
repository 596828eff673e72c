"""The problems as tasks: training sets are instances, each with test cases of its own."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from redelve.model import (
    Assignment,
    Attribute,
    AttributePrior,
    Cases,
    Column,
    DatasetSpec,
    Instance,
    NumberColumn,
    Prior,
    Prototask,
    PrototaskData,
    Task,
    parse_range,
    written,
)
from redelve.model.dataset import Rows
from redelve.studies.wcci.two_class_problems import LABELS, PROBLEMS, Inputs, Pool, Sample, TwoClassProblem

TARGET = "class"
ANY_LEVEL = "NLMH"


@lru_cache(maxsize=16)
def task_of(name: str, instances: int) -> Assignment:
    """A problem's task with so many training sets."""
    problem = PROBLEMS[name]
    cut = _from_pool(problem, instances) if isinstance(problem, Pool) else _drawn(problem, instances)
    data, drawn = _data(cut[0]), cut[1]
    attributes = data.inputs + data.targets
    numbers, origin = (
        [one.number for one in attributes],
        "natural" if isinstance(problem, Pool) else "artificial",
    )
    spec = DatasetSpec(name, attributes, origin, "assessment", "uninformative", title=problem.about)
    prior = (*(AttributePrior(number, ANY_LEVEL, "real") for number in numbers[:-1]),)
    prior = (*prior, AttributePrior(numbers[-1], ANY_LEVEL, "binary"))
    prototask = Prototask(
        name=TARGET,
        dataset=name,
        inputs=tuple(numbers[:-1]),
        targets=(numbers[-1],),
        origin=origin,
        test_set_size=len(drawn[0].testing),
        training_set_sizes=(problem.training_cases,),
        maximum_instances=instances,
    )
    task = Task(prototask, Prior("std", prior), problem.training_cases)
    return Assignment(spec, task, data, drawn, "hierarchical")


def _data(sample: Sample) -> PrototaskData:
    table = _dense(sample.inputs)
    count, width = table.shape
    inputs = tuple(
        Attribute(number, f"in{number}", "?", parse_range("(-Inf,Inf)")) for number in range(1, width + 1)
    )
    target = Attribute(width + 1, TARGET, "?", parse_range(" ".join(map(str, LABELS))))
    columns: list[Column] = [NumberColumn(np.ascontiguousarray(column)) for column in table.T]
    columns.append(written(map(str, sample.labels.tolist())))
    return PrototaskData(inputs, (target,), Cases(tuple(columns), count), np.arange(1, count + 1))


def _from_pool(problem: Pool, instances: int) -> tuple[Sample, tuple[Instance, ...]]:
    every = problem.cases()
    rows = np.arange(len(every.labels))
    chosen = [problem.rows(number) for number in range(instances)]
    return every, tuple(Instance(number, own, np.setdiff1d(rows, own)) for number, own in enumerate(chosen))


def _drawn(problem: TwoClassProblem, instances: int) -> tuple[Sample, tuple[Instance, ...]]:
    """The sets of all instances one after the other."""
    samples = [part(number) for number in range(instances) for part in (problem.training, problem.testing)]
    edges = np.cumsum([0, *(len(one.labels) for one in samples)])
    rows: list[Rows] = [np.arange(*pair) for pair in pairwise(edges)]
    inputs = np.concatenate([_dense(one.inputs) for one in samples])
    every = Sample(inputs, np.concatenate([one.labels for one in samples]))
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return every, tuple(Instance(number, *pair) for number, pair in enumerate(pairs))


def _dense(inputs: Inputs) -> Inputs:
    return inputs.toarray() if hasattr(inputs, "toarray") else inputs
