"""A record's rows, one for each test case: its answer and its losses as Arrow columns, and back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.distributions import Distribution, distributions
from redelve.answers.predictions import ClassProbabilities, Guesses, Target, TargetDistributions
from redelve.errors import FormatError, PredictionError

Numbers = NDArray[np.float64]
Columns = dict[str, pa.Array]

KEYS = {"instance": pa.int32(), "run": pa.int32(), "case": pa.int64()}
GUESS, GUESS_FOR, LOG_PROBABILITY, LOSS = "guess.", "guess-for-", "log-probability.", "loss."
CLOSE = 1e-9
Made = TypeVar("Made")


def key_columns(instance: int, run: int, case_numbers: NDArray[np.int64]) -> Columns:
    """Which case each row is of."""
    count = len(case_numbers)
    return {
        "instance": pa.array(np.full(count, instance, dtype=np.int32)),
        "run": pa.array(np.full(count, run, dtype=np.int32)),
        "case": pa.array(np.asarray(case_numbers, dtype=np.int64)),
    }


# From answers to columns


def answer_columns(answer: Answer) -> Columns:
    """The columns of everything that the answer holds, by name."""
    found: Columns = {}
    if answer.guesses is not None:
        found |= _guess_columns(GUESS, answer.guesses)
    for code, guesses in answer.guesses_for.items():
        found |= _guess_columns(f"{GUESS_FOR}{_escaped(code)}.", guesses)
    if answer.probabilities is not None:
        levels, logs = answer.probabilities.target.levels, answer.probabilities.logs
        found |= {LOG_PROBABILITY + level: pa.array(logs[:, n]) for n, level in enumerate(levels)}
    if answer.distributions is not None:
        for target, one in zip(answer.targets, answer.distributions.distributions, strict=True):
            for name, values in one.parameters().items():
                found[f"{one.kind}.{name}.{target.name}"] = _parameter_column(one, name, values)
    return dict(sorted(found.items()))


def _guess_columns(prefix: str, guesses: Guesses) -> Columns:
    pairs = zip(guesses.targets, guesses.values, strict=True)
    return {prefix + target.name: value_column(target, values) for target, values in pairs}


def value_column(target: Target, values: Numbers) -> pa.Array:
    """A target's values as people write them: numbers, or the names of levels; null for NaN."""
    if target.kind != "categorical":
        return pa.array(values, from_pandas=True)
    silent = np.isnan(values)
    indexes = pa.array(np.where(silent, 0, values).astype(np.int32), mask=silent)
    return pa.array(target.levels, pa.string()).take(indexes)


def _parameter_column(distribution: Distribution, name: str, values: Numbers) -> pa.Array:
    if values.ndim not in (1, 2) or len(values) != len(distribution):
        raise PredictionError(
            f'parameter "{name}" of distribution "{distribution.kind}" has the shape {values.shape}: '
            f"an archive takes a number or a row of numbers for each of the {len(distribution)} cases"
        )
    if values.ndim == 1:
        return pa.array(values)
    offsets = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.reshape(-1)))


def _escaped(code: str) -> str:
    return code.replace("%", "%25").replace(".", "%2E")


def _unescaped(code: str) -> str:
    return code.replace("%2E", ".").replace("%25", "%")


# From columns to answers


def answer_of(targets: Sequence[Target], columns: Columns, place: str) -> Answer | None:
    """The answer that the columns hold, the same to the bit; None where there are no columns."""
    if not columns:
        return None
    try:
        return Answer(
            _guesses_of(GUESS, targets, columns),
            _probabilities_of(targets, columns),
            _distributions_of(targets, columns),
            {
                _unescaped(code): _guesses_of(f"{GUESS_FOR}{code}.", targets, columns)  # type: ignore[misc]
                for code in sorted(_codes(columns))
            },
        )
    except (PredictionError, pa.ArrowException, TypeError, ValueError, KeyError) as error:
        raise FormatError(place, None, f"no answer can be made of {', '.join(columns)}: {error}") from None


def _codes(columns: Mapping[str, Any]) -> set[str]:
    return {name[len(GUESS_FOR) :].partition(".")[0] for name in columns if name.startswith(GUESS_FOR)}


def _guesses_of(prefix: str, targets: Sequence[Target], columns: Columns) -> Guesses | None:
    if not any(name.startswith(prefix) for name in columns):
        return None
    return Guesses(tuple(targets), tuple(values_of(one, columns[prefix + one.name]) for one in targets))


def values_of(target: Target, column: pa.Array) -> Numbers:
    """A target's values as numbers or level indexes; NaN for null."""
    if target.kind != "categorical":
        return numbers_of(column)
    indexes = pc.index_in(column, value_set=pa.array(target.levels, pa.string()))
    if indexes.null_count != column.null_count:
        raise PredictionError(f'a value of target "{target.name}" is none of its levels')
    return numbers_of(indexes.cast(pa.float64()))


def numbers_of(column: pa.Array) -> Numbers:
    """A column of numbers as an array, without a copy where there are no nulls; NaN for null."""
    if column.type != pa.float64():
        raise PredictionError(f"expected numbers but got values of type {column.type}")
    numbers: Numbers = column.to_numpy(zero_copy_only=column.null_count == 0)
    return numbers


def _probabilities_of(targets: Sequence[Target], columns: Columns) -> ClassProbabilities | None:
    if not any(name.startswith(LOG_PROBABILITY) for name in columns):
        return None
    (target,) = targets
    logs = np.column_stack([numbers_of(columns[LOG_PROBABILITY + level]) for level in target.levels])
    return _exactly(ClassProbabilities(target, logs), {"logs": logs})


def _distributions_of(targets: Sequence[Target], columns: Columns) -> TargetDistributions | None:
    each: dict[str, tuple[str, dict[str, Numbers]]] = {}
    for name, column in columns.items():
        if not name.startswith((GUESS, GUESS_FOR, LOG_PROBABILITY)):
            kind, parameter, target = name.split(".", 2)
            each.setdefault(target, (kind, {}))[1][parameter] = _parameter_of(column)
    if not each:
        return None
    return TargetDistributions(tuple(targets), tuple(_distribution(*each[one.name]) for one in targets))


def _distribution(kind: str, parameters: dict[str, Numbers]) -> Distribution:
    return _exactly(distributions[kind](**parameters), parameters)


def _parameter_of(column: pa.Array) -> Numbers:
    if not pa.types.is_list(column.type):
        return numbers_of(column)
    return numbers_of(column.flatten()).reshape(len(column), -1)


def _exactly(made: Made, fields: Mapping[str, Numbers]) -> Made:
    """The value with its fields as they were stored: making it anew may have changed their last bits."""
    for name, stored in fields.items():
        now = getattr(made, name)
        if not np.allclose(now, stored, rtol=CLOSE, atol=CLOSE):
            raise PredictionError(f'"{name}" is not as any {type(made).__name__} has it')
        frozen = np.array(stored)
        frozen.setflags(write=False)
        object.__setattr__(made, name, frozen)
    return made


# What was predicted, as a hash


def content_digest(about: Sequence[object], answer: Answer | None, losses: Mapping[str, Numbers]) -> str:
    """A hash of the answer, to the bit; of the losses where there is no answer."""
    hasher = hashlib.blake2b(repr(tuple(about)).encode(), digest_size=16)
    named = dict(losses) if answer is None else _arrays(answer)
    for name in sorted(named):
        values = np.ascontiguousarray(named[name], dtype=np.float64)
        hasher.update(f"{name} {values.shape}".encode())
        hasher.update(np.where(np.isnan(values), np.nan, values).tobytes())
    return hasher.hexdigest()


def _arrays(answer: Answer) -> dict[str, Numbers]:
    found = {}
    for prefix, guesses in ((GUESS, answer.guesses), *answer.guesses_for.items()):
        for number, values in enumerate(() if guesses is None else guesses.values):
            found[f"guess {prefix} {number}"] = values
    if answer.probabilities is not None:
        found["log probability"] = answer.probabilities.logs
    if answer.distributions is not None:
        for number, one in enumerate(answer.distributions.distributions):
            for name, values in one.parameters().items():
                found[f"{one.kind} {name} {number}"] = values
    return found
