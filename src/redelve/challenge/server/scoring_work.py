"""What workers do: check and score an entry, score its test cases after the end, make the final ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from redelve.challenge import (
    ArchiveLimits,
    Submission,
    SubmissionError,
    outcomes_of,
    read_submission,
    score_submission,
    scores_to_json,
)
from redelve.challenge.server import jobs
from redelve.challenge.server.audit import enter
from redelve.challenge.server.belonging import bind_labels, lacking_test_labels
from redelve.challenge.server.boards import final_board
from redelve.challenge.server.database_tables import (
    REFUSED,
    SCORED,
    DevelopmentScore,
    Entry,
    FinalScore,
    RankingMade,
)
from redelve.challenge.server.jobs import Lease
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import Stage

DEVELOPMENT = ("train", "valid")
ALL = ("train", "valid", "test")


def read_entry(services: Services, entry: Entry) -> Submission:
    """What the entry's file holds."""
    limits = ArchiveLimits(compressed=services.challenge.limits.megabytes << 20)
    return read_submission(services.settings.uploads / entry.stored, services.challenge, limits=limits)


def check(services: Services, lease: Lease) -> None:
    """Read the file strictly and score training and validation cases. Test labels are not touched."""
    entry = _entry(services, lease)
    try:
        submission = read_entry(services, entry)
    except SubmissionError as error:
        _refuse(services, lease, error)
        return
    scores = scores_to_json(score_submission(submission, services.challenge, DEVELOPMENT))
    outcomes = outcomes_of(submission, services.challenge, "valid")
    with services.database.writing() as session:
        if not jobs.finish(services, session, lease, "scored"):
            return
        held = session.get_one(Entry, entry.id)
        held.is_complete = submission.is_complete
        for name, content in scores.items():
            score = DevelopmentScore(entry_id=entry.id, dataset=name, content=content)
            score.outcomes = outcomes.get(name)
            session.add(score)
        enter(session, held, SCORED, services.now(), _lacking(submission))


def _lacking(submission: Submission) -> str:
    if submission.is_complete:
        return "is complete and scored on the validation cases"
    first = ", ".join(submission.lacks[:5])
    more = f" and {len(submission.lacks) - 5} more" if len(submission.lacks) > 5 else ""
    return f"is scored on the validation cases, but not complete; it lacks {first}{more}"


def _refuse(services: Services, lease: Lease, error: SubmissionError) -> None:
    with services.database.writing() as session:
        if not jobs.finish(services, session, lease, "refused"):
            return
        entry = session.get_one(Entry, lease.entry_id)
        entry.problems = [problem[:500] for problem in error.problems]
        count = len(error.problems)
        reason = f"cannot be taken: {count} problem{'s' if count > 1 else ''} to mend"
        enter(session, entry, REFUSED, services.now(), reason)
        stored = entry.stored
    (services.settings.uploads / stored).unlink(missing_ok=True)  # nobody will read it again


def score_test(services: Services, lease: Lease) -> None:
    """Score the test cases. This is never reached before the end: there is no such job."""
    if services.stage() is not Stage.ENDED:
        raise AssertionError("test cases are not scored before the end")
    _check_bound(services)
    entry = _entry(services, lease)
    submission = read_entry(services, entry)
    scores = scores_to_json(score_submission(submission, services.challenge, ALL))
    outcomes = outcomes_of(submission, services.challenge, "test")
    with services.database.writing() as session:
        if jobs.finish(services, session, lease, "scored"):
            _add_final(session, entry.id, scores, outcomes)


def _check_bound(services: Services) -> None:
    """Raise an error unless the labels are those that were bound; those that came late are bound now."""
    if services.are_bound.is_set():
        return
    with services.database.writing() as session:
        bind_labels(session, services.challenge, services.now(), may_change=False)
    if not lacking_test_labels(services.challenge):
        services.are_bound.set()


def _add_final(
    session: Session, entry_id: int, scores: Mapping[str, Any], outcomes: Mapping[str, bytes]
) -> None:
    for name, content in scores.items():
        score = FinalScore(entry_id=entry_id, dataset=name, content=content)
        score.outcomes = outcomes.get(name)
        session.add(score)


def make_ranking(services: Services, lease: Lease) -> None:
    """Make the final ranking of all entries that count."""
    revision = int(lease.key.rpartition(":")[2])
    content = final_board(services)
    with services.database.writing() as session:
        if jobs.finish(services, session, lease, "ranked"):
            session.add(RankingMade(revision=revision, computed_at=services.now(), content=content))


def _entry(services: Services, lease: Lease) -> Entry:
    with services.database.reading() as session:
        return session.get_one(Entry, lease.entry_id)
