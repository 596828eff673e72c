"""The data that an archive's tasks were made of, found again by their digests: an archive holds no inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from redelve.data.tables import Description, Intake, read_description
from redelve.data.tasks import NamedTasks, is_table, task
from redelve.errors import LocationError, RedelveError, SpecError
from redelve.model import Assignment
from redelve.run.results import TaskFacts
from redelve.store.fact_files import read_task, task_paths
from redelve.store.look_files import begun_races
from redelve.store.same_data import Mark, adopted, mark_of, mark_of_assignment
from redelve.store.snapshot import read_snapshot


def assignments_of(archive: Path, data: Sequence[Path]) -> dict[str, Assignment]:
    """The archive's tasks, ready to be worked on: from the catalogue, or made of tables with the same values.

    `data` are tables to look at first; then come those beside the archive that have a dataset's name.
    """
    every = [read_task(path, archive, with_truths=False) for path in task_paths(archive)]
    if not every:
        raise SpecError(f"{archive}: there is no task in it yet: begin with redelve assess")
    raced = _raced(archive)
    found: dict[Mark, Assignment] = {}
    lacking: dict[str, RedelveError] = {one.address: _refused(one) for one in every if one.digest in raced}
    wanted = [one for one in every if one.digest not in raced]
    for facts in wanted:
        if mark_of(facts) not in found:
            try:
                found |= _made_again(archive, facts, set(map(mark_of, wanted)), data)
            except LocationError as problem:
                lacking.setdefault(facts.address, problem)
    there = {facts.address for facts in wanted if mark_of(facts) in found}
    for address, error in lacking.items():
        if address not in there:  # of several versions, one will do
            raise error
    return adopted(archive, {one.address: one for one in found.values()})


def _raced(archive: Path) -> set[str]:
    """The digests of the tasks that races have begun on."""
    heads = [entry.head for entry in read_snapshot(archive).resolved.kept]
    return {race.plan.task_digest for race in begun_races(archive, heads).values()}


def _refused(facts: TaskFacts) -> SpecError:
    return SpecError(
        f"{facts.address}: there is a race on it, and its methods are fixed since its first job, so none can "
        "be added: race all of them anew in another folder, or assess them there without until_settled "
        "(--until-settled)"
    )


def _made_again(
    archive: Path, facts: TaskFacts, wanted: Collection[Mark], data: Sequence[Path]
) -> dict[Mark, Assignment]:
    """The tasks of a dataset that are wanted, this one among them."""
    tried: list[str] = []
    for made in _candidates(archive, facts, data, tried):
        marked = {mark_of_assignment(one): one for one in made.assignments}
        if mark_of(facts) in marked:
            return {mark: one for mark, one in marked.items() if mark in wanted}
    targets = ", ".join(f'"{one.name}"' for one in facts.targets)
    looked = f"; {', '.join(dict.fromkeys(tried))} has other values" if tried else ""
    raise LocationError(
        f"{facts.address}: its data are not here. Needed is the table with {facts.case_count} cases, "
        f"{facts.input_count} inputs and target {targets} whose digest is {facts.data_digest[:12]}: name it "
        f"with --data file{looked}"
    )


def _candidates(
    archive: Path, facts: TaskFacts, data: Sequence[Path], tried: list[str]
) -> Iterator[Intake | NamedTasks]:
    """What the task may have been made of."""
    with suppress(RedelveError):  # it may be no task of the catalogue
        yield task(facts.address)
    dataset = facts.address.split("/")[1]
    for path in (*data, *_tables_called(dataset, archive)):
        tried.append(str(path))
        yield from _of_table(path, archive, facts, dataset)


def _tables_called(name: str, archive: Path) -> list[Path]:
    """Tables of this name here, beside the archive, and beside the folder of the assessment."""
    folders = dict.fromkeys((Path(), archive.parent, archive.parent.parent))
    found = [path for folder in folders for path in sorted(folder.glob(f"{name}.*"))]
    return [path for path in found if path.is_file() and is_table(path)]


def _of_table(path: Path, archive: Path, facts: TaskFacts, dataset: str) -> Iterator[Intake | NamedTasks]:
    """The table as described beside the archive; or as it may have been made without a description."""
    target = facts.targets[0].name
    for said in sorted(archive.parent.glob("*.toml")):
        try:
            yield task(path, description=read_description(said))
        except RedelveError:  # of another table
            continue
    for name, nameless in ((None, True), (None, False), (dataset, False)):
        for design in dict.fromkeys((None, _design_of(facts))):
            try:
                described = Description(is_nameless=nameless)
                yield task(path, target, name=name, design=design, description=described)
            except RedelveError:  # such as a column that is not there
                continue


def _design_of(facts: TaskFacts) -> str | None:
    folds = len(facts.instances) // max(facts.repetitions, 1)
    return f"cv {folds}x{facts.repetitions}" if facts.scheme == "cross-validation" else None
