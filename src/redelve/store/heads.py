"""A record without its rows: what the job was, what came of it, and under which circumstances."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any

import pyarrow as pa

from redelve.errors import FormatError
from redelve.model.dataset import digest
from redelve.run.results import STATUSES, Costs, Job, Record, Status, Told
from redelve.store.layout import DocumentFields, version_of

FIGURES = ("training_seconds", "prediction_seconds", "cpu_seconds")
MOST_CASES = 10**9

NAMES = {"digest": pa.string(), "method": pa.string(), "task": pa.string()}
NAMES |= {"instance": pa.int32(), "run": pa.int32()}
JOBS = pa.schema(
    NAMES
    | {
        "version": pa.string(),
        "method_digest": pa.string(),
        "task_digest": pa.string(),
        "seed": pa.uint64(),
        "status": pa.string(),
        "fallback": pa.string(),
        "cases": pa.int64(),
        "losses": pa.list_(pa.string()),
        "answer": pa.list_(pa.string()),
        "content": pa.string(),
    }
)
CIRCUMSTANCES = pa.schema(
    NAMES
    | {
        "started": pa.string(),
        "training_seconds": pa.float64(),
        "prediction_seconds": pa.float64(),
        "cpu_seconds": pa.float64(),
        "peak_memory": pa.int64(),
        "message": pa.string(),
        "environment": pa.string(),
    }
)
TOLD = pa.field(
    "told", pa.list_(pa.struct({"name": pa.string(), "number": pa.float64(), "text": pa.string()}))
)
"""The last column of circumstances, where a method told something of its training."""


@dataclass(frozen=True, slots=True)
class Head:
    """All that is known of a record but its rows; `content` is a hash of what was predicted."""

    job: Job
    digest: str
    method_digest: str
    task_digest: str
    seed: int
    status: Status
    fallback: str | None
    cases: int
    losses: tuple[str, ...]
    answer: tuple[str, ...]
    """The names of the columns that hold the answer."""
    content: str
    costs: Costs = field(default_factory=Costs, compare=False)
    started: str = field(default="", compare=False)
    message: str = field(default="", compare=False)
    environment: Mapping[str, str] = field(default_factory=dict, compare=False)
    told: Told = field(default_factory=dict, compare=False)

    @property
    def version(self) -> str:
        """What tells work of different versions of a method, or of a task, apart."""
        return version_of(self.job.method, self.method_digest, self.job.task, self.task_digest)

    @property
    def order(self) -> tuple[str, str, int, int, str]:
        """Where it comes among others."""
        return self.job.method, self.job.task, self.job.instance, self.job.run, self.digest

    @property
    def loss_rows(self) -> int:
        """How many rows of losses it has."""
        return self.cases if self.losses else 0

    @property
    def answer_rows(self) -> int:
        """How many rows of answers it has."""
        return self.cases if self.answer else 0

    def record(self, losses: Mapping[str, Any], answer: Any) -> Record:
        """The record, with what its rows hold."""
        return Record(
            self.job,
            self.digest,
            self.seed,
            self.status,
            losses,
            answer,
            self.message,
            self.fallback,
            self.costs,
            self.started,
            self.environment,
            self.told,
        )

    def document(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {**self.job_row(), **self.circumstances_row(), "environment": dict(self.environment)}

    def job_row(self) -> dict[str, Any]:
        """What does not depend on where and when the job was done."""
        return {
            **self._names(),
            "version": self.version,
            "method_digest": self.method_digest,
            "task_digest": self.task_digest,
            "seed": self.seed,
            "status": self.status,
            "fallback": self.fallback,
            "cases": self.cases,
            "losses": list(self.losses),
            "answer": list(self.answer),
            "content": self.content,
        }

    def circumstances_row(self) -> dict[str, Any]:
        """What does: costs, time, place and what was said."""
        return {
            **self._names(),
            "started": self.started,
            **{name: _finite(getattr(self.costs, name)) for name in FIGURES},
            "peak_memory": self.costs.peak_memory,
            "message": self.message,
            "environment": environment_digest(self.environment),
            **({"told": [_entry(name, value) for name, value in self.told.items()]} if self.told else {}),
        }

    def _names(self) -> dict[str, Any]:
        job = self.job
        return {
            "digest": self.digest,
            "method": job.method,
            "task": job.task,
            "instance": job.instance,
            "run": job.run,
        }


def _entry(name: str, value: float | str) -> dict[str, Any]:
    is_text = isinstance(value, str)
    return {"name": name, "number": None if is_text else value, "text": value if is_text else None}


def environment_digest(environment: Mapping[str, str]) -> str:
    """What an environment is called."""
    return _digest_of_items(tuple(environment.items()))


@lru_cache(maxsize=256)
def _digest_of_items(items: tuple[tuple[str, str], ...]) -> str:
    return digest(dict(items))


@lru_cache(maxsize=4096)
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    """One value for all records that share it, of which there may be very many."""
    return names


@lru_cache(maxsize=256)
def _environment(items: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """The same for environments."""
    return dict(items)


def head_of(given: DocumentFields) -> Head:
    """The head that `Head.document` described."""
    take = given.take
    status = take("status", str)
    if status not in STATUSES:
        raise FormatError(given.path, None, f'unknown status "{status}": known are {", ".join(STATUSES)}')
    environment = take("environment", dict)
    head = Head(
        Job(intern(take("task", str)), intern(take("method", str)), take("instance", int), take("run", int)),
        given.digest("digest"),
        intern(given.digest("method_digest")),
        intern(given.digest("task_digest")),
        take("seed", int),
        status,
        take("fallback", str, type(None)),
        take("cases", int),
        _shared(given.texts("losses")),
        _shared(given.texts("answer")),
        given.digest("content"),
        _costs(given),
        take("started", str),
        take("message", str),
        _environment(tuple((str(name), str(value)) for name, value in environment.items())),
        _told(given),
    )
    counts = (head.cases, head.job.instance, head.job.run)
    if not (min(counts) >= 0 and max(counts) <= MOST_CASES and 0 <= head.seed < 2**64):
        raise FormatError(given.path, None, f"{head.job}: a count or the seed is negative or far too large")
    if (head.losses or head.answer) and not head.cases:
        raise FormatError(given.path, None, f"{head.job}: there are losses or answers but no cases")
    return head


def _costs(given: DocumentFields) -> Costs:
    seconds = {name: given.take(name, float, int, type(None)) for name in FIGURES}
    return Costs(**seconds, peak_memory=given.take("peak_memory", int, type(None)))


def _told(given: DocumentFields) -> Told:
    """What a method told; most tell nothing. JSON has numbers that are not finite as texts."""
    if given.content.get("told") is None:
        return {}
    entries = [DocumentFields(given.path, entry) for entry in given.take("told", list)]
    try:
        return {
            one.take("name", str): one.take("text", str)
            if one.content.get("number") is None
            else float(one.take("number", float, int, str))
            for one in entries
        }
    except ValueError as error:
        raise FormatError(given.path, None, f"what the method told is no number: {error}") from None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


# Tables of heads


def job_table(heads: Iterable[Head]) -> pa.Table:
    """The table of jobs."""
    return pa.Table.from_pylist([head.job_row() for head in heads], schema=JOBS)


def circumstances_table(heads: Iterable[Head]) -> pa.Table:
    """The table of circumstances; `told` is a column where any method told something."""
    rows = [head.circumstances_row() for head in heads]
    schema = CIRCUMSTANCES.append(TOLD) if any("told" in row for row in rows) else CIRCUMSTANCES
    return pa.Table.from_pylist(rows, schema=schema)


def heads_of(
    path: Path, jobs: pa.Table, circumstances: pa.Table, environment: Callable[[str], Mapping[str, str]]
) -> Iterator[Head]:
    """The heads that two tables hold, row by row."""
    told = CIRCUMSTANCES.append(TOLD) if "told" in circumstances.schema.names else CIRCUMSTANCES
    for table, schema in ((jobs, JOBS), (circumstances, told)):
        if table.schema.names != schema.names or table.schema.types != schema.types:
            raise FormatError(path, None, f"expected the columns {', '.join(schema.names)} with their types")
    if jobs.column("digest") != circumstances.column("digest"):
        raise FormatError(path, None, "jobs and circumstances do not tell of the same records")
    for job, circumstance in zip(jobs.to_pylist(), circumstances.to_pylist(), strict=True):
        known = environment(circumstance["environment"] or "")
        yield head_of(DocumentFields(path, {**circumstance, **job, "environment": known}))
