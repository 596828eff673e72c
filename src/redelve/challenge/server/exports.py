"""After the end: everything as a redelve archive, the answer and loss of every case included."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from redelve.answers.answer import baselines_by_loss, losses_for, score
from redelve.challenge import Challenge
from redelve.challenge.challenge_folder import SETTINGS
from redelve.challenge.scoring import LABEL, labelled, truth_of_labels
from redelve.challenge.server import jobs, visible
from redelve.challenge.server.audit import Actor, note
from redelve.challenge.server.boards import final_content, is_outdated, revision_of
from redelve.challenge.server.database_tables import SCORED, Entry, QueuedJob
from redelve.challenge.server.jobs import Lease
from redelve.challenge.server.refusals import Refusal, not_found
from redelve.challenge.server.scoring_work import ALL, read_entry
from redelve.challenge.server.services import Services, one_at_a_time
from redelve.challenge.server.standing import Stage
from redelve.model.dataset import digest
from redelve.run.results import InstanceFacts, Job, MethodFacts, Record, TaskFacts
from redelve.store import Archive

PARTS = ("valid", "test")
PORTION = 100
"""After so many entries the archive is compacted: what is not takes four times the room on the disk."""
SEALED = Refusal(403, "sealed", "The archive is sealed until the end of the challenge.")


def ask(services: Services, actor: Actor) -> int:
    """Put an export into the queue; its number."""
    if services.stage() is not Stage.ENDED:
        raise SEALED
    with services.database.writing() as session:
        one_at_a_time(session)
        _check_ready(session)
        number = 1 + len(list(session.scalars(select(QueuedJob.id).where(QueuedJob.kind == jobs.EXPORT))))
        jobs.add(session, jobs.EXPORT, services.lease_clock.now(), number)
        note(session, services.now(), actor, "export asked for", f"export {number}")
    services.wake.set()
    return number


def _check_ready(session: Session) -> None:
    """Raise a problem as long as scores or the ranking are to come; the archive would lack them."""
    is_waiting = jobs.open_jobs(session, *jobs.SCORING) or jobs.lacks_ending(session, revision_of(session))
    if is_waiting or is_outdated(session):
        raise Refusal(409, "in_the_making", "Entries are still being scored: ask again in a moment.")
    if jobs.open_jobs(session, jobs.EXPORT):
        raise Refusal(409, "in_the_making", "An archive is being made already: load the page again later.")


def exported(services: Services) -> list[tuple[int, str, bool]]:
    """The exports there are: number, state, and whether the file can be downloaded."""
    with services.database.reading() as session:
        found = session.scalars(
            select(QueuedJob).where(QueuedJob.kind == jobs.EXPORT).order_by(QueuedJob.id.desc())
        )
        numbered = [(int(job.key.rpartition(":")[2]), job.state) for job in found]
    return [(number, state, _place(services, number).is_file()) for number, state in numbered]


def file_of(services: Services, number: int) -> Path:
    """The zip of an export."""
    if services.stage() is not Stage.ENDED:
        raise SEALED
    path = _place(services, number)
    if not path.is_file():
        raise not_found("such export")
    return path


def _place(services: Services, number: int) -> Path:
    return services.settings.data / "exports" / f"challenge-archive-{number}.zip"


def make(services: Services, lease: Lease) -> None:
    """Make the archive that was asked for: a worker's job."""
    path = _place(services, int(lease.key.rpartition(":")[2]))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in path.parent.glob(f"{path.stem}.*"):  # by a worker that died
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    work = path.with_name(f"{path.stem}.{lease.secret}")
    try:
        write_archive(services, work / "archive")
        write_documents(services, work)
        write_evidence(services, work)
        _zip(work, path)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    with services.database.writing() as session:
        jobs.finish(services, session, lease, "exported")


def write_archive(services: Services, folder: Path) -> Archive:
    """A task for each dataset and part, a method for each entry, a record for each pair of them."""
    if services.stage() is not Stage.ENDED:
        raise SEALED
    folder.parent.mkdir(parents=True, exist_ok=True)
    archive = Archive.open(folder, create=True)
    tasks = {task.address: task for task in _tasks(services.challenge)}
    archive.register(tasks, {})
    with services.database.reading() as session:
        entries = _entries(session)
    for number, entry in enumerate(entries, start=1):
        method = _method(entry)
        archive.register({}, {method.name: method})
        for record in _records(services, entry, method, tasks):
            archive.add(record)
        if number % PORTION == 0:
            archive.compact()
    archive.compact()
    return archive


def write_documents(services: Services, folder: Path) -> None:
    """The final ranking, what is known of every entry, and what was bound at the opening, as JSON."""
    with services.database.reading() as session:
        made = final_content(session)
        entries = [visible.detailed_document(services, session, entry) for entry in _entries(session)]
    ranking = None if made is None else made.content
    bound = visible.commitments_document(services)
    documents = {"ranking.json": ranking, "entries.json": entries, "commitments.json": bound}
    for name, content in documents.items():
        (folder / name).write_text(json.dumps(content, indent=1, default=_plain, ensure_ascii=False))


def write_evidence(services: Services, folder: Path) -> None:
    """What anybody needs to make the ranking again: settings, labels and the entries as they were sent."""
    challenge = services.challenge
    place = folder / "challenge"
    files = [challenge.folder / SETTINGS]
    files += [challenge.labels_path(name, part) for name in challenge.names for part in ALL]
    for file in files:
        target = place / file.relative_to(challenge.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    (folder / "sent").mkdir()
    with services.database.reading() as session:
        entries = _entries(session)
    for entry in entries:
        shutil.copyfile(services.settings.uploads / entry.stored, folder / "sent" / f"{entry.id}.zip")


def _plain(value: Any) -> str:
    return str(value.astimezone(UTC).isoformat())


def _entries(session: Session) -> list[Entry]:
    return list(session.scalars(select(Entry).where(Entry.state == SCORED).order_by(Entry.id)))


def _address(dataset: str, part: str, size: int) -> str:
    """The parts are prototasks of their own: reports must not take them for points of one learning curve."""
    return f"/{dataset}/{part}/challenge.{size}"


def _tasks(challenge: Challenge) -> Iterator[TaskFacts]:
    """The datasets' parts as tasks with one instance: trained on the training part, tested on the part."""
    for dataset in challenge.datasets:
        for part in PARTS:
            truth = truth_of_labels(challenge.truths(dataset.name, part))
            size = dataset.sizes["train"]
            address = _address(dataset.name, part, size)
            content = digest([address, truth.values.tolist()])
            numbers = np.arange(1, len(truth) + 1, dtype=np.int64)
            yield TaskFacts(
                address=address,
                digest=content,
                data_digest=content,
                training_set_size=size,
                scheme="common",
                repetitions=1,
                targets=(LABEL,),
                instances=(InstanceFacts(content, size, numbers, (truth,)),),
                baselines=baselines_by_loss([truth], losses_for((LABEL,))),
                usage="challenge",
                origin=challenge.title,
                input_count=dataset.features,
                case_count=sum(dataset.sizes.values()),
                notes=("participants chose their methods; entries of one participant depend on each other",),
            )


def _method(entry: Entry) -> MethodFacts:
    identity: dict[str, object] = {
        "entry": entry.id,
        "participant": entry.user.name,
        "label": entry.label,
        "received": _plain(entry.received_at),
        "sha256": entry.sha256,
        "complete": entry.is_complete,
        "disqualified": entry.disqualified_reason or entry.user.disqualified_reason or "",
    }
    summary = f"entry {entry.id} of {entry.user.name}" + (f": {entry.label}" if entry.label else "")
    return MethodFacts(f"entry-{entry.id}", digest(identity), identity, summary)


def _records(
    services: Services, entry: Entry, method: MethodFacts, tasks: dict[str, TaskFacts]
) -> Iterator[Record]:
    submission = read_entry(services, entry)
    losses = losses_for((LABEL,))
    for name, given in submission.entries.items():
        for part in PARTS:
            if part in given.answers:
                size = services.challenge.dataset(name).sizes["train"]
                task = tasks[_address(name, part, size)]
                answer = labelled(given.answers[part], given.confidences.get(part))
                yield Record(
                    Job(task.address, method.name, 0),
                    digest([method.digest, task.digest]),
                    0,
                    "done",
                    losses=score(answer, task.instances[0].truths, losses),
                    answer=answer,
                    started=_plain(entry.received_at),
                )


def _zip(folder: Path, path: Path) -> None:
    """Put a folder into a zip that appears whole or not at all."""
    part = path.with_name(f"{folder.name}.part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    part.replace(path)
