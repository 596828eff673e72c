"""Do the probabilities of classes mean what they say? Reliability of every method on a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from redelve.answers.predictions import Target
from redelve.errors import StatisticsError, hint
from redelve.findings.by_method import outer_instances
from redelve.model.dataset import Numbers
from redelve.run.results import Record, Results, TaskFacts
from redelve.seeds import generator
from redelve.stats.multiple import holm
from redelve.stats.reliability import CalibrationTest, Reliability, reliability_diagram

if TYPE_CHECKING:
    import pandas as pd

Places = NDArray[np.int64]
LIKELIEST = "the likeliest class"


@dataclass(frozen=True, eq=False)
class MethodReliability:
    """A method's probabilities on a task beside what happened; each test case counts once."""

    method: str
    task: str
    outcome: str
    """What the probabilities are of: a class, or that the likeliest one is right."""
    diagram: Reliability
    adjusted_p_value: float | None = None
    """That of the test of calibration, which allows for all methods that are tested together."""

    @property
    def test(self) -> CalibrationTest | None:
        """The test by resampling; Spiegelhalter's where cases depend on each other."""
        return self.diagram.test or self.diagram.spiegelhalter


def reliability_of(
    results: Results, address: str, methods: Sequence[str] | None = None, level: str | None = None
) -> tuple[MethodReliability, ...]:
    """The reliability of all methods that gave probabilities, or of those named; results have answers."""
    facts = results.task(address)
    target = _class_target(facts, level)
    found = []
    for name in methods or results.methods:
        results.method(name)
        told = _told(results.of(name, address), facts, target, level)
        if told is None and methods is not None:
            raise StatisticsError(
                f"{name} gave no probabilities on {address}: a reliability diagram needs a method that has "
                "some, such as a classifier with predict_proba"
            )
        if told is not None:
            rng = generator("reliability", facts.digest, name, level or "")
            diagram = reliability_diagram(*told, rng=rng)
            found.append(MethodReliability(name, address, _outcome(target, level), diagram))
    if not found:
        raise StatisticsError(f"no method gave probabilities on {address}: there is nothing to calibrate")
    return _adjusted(found)


def _class_target(facts: TaskFacts, level: str | None) -> Target:
    targets = [target for target in facts.targets if target.levels]
    if len(targets) != 1 or len(facts.targets) != 1:
        raise StatisticsError(
            f"{facts.address} does not predict one class: reliability diagrams are for probabilities of "
            "classes"
        )
    if level is not None and level not in targets[0].levels:
        known = ", ".join(targets[0].levels)
        raise StatisticsError(
            f'"{level}" is no class of {targets[0].name}: it has {known}{hint(level, targets[0].levels)}'
        )
    return targets[0]


def _outcome(target: Target, level: str | None) -> str:
    if level is not None or len(target.levels) == 2:
        return f"{target.name} = {level or target.levels[1]}"
    return LIKELIEST


def _told(
    records: Sequence[Record], facts: TaskFacts, target: Target, level: str | None
) -> tuple[Numbers, Numbers, Places | None] | None:
    """Probabilities, outcomes and units of every case, the first time that it is tested."""
    seen: set[int] = set()
    parts = []
    for record in sorted(records, key=lambda one: (one.job.run, one.job.instance)):
        answer = record.answer
        if answer is None or answer.probabilities is None or record.fallback is not None:
            continue
        if record.job.instance >= outer_instances(facts):
            continue
        one = facts.instances[record.job.instance]
        new = np.array([number not in seen for number in one.case_numbers.tolist()], dtype=np.bool_)
        seen.update(one.case_numbers.tolist())
        said, happened = _said(answer.probabilities.values, one.truths[0].level_indexes, target, level)
        units = one.case_numbers if one.units is None else one.units
        parts.append((said[new], happened[new], units[new]))
    if not parts:
        return None
    said, happened, units = (np.concatenate(column) for column in zip(*parts, strict=True))
    return said, happened, None if np.unique(units).size == units.size else units


def _said(table: Numbers, truth: Places, target: Target, level: str | None) -> tuple[Numbers, Numbers]:
    """What was said of the outcome, and whether it came."""
    if level is None and len(target.levels) > 2:
        place = table.argmax(axis=1)
        return table[np.arange(len(table)), place], (place == truth).astype(np.float64)
    column = 1 if level is None else target.levels.index(level)
    return table[:, column], (truth == column).astype(np.float64)


def _adjusted(found: Sequence[MethodReliability]) -> tuple[MethodReliability, ...]:
    adjusted = holm([None if one.test is None else one.test.p_value for one in found])
    return tuple(replace(one, adjusted_p_value=p) for one, p in zip(found, adjusted, strict=True))


def reliability_frame(found: Sequence[MethodReliability]) -> pd.DataFrame:
    """A row for every method."""
    import pandas as pd

    return pd.DataFrame([_row(one) for one in found])


def _row(one: MethodReliability) -> dict[str, object]:
    diagram = one.diagram
    z = diagram.spiegelhalter
    return {
        "task": one.task,
        "method": one.method,
        "outcome": one.outcome,
        "cases": diagram.cases,
        "brier": diagram.brier,
        "miscalibration": diagram.miscalibration,
        "discrimination": diagram.discrimination,
        "uncertainty": diagram.uncertainty,
        "p_value": None if one.test is None else one.test.p_value,
        "adjusted_p_value": one.adjusted_p_value,
        "spiegelhalter_z": None if z is None else z.statistic,
        "spiegelhalter_p": None if z is None else z.p_value,
    }
