"""What tasks and methods are, as files: documents, and the true values of a task as Parquet.

An archive may hold several versions of a task or method; here those wanted are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, get_args

import numpy as np
import pyarrow as pa

from redelve.answers.losses import Loss, RememberedLoss, known_loss
from redelve.answers.predictions import Target, Truth
from redelve.data.files import file_digest
from redelve.data.tables.table_columns import former_name
from redelve.errors import FormatError, LocationError, RedelveError, SpecError
from redelve.model import Assignment, Scheme
from redelve.run.results import InstanceFacts, MethodFacts, TaskFacts
from redelve.store.layout import (
    Document,
    DocumentFields,
    checked_digest,
    plain_value,
    read_document,
    segment,
    task_path,
    write_document,
)
from redelve.store.look_files import read_races
from redelve.store.record_rows import DAMAGED, read_table, value_column, values_of, write_table
from redelve.store.snapshot import SnapshotEntry

TRUTH, CENSORING = "truth.", "censoring."
NAME, WEIGHT = "name", "weight"
COLUMNS = "columns"
PLAIN = {
    "address": (str,),
    "data_digest": (str,),
    "training_set_size": (int,),
    "scheme": (str,),
    "repetitions": (int,),
    "usage": (str,),
    "origin": (str,),
    "input_count": (int,),
    "case_count": (int,),
    "training_overlap": (bool,),
    "test_overlap": (bool,),
}
"""The fields of TaskFacts that go into its document as they are."""


def method_path(root: Path, name: str, digest: str) -> Path:
    """The file that describes a method."""
    return root / "methods" / segment(name) / f"{checked_digest(digest, name)}.json"


def truths_path(root: Path, address: str, digest: str) -> Path:
    """The file of a task's true values."""
    return root / "truths" / f"task={segment(address)}" / f"{checked_digest(digest, address)}.parquet"


# Methods


def write_method(root: Path, facts: MethodFacts) -> None:
    """Describe a method, unless that has been done."""
    path = method_path(root, facts.name, facts.digest)
    if not path.exists():
        content = {"name": facts.name, "digest": facts.digest, "summary": facts.summary}
        write_document(path, {**content, "identity": plain_value(facts.identity)})


def read_methods(root: Path) -> Iterator[MethodFacts]:
    """All methods described."""
    for path in sorted(root.glob("methods/*/*.json")):
        given = DocumentFields(path, read_document(path))
        name, digest = given.take("name", str), given.digest("digest")
        _check_place(path, method_path(root, name, digest))
        yield MethodFacts(name, digest, given.take("identity", dict), given.take("summary", str))


# Tasks


def write_task(root: Path, facts: TaskFacts) -> None:
    """Describe a task; baselines and remarks that were not known before are added to its description."""
    path = task_path(root, facts.address, facts.digest)
    if path.exists():
        known = read_task(path, root, with_truths=False)
        _check_same(known, facts)
        update: Document = {}
        if not facts.baselines.keys() <= known.baselines.keys():
            update = {"baselines": {**facts.baselines, **known.baselines}}
            update |= _told_of({**facts.own_losses, **known.own_losses})
        if not set(facts.remarks) <= set(known.remarks):
            update |= {"remarks": list(dict.fromkeys((*known.remarks, *facts.remarks)))}
        written = read_document(path)
        if more := {
            name: one for name, one in _columns(facts).items() if name not in written.get(COLUMNS, {})
        }:
            update |= {COLUMNS: {**written.get(COLUMNS, {}), **more}}
        if update:
            write_document(path, {**written, **update})
        return
    truths = truths_path(root, facts.address, facts.digest)
    checksum = write_table(truths, _truth_table(facts))
    write_document(path, {**_document(facts), "truths_sha256": checksum})


def write_remarks(root: Path, facts: TaskFacts) -> None:
    """Let the remarks on a task that is described be these alone."""
    path = task_path(root, facts.address, facts.digest)
    written = read_document(path)
    if written.get("remarks", []) != list(facts.remarks):
        written.pop("remarks", None)
        write_document(path, written | ({"remarks": list(facts.remarks)} if facts.remarks else {}))


def _check_same(known: TaskFacts, new: TaskFacts) -> None:
    """Refuse a description that contradicts the one there is."""
    for name in ("data_digest", "targets"):
        old, other = getattr(known, name), getattr(new, name)
        if old != other:
            raise SpecError(
                f"task {new.address} with digest {new.digest} is in the archive with other {name} "
                f"({old!r:.80}, not {other!r:.80}): keep these results in another archive"
            )
    if [one.digest for one in known.instances] != [one.digest for one in new.instances]:
        raise SpecError(
            f"task {new.address} with digest {new.digest} is in the archive with other instances: "
            "keep these results in another archive"
        )


def _document(facts: TaskFacts) -> Document:
    return {
        **{name: getattr(facts, name) for name in PLAIN},
        "digest": facts.digest,
        "targets": [vars(target) for target in facts.targets],
        "instances": [
            {
                "digest": one.digest,
                "training_set_size": one.training_set_size,
                "cases": len(one.case_numbers),
                "has_units": one.units is not None,
                **({} if one.names is None else {"has_names": True}),
                **({} if one.weights is None else {"has_weights": True}),
            }
            for one in facts.instances
        ],
        "baselines": dict(facts.baselines),
        "notes": list(facts.notes),
        **_told_of(facts.own_losses),
        **({"left_out": list(facts.left_out)} if facts.left_out else {}),
        **({} if facts.test_ratio is None else {"test_ratio": facts.test_ratio}),
        **({COLUMNS: told} if (told := _columns(facts)) else {}),
        **({"remarks": list(facts.remarks)} if facts.remarks else {}),
    }


def _columns(facts: TaskFacts) -> Document:
    """What else is known of the cases: for each column its values and, by instance, which one a case has."""
    found: Document = {}
    for name in facts.instances[0].columns if facts.instances else ():
        levels = sorted({value for one in facts.instances for value in one.columns[name].tolist()})
        place = {value: number for number, value in enumerate(levels)}
        codes = [[place[value] for value in one.columns[name].tolist()] for one in facts.instances]
        found[name] = {"values": levels, "cases": codes}
    return found


def _read_columns(given: DocumentFields, counts: Sequence[int]) -> list[dict[str, Any]]:
    """For every instance its columns."""
    if COLUMNS not in given.content:
        return [{} for _ in counts]
    told = DocumentFields(given.path, given.take(COLUMNS, dict))
    found: list[dict[str, Any]] = [{} for _ in counts]
    for name in told.content:
        one = DocumentFields(given.path, told.take(name, dict))
        levels, codes = np.array(one.texts("values"), dtype=np.str_), one.take("cases", list)
        fit = len(codes) == len(counts) and all(map(partial(_are_codes, len(levels)), codes, counts))
        if not fit:
            raise FormatError(given.path, None, f'the column "{name}" does not fit the cases')
        for columns, some in zip(found, codes, strict=True):
            columns[name] = levels[np.array(some, dtype=np.int64)]
    return found


def _are_codes(levels: int, codes: Any, count: int) -> bool:
    """Whether this is a list that has the number of one of the levels for each of so many cases."""
    return (
        isinstance(codes, list)
        and len(codes) == count
        and all(type(one) is int and 0 <= one < levels for one in codes)
    )


def _told_of(losses: Mapping[str, Loss]) -> Document:
    """What those who do not know these losses need for analysing what was lost by them."""
    told = {
        code: {"words": loss.words, "is_shift": loss.is_shift}
        | ({} if loss.mean_of_cases else {"mean_of_cases": False})
        for code, loss in losses.items()
    }
    return {"losses": told} if told else {}


def _truth_table(facts: TaskFacts) -> pa.Table:
    tables = [_instance_table(facts, number) for number in range(len(facts.instances))]
    return pa.concat_tables(tables)


def _instance_table(facts: TaskFacts, number: int) -> pa.Table:
    one = facts.instances[number]
    count = len(one.case_numbers)
    columns = {
        "instance": pa.array(np.full(count, number, dtype=np.int32)),
        "case": pa.array(np.asarray(one.case_numbers, dtype=np.int64)),
        "unit": pa.nulls(count, pa.int64()) if one.units is None else pa.array(one.units, pa.int64()),
    }
    if one.names is not None:
        columns[NAME] = pa.array(one.names.tolist(), pa.string())
    if one.weights is not None:
        columns[WEIGHT] = pa.array(one.weights, pa.float64())
    for truth in one.truths:
        columns[TRUTH + truth.target.name] = value_column(truth.target, truth.values)
        columns[CENSORING + truth.target.name] = pa.array(truth.censoring)
    return pa.table(columns)


def task_paths(root: Path) -> list[Path]:
    """The files that describe tasks."""
    return sorted(root.glob("tasks/*/*.json"))


def read_task(path: Path, root: Path, *, with_truths: bool = True) -> TaskFacts:
    """A task from its description; without truths, its instances have neither truths nor case numbers."""
    given = DocumentFields(path, read_document(path))
    plain = {name: given.take(name, *types) for name, types in PLAIN.items()}
    digest = given.digest("digest")
    _check_place(path, task_path(root, plain["address"], digest))
    if plain["scheme"] not in get_args(Scheme):
        raise FormatError(path, None, f'unknown scheme "{plain["scheme"]}"')
    facts = TaskFacts(
        **plain,
        digest=digest,
        targets=tuple(_target(path, one) for one in given.take("targets", list)),
        instances=_bare_instances(given),
        baselines=_baselines(given),
        notes=given.texts("notes"),
        own_losses=_own_losses(given),
        left_out=given.texts("left_out") if "left_out" in given.content else (),
        test_ratio=given.take("test_ratio", float, int) if "test_ratio" in given.content else None,
        remarks=given.texts("remarks") if "remarks" in given.content else (),
    )
    return with_truth(root, facts, given) if with_truths else facts


def _check_place(path: Path, expected: Path) -> None:
    if path != expected:
        raise FormatError(path, None, f"what it describes belongs into {expected}")


def _target(path: Path, content: Any) -> Target:
    given = DocumentFields(path, content)
    try:
        return Target(
            given.take("name", str),
            given.take("kind", str),
            given.texts("levels"),
            given.take("unit", float, int, type(None)),
        )
    except RedelveError as error:
        raise FormatError(path, None, str(error)) from None


def _bare_instances(given: DocumentFields) -> tuple[InstanceFacts, ...]:
    if not (told := given.take("instances", list)):
        raise FormatError(given.path, None, 'there are no "instances": restore the file from a copy')
    return tuple(_bare_instance(given.path, one) for one in told)


def _bare_instance(path: Path, content: Any) -> InstanceFacts:
    given = DocumentFields(path, content)
    empty = np.empty(0, dtype=np.int64)
    return InstanceFacts(given.take("digest", str), given.take("training_set_size", int), empty, ())


def _baselines(given: DocumentFields) -> Mapping[str, float | None]:
    found = DocumentFields(given.path, given.take("baselines", dict))
    return {code: found.take(code, float, int, type(None)) for code in found.content}


def _own_losses(given: DocumentFields) -> Mapping[str, Loss]:
    """The losses that do not come with redelve; those that are not known here by what is told of them."""
    if "losses" not in given.content:
        return {}
    found = DocumentFields(given.path, given.take("losses", dict))
    each = {code: DocumentFields(given.path, found.take(code, dict)) for code in found.content}
    return {code: known_loss(code) or _remembered(code, one) for code, one in each.items()}


def _remembered(code: str, told: DocumentFields) -> Loss:
    is_mean = told.take("mean_of_cases", bool) if "mean_of_cases" in told.content else True
    return RememberedLoss(code, told.take("words", str), told.take("is_shift", bool), is_mean)


def with_truth(root: Path, facts: TaskFacts, given: DocumentFields) -> TaskFacts:
    """The same with the case numbers, units and true values of every instance."""
    path = truths_path(root, facts.address, facts.digest)
    table = read_table(path, given.take("truths_sha256", str))
    expected = ["instance", "case", "unit", *_more_columns(given)]
    for target in facts.targets:
        expected += [TRUTH + target.name, CENSORING + target.name]
    if table.schema.names != expected or table.schema.types[:3] != [pa.int32(), pa.int64(), pa.int64()]:
        raise FormatError(path, None, f"expected the columns {', '.join(expected)} with their types")
    counts = _counts(given, len(table))
    numbers = table.column("instance").to_numpy()
    if not np.array_equal(numbers, np.repeat(np.arange(len(counts)), counts)):
        raise FormatError(path, None, f"expected {counts} cases of the instances, in their order")
    instances, start = [], 0
    columns = _read_columns(given, counts)
    for number, count in enumerate(counts):
        has_units = DocumentFields(given.path, given.content["instances"][number]).take("has_units", bool)
        one = replace(facts.instances[number], columns=columns[number])
        instances.append(_filled(path, facts, one, table.slice(start, count), has_units=has_units))
        start += count
    return replace(facts, instances=tuple(instances))


def _counts(given: DocumentFields, rows: int) -> list[int]:
    """How many test cases each instance has; together as many as there are rows of true values."""
    each = [DocumentFields(given.path, one).take("cases", int) for one in given.take("instances", list)]
    if min(each) < 0 or sum(each) != rows:
        raise FormatError(
            given.path,
            None,
            f'expected "cases" of the instances to make {rows}, as there are true values, '
            f"but got {each!r:.80}: restore the file from a copy",
        )
    return each


def _more_columns(given: DocumentFields) -> list[str]:
    """The columns that tasks have whose cases have names or weights."""
    instances = [DocumentFields(given.path, one) for one in given.take("instances", list)]
    flags = {NAME: "has_names", WEIGHT: "has_weights"}
    return [name for name, flag in flags.items() if any(flag in one.content for one in instances)]


def _filled(
    path: Path, facts: TaskFacts, one: InstanceFacts, rows: pa.Table, *, has_units: bool
) -> InstanceFacts:
    try:
        truths = tuple(_truth(target, rows) for target in facts.targets)
        units = rows.column("unit").to_numpy() if has_units else None
    except (RedelveError, pa.ArrowException, ValueError) as error:
        raise FormatError(path, None, str(error)) from None
    there = rows.schema.names
    return replace(
        one,
        case_numbers=rows.column("case").to_numpy(),
        truths=truths,
        units=units,
        names=np.array(rows.column(NAME).to_pylist(), dtype=np.str_) if NAME in there else None,
        weights=rows.column(WEIGHT).to_numpy() if WEIGHT in there else None,
    )


def _truth(target: Target, rows: pa.Table) -> Truth:
    values = values_of(target, rows.column(TRUTH + target.name).combine_chunks())
    return Truth(target, values, rows.column(CENSORING + target.name).to_numpy())


def check_truths(root: Path, path: Path) -> None:
    """Raise an error unless the true values are those that the description was written for."""
    given = DocumentFields(path, read_document(path))
    truths = truths_path(root, given.take("address", str), given.digest("digest"))
    if not truths.is_file():
        raise FormatError(truths, None, "the file is missing: restore it from a copy")
    if file_digest(truths) != given.take("truths_sha256", str):
        raise FormatError(truths, None, DAMAGED)


# Tasks that an archive of before knows by another name: only ASCII letters were kept then


def as_known(assignments: Mapping[str, Assignment], archive: Path) -> dict[str, Assignment]:
    """The assignments by the names that the archive knows them by, the very same cases and sets."""
    found = {}
    for one in assignments.values():
        former = called_before(one)
        is_known = task_path(archive, former.address, former.digest).exists()
        chosen = former if is_known else one
        found[chosen.address] = chosen
    return found


def called_before(assignment: Assignment) -> Assignment:
    """The assignment as it was called before."""
    dataset = replace(assignment.dataset, name=former_name(assignment.dataset.name))
    prototask = assignment.task.prototask
    called = replace(prototask, name=former_name(prototask.name, "target"), dataset=dataset.name)
    return replace(assignment, dataset=dataset, task=replace(assignment.task, prototask=called))


# The versions wanted

SHOWN_DIGITS = 8


class _Described(Protocol):
    @property
    def digest(self) -> str: ...


Facts = TypeVar("Facts", bound=_Described)
Versions = dict[str, dict[str, Facts]]


@dataclass(frozen=True)
class Chosen:
    """The entries wanted, with what their methods and tasks are."""

    entries: tuple[SnapshotEntry, ...]
    methods: Mapping[str, MethodFacts]
    tasks: Mapping[str, TaskFacts]


def choose(
    root: Path,
    entries: Sequence[SnapshotEntry],
    methods: Sequence[str] | None,
    tasks: Sequence[str] | None,
    registered: tuple[Mapping[str, MethodFacts], Mapping[str, TaskFacts]],
) -> Chosen:
    """The entries of the methods and tasks named, or of all; one version of each."""
    known_methods = _by_name(read_methods(root), lambda one: one.name)
    bare = (read_task(path, root, with_truths=False) for path in task_paths(root))
    known_tasks = _by_name(bare, lambda one: one.address)
    used = {entry.head.job.method: set[str]() for entry in entries}
    used_tasks = {entry.head.job.task: set[str]() for entry in entries}
    for entry in entries:
        used[entry.head.job.method].add(entry.head.method_digest)
        used_tasks[entry.head.job.task].add(entry.head.task_digest)
    told = _VersionWords(root, entries)
    chosen_methods = _versions("method", known_methods, methods, used, registered[0], told)
    chosen_tasks = _versions("task", known_tasks, tasks, used_tasks, registered[1], told)
    wanted = [entry for entry in entries if _is_wanted(entry, chosen_methods, chosen_tasks)]
    filled = {
        name: read_task(task_path(root, name, facts.digest), root) for name, facts in chosen_tasks.items()
    }
    return Chosen(_last_of_each(wanted), chosen_methods, filled)


@dataclass(frozen=True)
class _VersionWords:
    """What tells versions of a task or method apart for whoever must choose: found when somebody must."""

    root: Path
    entries: Sequence[SnapshotEntry]

    def in_order(self, digests: Iterable[str]) -> list[str]:
        """The versions by their first results; those without any come first."""
        return sorted(digests, key=lambda digest: min(self._days(digest), default=""))

    def __call__(self, digest: str) -> str:
        """How much there is of a version, whether it is a race, and of when."""
        days = self._days(digest)
        if not days:
            return "no results"
        sets = {one.head.job.instance for one in self.entries if one.head.task_digest == digest}
        is_race = any(race.plan.task_digest == digest for race in read_races(self.root).values())
        counted = [f"{len(sets)} instance{'s' * (len(sets) != 1)}"] if sets else []
        when = f"results of {' to '.join(sorted({min(days), max(days)}))}"
        return ", ".join([*(["a race"] if is_race else []), *counted, when])

    def _days(self, digest: str) -> list[str]:
        heads = (entry.head for entry in self.entries)
        return [one.started[:10] for one in heads if digest in (one.task_digest, one.method_digest)]


def _by_name(facts: Iterable[Facts], name: Callable[[Facts], str]) -> Versions[Facts]:
    found: Versions[Facts] = {}
    for one in facts:
        found.setdefault(name(one), {})[one.digest] = one
    return found


def _versions(
    kind: str,
    known: Versions[Facts],
    wanted: Sequence[str] | None,
    used: Mapping[str, set[str]],
    registered: Mapping[str, Facts],
    told: _VersionWords,
) -> dict[str, Facts]:
    """One version of each name that is wanted."""
    chosen: dict[str, Facts] = {}
    for text in known if wanted is None else [wanted] if isinstance(wanted, str) else wanted:
        name, _, start = (text, "", "") if text in known else text.rpartition("@")
        if name not in known:
            raise LocationError(f'no {kind} "{text}" in the archive: there are {", ".join(known) or "none"}')
        matching = [digest for digest in known[name] if digest.startswith(start)]
        usable = [digest for digest in matching if digest in used.get(name, ())] or matching
        if name in registered and registered[name].digest in usable:
            usable = [registered[name].digest]
        if len(usable) != 1:
            versions = told.in_order(usable or known[name])
            shown = " or ".join(f"{name}@{digest[:SHOWN_DIGITS]} ({told(digest)})" for digest in versions)
            why = differing([known[name][digest] for digest in usable])
            raise LocationError(
                f'{kind} "{text}" is there in {len(usable)} versions{why}: choose by {kind}s=… (redelve '
                f"report -{kind[0]}) {shown}"
            )
        chosen[name] = known[name][usable[0]]
    return chosen


def differing(versions: Sequence[object]) -> str:
    """What tells versions of a task apart, in words; nothing for methods."""
    tasks = [one for one in versions if isinstance(one, TaskFacts)]
    if len({one.data_digest for one in tasks}) > 1:
        return " on different data (a changed table, say), which cannot be compared"
    if len(tasks) > 1:
        return ", of different designs"
    return ", with different settings or code" if len(versions) > 1 else ""


def _is_wanted(
    entry: SnapshotEntry, methods: Mapping[str, MethodFacts], tasks: Mapping[str, TaskFacts]
) -> bool:
    head = entry.head
    method, task = methods.get(head.job.method), tasks.get(head.job.task)
    if method is None or task is None:
        return False
    return method.digest == head.method_digest and task.digest == head.task_digest


def _last_of_each(entries: Sequence[SnapshotEntry]) -> tuple[SnapshotEntry, ...]:
    """Of several records of one job, made under different limits, the one made last."""
    found: dict[object, SnapshotEntry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.head.started, entry.head.digest)):
        found[entry.head.job] = entry
    return tuple(found.values())
