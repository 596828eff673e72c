"""A record's rows: answers and losses as Arrow columns and back, and Parquet files that come out the same."""

from __future__ import annotations

import contextlib
import hashlib
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from redelve.answers.answer import Answer, within_numbers
from redelve.answers.distributions import Distribution, distributions
from redelve.answers.predictions import (
    ClassProbabilities,
    DecisionValues,
    Guesses,
    Target,
    TargetDistributions,
)
from redelve.data.files import check_plain, write_atomic
from redelve.errors import FormatError, LocationError, PredictionError, RedelveError
from redelve.model.dataset import Numbers
from redelve.run.results import Job

Columns = dict[str, pa.Array]

KEYS = {"instance": pa.int32(), "run": pa.int32(), "case": pa.int64()}
GUESS, GUESS_FOR, LOG_PROBABILITY, LOSS = "guess.", "guess-for-", "log-probability.", "loss."
USUAL_LOSSES = ("A", "S", "L", "Q", "Z", "C")
"""The losses that every file of losses has a column for, so that files of different tasks fit together."""
TOLD_PROBABILITY = "told-probability."
DECISION_VALUE = "decision-value."
CLOSE = 1e-9
DAMAGED = "the checksum does not agree: the file was changed or damaged, restore it from a copy"
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
        if (told := answer.probabilities.told) is not None:
            found |= {TOLD_PROBABILITY + level: pa.array(told[:, n]) for n, level in enumerate(levels)}
    if answer.decision_values is not None:
        scores = answer.decision_values
        columns = zip(scores.target.levels, scores.values.T, strict=True)
        found |= {DECISION_VALUE + level: pa.array(values) for level, values in columns}
    if answer.distributions is not None:
        for target, one in zip(answer.distributions.targets, answer.distributions.distributions, strict=True):
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


def answer_of(targets: Sequence[Target], columns: Columns, *place: object) -> Answer | None:
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
            _decision_values_of(targets, columns),
        )
    except (PredictionError, pa.ArrowException, TypeError, ValueError, KeyError) as error:
        raise FormatError(
            ": ".join(map(str, place)), None, f"no answer can be made of {', '.join(columns)}: {error}"
        ) from None


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


def losses_of(place: Path | Job, code: str, column: pa.Array) -> Numbers:
    """A column of losses; those that were kept before some counted as infinite do so, too."""
    if column.null_count:
        raise FormatError(_named(place), None, f"a loss {code} is missing where there should be one")
    return within_numbers(numbers_of(column))


def _probabilities_of(targets: Sequence[Target], columns: Columns) -> ClassProbabilities | None:
    if not any(name.startswith(LOG_PROBABILITY) for name in columns):
        return None
    (target,) = targets
    logs = _of_levels(LOG_PROBABILITY, target, columns)
    is_told = any(name.startswith(TOLD_PROBABILITY) for name in columns)
    told = _of_levels(TOLD_PROBABILITY, target, columns) if is_told else None
    return _exactly(ClassProbabilities(target, logs, told), {"logs": logs})


def _decision_values_of(targets: Sequence[Target], columns: Columns) -> DecisionValues | None:
    if not any(name.startswith(DECISION_VALUE) for name in columns):
        return None
    (target,) = targets
    return DecisionValues(target, _of_levels(DECISION_VALUE, target, columns))


def _of_levels(prefix: str, target: Target, columns: Columns) -> Numbers:
    return np.column_stack([numbers_of(columns[prefix + level]) for level in target.levels])


def _distributions_of(targets: Sequence[Target], columns: Columns) -> TargetDistributions | None:
    each: dict[str, tuple[str, dict[str, Numbers]]] = {}
    for name, column in columns.items():
        if not name.startswith((GUESS, GUESS_FOR, LOG_PROBABILITY, TOLD_PROBABILITY, DECISION_VALUE)):
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
        if answer.probabilities.told is not None:
            found["told probability"] = answer.probabilities.told
    if answer.decision_values is not None:
        found["decision value"] = answer.decision_values.values
    if answer.distributions is not None:
        for number, one in enumerate(answer.distributions.distributions):
            for name, values in one.parameters().items():
                found[f"{one.kind} {name} {number}"] = values
    return found


COMPRESSION_LEVEL = 1
GROUP_CELLS = 1 << 21
"""A row group ends with the record with which it has this many values: about 16 MiB."""
MOST_ROWS = 2 * 10**9


def writer(where: Any, schema: pa.Schema) -> pq.ParquetWriter:
    """A writer whose output depends on nothing but the data and the version of pyarrow."""
    plain = [name for name, kind in zip(schema.names, schema.types, strict=True) if not _is_floating(kind)]
    return pq.ParquetWriter(
        where,
        schema,
        version="2.6",
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=plain,
        write_statistics=True,
        store_schema=True,
    )


def _is_floating(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind.value_type if pa.types.is_list(kind) else kind))


def write_table(path: Path, table: pa.Table) -> str:
    """Write a whole table at once; its checksum."""
    sink = pa.BufferOutputStream()
    with writer(sink, table.schema) as out:
        out.write_table(table, row_group_size=max(len(table), 1))
    data = sink.getvalue().to_pybytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, data)
    return hashlib.sha256(data).hexdigest()


def write_records(folder: Path, schema: pa.Schema, records: Iterable[pa.Table]) -> tuple[Path, str]:
    """Write records one after the other; the file, neither in place nor synchronised yet, and its checksum.

    Every record lies in one row group, and where groups end depends on the data alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    half = folder / f".{os.urandom(6).hex()}.tmp"
    try:
        with half.open("w+b") as stream:
            with writer(stream, schema) as out:
                for group in _groups(records):
                    out.write_table(group.cast(schema), row_group_size=max(len(group), 1))
            stream.seek(0)
            return half, hashlib.file_digest(stream, "sha256").hexdigest()
    except BaseException:
        half.unlink(missing_ok=True)
        raise


def _groups(records: Iterable[pa.Table]) -> Iterator[pa.Table]:
    pending: list[pa.Table] = []
    cells = 0
    for table in records:
        pending.append(table)
        cells += _cells(table)
        if cells >= GROUP_CELLS:
            yield pa.concat_tables(pending).combine_chunks()
            pending, cells = [], 0
    if pending:
        yield pa.concat_tables(pending).combine_chunks()


def _cells(table: pa.Table) -> int:
    """How many values there are, those in lists counted one by one."""
    total = 0
    for column in table.columns:
        total += sum(len(chunk.flatten()) for chunk in column.chunks) if _is_list(column) else len(column)
    return total


def _is_list(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_list(column.type))


def sound_bytes(path: Path, source: pa.NativeFile, checksum: str) -> pa.Buffer:
    """The bytes of a file, which must have the checksum: no damage becomes a number."""
    data = source.read_buffer()
    if hashlib.sha256(data).hexdigest() != checksum:
        raise FormatError(path, None, DAMAGED)
    return data


def mapped(path: Path) -> pa.MemoryMappedFile:
    """A file's bytes; Arrow takes names as UTF-8, which those of files need not be, and waits for pipes."""
    check_plain(path)
    return pa.memory_map(os.fsencode(path))


def read_table(path: Path, checksum: str, columns: Sequence[str] | None = None) -> pa.Table:
    """A whole table, or some of its columns, of a file with that checksum."""
    with failures_named(path), mapped(path) as source:
        file = pq.ParquetFile(pa.BufferReader(sound_bytes(path, source, checksum)))
        _check_rows(path, file.metadata.num_rows)
        table = file.read(columns)
        return table if columns is None else table.select(list(columns))


def _check_rows(path: Path, count: int) -> None:
    if count > MOST_ROWS:
        raise FormatError(path, None, f"{count} rows are more than the {MOST_ROWS} that are believable")


@contextlib.contextmanager
def failures_named(path: Path | Job) -> Iterator[None]:
    """Turn what pyarrow says of a bad file, or of a job's record, into an error that names it."""
    try:
        yield
    except FileNotFoundError:
        raise LocationError(
            f"{_named(path)}: no such file: if the archive was compacted meanwhile, load it again"
        ) from None
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:200]
        raise FormatError(_named(path), None, f"damaged, or not what it should be: {reason}") from None


def _named(path: Path | Job) -> str:
    return str(path) if isinstance(path, Path) else f"the record of {path}"


class RecordTable:
    """A Parquet file of records, read column by column and row group by row group when first needed."""

    def __init__(self, path: Path, checksum: str) -> None:
        self.path, self._checksum = path, checksum
        self._columns: dict[tuple[int, str], pa.Array] = {}
        self._group: tuple[int, pa.Table] | None = None

    def open(self) -> None:
        """Hold the file, so that it stays readable even if somebody removes it."""
        assert self._source is not None

    @cached_property
    def _source(self) -> pa.MemoryMappedFile:
        with failures_named(self.path):
            return mapped(self.path)

    @cached_property
    def _bytes(self) -> pa.Buffer | FormatError:
        """The bytes stay readable when the file is closed; there may be more files than may be open."""
        try:
            with self._source as source:
                return sound_bytes(self.path, source, self._checksum)
        except FormatError as error:
            return error

    @cached_property
    def file(self) -> pq.ParquetFile:
        """The open file, whose checksum agrees."""
        if isinstance(self._bytes, FormatError):
            raise self._bytes
        with failures_named(self.path):
            file = pq.ParquetFile(pa.BufferReader(self._bytes))
        _check_rows(self.path, file.metadata.num_rows)
        return file

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self.file.schema_arrow

    @property
    def count(self) -> int:
        """The number of rows."""
        return int(self.file.metadata.num_rows)

    @cached_property
    def _starts(self) -> list[int]:
        """Where row groups begin, and where the last one ends."""
        about = self.file.metadata
        sizes = (about.row_group(group).num_rows for group in range(about.num_row_groups))
        return list(accumulate(sizes, initial=0))

    def _place(self, start: int, count: int) -> tuple[int, int]:
        """The row group in which rows lie, and where in it."""
        group = bisect_right(self._starts, start) - 1
        if group + 1 >= len(self._starts) or start + count > self._starts[group + 1]:
            raise FormatError(self.path, None, f"rows {start} to {start + count} are not in one row group")
        return group, start - self._starts[group]

    def column(self, name: str, start: int, count: int) -> pa.Array:
        """Some rows of a column; what was read is kept."""
        group, offset = self._place(start, count)
        return self._read(group, name).slice(offset, count)

    def read_ahead(self, names: Iterable[str], starts: Sequence[int]) -> None:
        """Read the row groups in which rows begin; what fails is told to whoever asks for those rows."""
        with contextlib.suppress(RedelveError):
            groups = sorted({self._place(start, 0)[0] for start in starts})
            for name in names:
                for group in groups:
                    self._read(group, name)

    def _read(self, group: int, name: str) -> pa.Array:
        if (group, name) not in self._columns:
            with failures_named(self.path):
                column = self.file.read_row_group(group, columns=[name]).column(name)
                # A single chunk, as there mostly is, would be copied too.
                whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
                self._columns[group, name] = whole
        return self._columns[group, name]

    def rows(self, start: int, count: int) -> pa.Table:
        """Some rows with all columns; only the row group last read is kept."""
        group, offset = self._place(start, count)
        if self._group is None or self._group[0] != group:
            with failures_named(self.path):
                self._group = group, self.file.read_row_group(group)
        return self._group[1].slice(offset, count)
