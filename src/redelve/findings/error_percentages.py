"""PROBEN1's error measures (section 2.6) of results that any method got: per cent, for every run.

Class probabilities stand for the outputs of a network with a 1-of-m code, so all outputs are in 0…1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from redelve.errors import SpecError
from redelve.model.dataset import Numbers
from redelve.run.results import Record, Results, TaskFacts
from redelve.stats.output_errors import HALF, STRICT, Thresholds, classification_error, classify

if TYPE_CHECKING:
    import pandas as pd

UNIT = (0.0, 1.0)


@dataclass(frozen=True)
class RunErrors:
    """The errors of one run on a test set, in per cent; None where the method's answer does not give them.

    `half` are thresholds of 0.5, `strict` those of 0.3 and 0.7; what is neither wrong nor rejected is right.
    """

    task: str
    method: str
    instance: int
    run: int
    squared_error_percentage: float | None
    classification_error: float | None
    half_wrong: float | None = None
    half_rejected: float | None = None
    strict_wrong: float | None = None
    strict_rejected: float | None = None


def run_errors(results: Results, *, output_range: tuple[float, float] = UNIT) -> tuple[RunErrors, ...]:
    """PROBEN1's errors of every job that came to an answer.

    Squared errors follow from the losses S (numbers) and Q (class probabilities) that are kept of every
    case; thresholds need the answers themselves. `output_range` is that of numerical targets.
    """
    if not output_range[0] < output_range[1]:
        low, high = output_range
        raise SpecError(f"the output range {low:g}…{high:g} is empty: give its least and its greatest value")
    done = [record for record in results.records if record.losses and record.fallback is None]
    return tuple(_errors(record, results.task(record.job.task), output_range) for record in done)


def errors_frame(results: Results, *, output_range: tuple[float, float] = UNIT) -> pd.DataFrame:
    """The same as a data frame, a row for each job."""
    import pandas as pd

    names = list(RunErrors.__dataclass_fields__)
    found = run_errors(results, output_range=output_range)
    return pd.DataFrame([asdict(one) for one in found], columns=names)


def _errors(record: Record, facts: TaskFacts, output_range: tuple[float, float]) -> RunErrors:
    job = record.job
    outputs, wanted = _outputs(record, facts)
    wrong = _percentage(record, "Z", 1.0) if _is_class(facts) else None
    verdicts: list[float | None] = []
    for thresholds in (HALF, STRICT):
        verdicts += _verdict(outputs, wanted, thresholds)
    if outputs is not None and wanted is not None:
        wrong = float(classification_error(outputs, wanted))
    return RunErrors(
        job.task,
        job.method,
        job.instance,
        job.run,
        _squared(record, facts, output_range),
        wrong,
        *verdicts,
    )


def _squared(record: Record, facts: TaskFacts, output_range: tuple[float, float]) -> float | None:
    """E of section 2.6, from the squared error of every case summed over its outputs."""
    if _is_class(facts):
        return _percentage(record, "Q", 1 / len(facts.targets[0].levels))
    if any(target.kind not in ("real", "integer") for target in facts.targets):
        return None
    return _percentage(record, "S", (output_range[1] - output_range[0]) / len(facts.targets))


def _is_class(facts: TaskFacts) -> bool:
    return len(facts.targets) == 1 and facts.targets[0].kind == "categorical"


def _percentage(record: Record, code: str, factor: float) -> float | None:
    return 100 * factor * float(record.losses[code].mean()) if code in record.losses else None


def _outputs(record: Record, facts: TaskFacts) -> tuple[Numbers | None, Numbers | None]:
    """Class probabilities and the 1-of-m code of the true classes."""
    told = None if record.answer is None else record.answer.probabilities
    if told is None or not _is_class(facts):
        return None, None
    (truth,) = facts.instances[record.job.instance].truths
    return told.values, np.eye(told.values.shape[1])[truth.level_indexes]


def _verdict(outputs: Numbers | None, wanted: Numbers | None, thresholds: Thresholds) -> list[float | None]:
    if outputs is None or wanted is None:
        return [None, None]
    found = classify(outputs, wanted, thresholds)
    return [float(found.wrong), float(found.rejected)]
