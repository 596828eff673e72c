"""What was looked at before: the races in an archive, and how much there was at each analysis of it."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast, get_args

from redelve.errors import FormatError, LocationError, SpecError
from redelve.run.races import OLD_RULE, EarlierLook, LookRule, Race, RaceLook, RacePlan
from redelve.run.results import Results, TaskFacts
from redelve.store.heads import Head
from redelve.store.layout import (
    ANALYSES,
    MARKER,
    RACES,
    Document,
    DocumentFields,
    locked,
    read_document,
    root_in,
    segment,
    task_path,
    write_document,
)
from redelve.store.snapshot import read_snapshot

Earlier = dict[str, tuple[EarlierLook, ...]]


def now() -> str:
    """This moment, as documents tell it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


# Races


def race_path(root: Path, address: str) -> Path:
    """Where the race on a task is kept."""
    return root / RACES / f"{segment(address)}.json"


def write_race(root: Path, race: Race) -> None:
    """Keep a race as far as it went; its plan is noted elsewhere first, by which a lost file is missed."""
    _note_plan(root, race.plan)
    write_document(race_path(root, race.plan.task), asdict(race))


def begun_race(root: Path, plan: RacePlan) -> Race:
    """The race with this plan, as far as it went: from now on the archive holds its plan.

    One that was begun by an older rule keeps its plan, and goes on by it. One whose file is lost begins anew.
    """
    path = race_path(root, plan.task)
    if (race := held_race(root, plan)) is not None and path.exists():
        return race
    with locked(root):
        race = held_race(root, plan)  # somebody may have been faster
        if race is None or not path.exists():
            race = race or Race(plan)
            write_race(root, race)
    return race


def held_race(root: Path, plan: RacePlan) -> Race | None:
    """The race with this plan that the archive holds; an error if it has begun another on the same task.

    A plan by which nothing was done yet binds nobody; of a race whose file is lost only the plan is known.
    """
    path = race_path(root, plan.task)
    noted = None if path.exists() else read_plans(root).get(plan.task)
    if not path.exists() and noted is None:
        return None
    race = read_race(path) if noted is None else Race(noted)
    changed = race.plan.differences(plan)
    if not changed:
        return race
    if _has_begun_in(root, race):
        raise SpecError(
            f"{root}: holds a race on {plan.task} whose plan was another ({', '.join(changed)}), and a plan "
            "must not change once it has been looked at: give the same command as before, or another folder"
        )
    return None


def has_begun(race: Race, heads: Iterable[Head]) -> bool:
    """Whether there is a look of the race, or a record of one of its methods on its task."""
    known = set(race.plan.methods.values())
    return bool(race.looks) or any(
        head.task_digest == race.plan.task_digest and head.method_digest in known for head in heads
    )


def _has_begun_in(root: Path, race: Race) -> bool:
    return has_begun(race, (entry.head for entry in read_snapshot(root).resolved.kept))


def keep_looks(root: Path, race: Race) -> None:
    """Keep a race with a new look, unless somebody who shares it has kept more, or changed its plan."""
    with locked(root):
        held = held_race(root, race.plan)
        if held is None or len(held.looks) < len(race.looks):
            write_race(root, race)


def read_races(root: Path) -> dict[str, Race]:
    """The races that the archive holds, by address."""
    races = [read_race(path) for path in sorted((root / RACES).glob("*.json"))]
    return {race.plan.task: race for race in races}


def races_on(
    root: Path, tasks: Mapping[str, TaskFacts], heads: Collection[Head], called: Path
) -> dict[str, Race]:
    """The races on these very tasks that have begun, as the records show; an error if one is lost.

    `called` is what the user calls the archive.
    """
    for plan in lost_plans(root, heads):
        if plan.task in tasks and plan.task_digest == tasks[plan.task].digest:
            raise LocationError(
                f"{called}: {lost_words(plan)}, and p-values without it do not allow for its looks: "
                f"{RESTORED}"
            )
    return {
        address: race
        for address, race in read_races(root).items()
        if address in tasks and race.plan.task_digest == tasks[address].digest and has_begun(race, heads)
    }


def begun_races(root: Path, heads: Collection[Head]) -> dict[str, Race]:
    """The races that have begun, as the records show, by address; of one that is lost no look is known."""
    kept = {task: race for task, race in read_races(root).items() if has_begun(race, heads)}
    return kept | {plan.task: Race(plan) for plan in lost_plans(root, heads)}


RESTORED = "restore it from a copy, or give the command of the race again, which takes its looks anew"


def lost_plans(root: Path, heads: Collection[Head]) -> list[RacePlan]:
    """The plans of the races that have begun, as the records show, and whose files are missing."""
    lost = [plan for task, plan in read_plans(root).items() if not race_path(root, task).exists()]
    return [plan for plan in lost if has_begun(Race(plan), heads)]


def lost_words(plan: RacePlan) -> str:
    """Which file is missing."""
    return f"{RACES}/{segment(plan.task)}.json: the record of the race on {plan.task} is missing"


def read_race(path: Path) -> Race:
    """A race from its document."""
    given = DocumentFields(path, read_document(path))
    looks = tuple(_look(DocumentFields(path, one)) for one in given.take("looks", list))
    race = Race(_plan(DocumentFields(path, given.take("plan", dict))), looks)
    if race.plan.looks[: len(looks)] != tuple(look.sets for look in looks):
        raise FormatError(path, None, "its looks are not those that were planned: restore it from a copy")
    return race


def _plan(given: DocumentFields) -> RacePlan:
    methods = DocumentFields(given.path, given.take("methods", dict))
    return RacePlan(
        given.take("task", str),
        given.digest("task_digest"),
        given.take("loss", str),
        {name: methods.digest(name) for name in methods.content},
        _wholes(given, "looks"),
        float(given.take("level", float)),
        given.take("margin", str, type(None)),
        given.take("runs", int),
        _rule(given),
    )


def _rule(plan: DocumentFields) -> LookRule:
    """How looks share the level; races of old name no rule, and have the old one."""
    named = plan.take("rule", str) if "rule" in plan.content else OLD_RULE
    for rule in get_args(LookRule):
        if rule == named:
            return cast(LookRule, rule)
    raise FormatError(
        plan.path,
        None,
        f'its looks go by the rule "{named}", which this version does not know: use a newer redelve',
    )


def _look(given: DocumentFields) -> RaceLook:
    p_values = DocumentFields(given.path, given.take("p_values", dict))
    return RaceLook(
        given.take("sets", int),
        given.take("when", str),
        {name: float(p_values.take(name, float, int)) for name in p_values.content},
        given.texts("dropped"),
        given.texts("failed"),
        float(given.take("p_equivalent", float, int)),
        given.take("needed", int, type(None)),
    )


def _wholes(given: DocumentFields, name: str) -> tuple[int, ...]:
    values = given.take(name, list)
    if not values or not all(isinstance(value, int) for value in values):
        raise FormatError(given.path, None, f'expected whole numbers in "{name}" but got {values!r:.80}')
    return tuple(values)


# Analyses


def read_analyses(root: Path) -> Earlier:
    """What was looked at before, by the tasks' addresses."""
    tasks = _part(root, "tasks")
    return {
        address: tuple(_earlier(DocumentFields(tasks.path, one)) for one in tasks.take(address, list))
        for address in tasks.content
    }


def read_plans(root: Path) -> dict[str, RacePlan]:
    """The plans of all races, by the tasks' addresses; archives of before have noted none."""
    plans = _part(root, "races")
    return {name: _plan(DocumentFields(plans.path, plans.take(name, dict))) for name in plans.content}


def _part(root: Path, name: str) -> DocumentFields:
    """A part of the document of what was looked at; empty where there is none."""
    path = root / ANALYSES
    given = DocumentFields(path, read_document(path) if path.exists() else {})
    return DocumentFields(path, given.take(name, dict) if name in given.content else {})


def _note_plan(root: Path, plan: RacePlan) -> None:
    plans = read_plans(root)
    if plans.get(plan.task) != plan:
        _write_analyses(root, read_analyses(root), {**plans, plan.task: plan})


def _write_analyses(root: Path, looked: Earlier, plans: Mapping[str, RacePlan]) -> None:
    tasks: Document = {name: [asdict(one) for one in looks] for name, looks in sorted(looked.items())}
    races: Document = {name: asdict(plan) for name, plan in sorted(plans.items())}
    write_document(root / ANALYSES, {"tasks": tasks, **({"races": races} if races else {})})


def _earlier(given: DocumentFields) -> EarlierLook:
    lacking = DocumentFields(given.path, given.take("lacking", dict) if "lacking" in given.content else {})
    return EarlierLook(
        given.take("instances", int),
        given.texts("methods"),
        given.take("when", str),
        {name: _wholes(lacking, name) for name in lacking.content},
        given.take("data", str) if "data" in given.content else "",
    )


def note_analysis(root: Path, results: Results, compared: Collection[str]) -> None:
    """Remember of each task how many instances which methods have, and lack; twice the same counts once.

    Tasks on which nothing could be compared are left out, and those of a race, which keeps its own record.
    The folder may be that of `redelve assess`. Where nothing can be written nothing is.
    """
    root = root_in(root)
    if not (root / MARKER).is_file():
        return
    with contextlib.suppress(OSError), locked(root):
        seen = seen_in(results).items()
        _add(root, {name: look for name, look in seen if name in compared and name not in results.races})


@dataclass(frozen=True)
class MergeSide:
    """One of two archives that are merged, what its user calls it, and the records that it had before."""

    root: Path
    called: Path
    heads: Collection[Head]

    def begun_races(self) -> dict[str, Race]:
        """Its races that have begun, by the tasks' addresses."""
        return begun_races(self.root, self.heads)

    def has_lost(self, task: str) -> bool:
        """Whether the record of a race is missing, so that only its plan is known."""
        return not race_path(self.root, task).exists()

    def loss_told(self, task: str) -> str:
        """That the record is missing, if it is."""
        return " (its record is missing)" if self.has_lost(task) else ""


def refuse_other_races(ours: MergeSide, theirs: MergeSide) -> None:
    """Refuse to merge races on one task that differ in their plans, or of which looks would be forgotten."""
    held = ours.begun_races()
    for task, race in theirs.begun_races().items():
        if task not in held:
            continue
        if held[task].plan != race.plan:
            changed = ", ".join(held[task].plan.differences(race.plan)) or "how looks share the level"
            raise SpecError(
                f"{theirs.called}: holds a race on {task}{theirs.loss_told(task)}, and so does {ours.called}"
                f"{ours.loss_told(task)}, by another plan ({changed}): keep the two archives apart, and "
                "report each by itself"
            )
        _refuse_shorter(ours, theirs, race)
        _refuse_shorter(theirs, ours, held[task])


def _refuse_shorter(lost: MergeSide, other: MergeSide, race: Race) -> None:
    """Refuse to take the other's record of the same race for a lost one that may tell of more looks."""
    task = race.plan.task
    if not lost.has_lost(task) or other.has_lost(task):
        return
    most = most_looks(race.plan, lost.heads)
    if most > len(race.looks):
        raise LocationError(
            f"{lost.called}: {lost_words(race.plan)}, and it may have told more looks ({most}) "
            f"than that of the same race in {other.called} ({len(race.looks)}): {RESTORED}"
        )


def most_looks(plan: RacePlan, heads: Iterable[Head]) -> int:
    """How many looks a race can have had: each needs the jobs of two methods on all its training sets."""
    sets: dict[str, set[int]] = {name: set() for name in plan.methods}
    for head in heads:
        if head.task_digest == plan.task_digest and plan.methods.get(head.job.method) == head.method_digest:
            sets[head.job.method].add(head.job.instance)
    return sum(sum(len(one) >= look for one in sets.values()) > 1 for look in plan.looks)


def take_over(ours: MergeSide, theirs: MergeSide) -> None:
    """What was looked at in another archive counts as looked at here, once its records are here.

    Of races on the same task that have both begun, which have the same plan, the one that went further stays.
    """
    held = ours.begun_races()
    for task, race in theirs.begun_races().items():
        mine = held.get(task)
        if not theirs.has_lost(task):
            if mine is None or ours.has_lost(task) or len(mine.looks) < len(race.looks):
                write_race(ours.root, race)
        elif mine is None:  # that it is missing is told here, too
            race_path(ours.root, task).unlink(missing_ok=True)  # nothing was done by that plan
            _note_plan(ours.root, race.plan)
    for address, looks in read_analyses(theirs.root).items():
        for look in looks:
            _add(ours.root, {address: look})


def _add(root: Path, seen: Mapping[str, EarlierLook]) -> None:
    held = read_analyses(root)
    new = {name: look for name, look in seen.items() if not _is_known(look, held.get(name, ()))}
    if not new:
        return
    for name, look in new.items():
        held[name] = (*held.get(name, ()), look)
    _write_analyses(root, held, read_plans(root))


def _is_known(look: EarlierLook, held: Iterable[EarlierLook]) -> bool:
    return any(replace(one, when=look.when) == look for one in held)


def seen_in(results: Results) -> dict[str, EarlierLook]:
    """Of each task with losses how many instances there are, of which methods, and what some of them lack."""
    found = {}
    for address in results.tasks:
        every = {name: results.of(name, address) for name in results.methods}
        held = {name: {one.job.instance for one in each if one.losses} for name, each in every.items()}
        if union := set().union(*held.values()):
            lacking = {name: tuple(sorted(union - one)) for name, one in held.items() if one and one != union}
            names = tuple(sorted(name for name, one in held.items() if one))
            data = results.tasks[address].data_digest
            found[address] = EarlierLook(len(union), names, now(), lacking, data)
    return found


def looked_before(root: Path, races: Iterable[str]) -> Earlier:
    """Analyses made before, and the looks of races on tasks that are now analysed in the ordinary way."""
    found = read_analyses(root)
    for address, race in read_races(root).items():
        if address not in races:
            data = _data_of(root, race.plan)
            looks = (EarlierLook(one.sets, tuple(one.p_values), one.when, data=data) for one in race.looks)
            found[address] = (*found.get(address, ()), *looks)
    return found


def _data_of(root: Path, plan: RacePlan) -> str:
    """The digest of the data that a race is on."""
    path = task_path(root, plan.task, plan.task_digest)
    return DocumentFields(path, read_document(path)).take("data_digest", str) if path.exists() else ""
