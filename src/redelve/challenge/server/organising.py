"""What an organiser may do; every act is in the audit log, with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from redelve.challenge.phases import instant_in
from redelve.challenge.server import jobs, standing
from redelve.challenge.server.accounts import RESET
from redelve.challenge.server.audit import Actor, note
from redelve.challenge.server.boards import ask_for_new_ranking
from redelve.challenge.server.database_tables import Entry, User
from redelve.challenge.server.refusals import Refusal, not_found, wrong_field
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import PhaseSchedule
from redelve.challenge.server.texts import one_line
from redelve.errors import SpecError

MOMENTS = ("opens", "validation_labels", "ends")
NOW = "now"


def move_phases(services: Services, actor: Actor, given: Mapping[str, str], reason: str) -> PhaseSchedule:
    """Move phases to times given as texts: empty for no change, `now`, or a date and time.

    A time without an offset is one of the challenge's time zone.
    """
    now = services.now()
    wanted = {
        name: _moment(services, name, given[name], now) for name in MOMENTS if given.get(name, "").strip()
    }
    checked = one_line(reason, "reason", least=1, most=500)
    with services.database.writing() as session:
        held = standing.move(session, services.challenge.phases, now, actor, wanted, checked)
    services.wake.set()
    return held


def _moment(services: Services, name: str, text: str, now: datetime) -> datetime:
    if text.strip() == NOW:
        return now
    try:
        return instant_in(text.strip(), services.zone)
    except (SpecError, OverflowError) as problem:
        raise wrong_field(name, str(problem)) from None


def confirm_clock(services: Services, actor: Actor) -> None:
    """Let a jump of the machine's clock count."""
    if not services.clock.reading().is_held:
        raise Refusal(409, "clock_is_right", "The clock is not in doubt.")
    services.clock.confirm(actor)
    services.wake.set()


def disqualify_entry(
    services: Services, actor: Actor, entry_id: int, reason: str, *, undo: bool = False
) -> None:
    """Take an entry out of all boards, or back into them."""
    checked = one_line(reason, "reason", least=1, most=500)
    with services.database.writing() as session:
        entry = session.get(Entry, entry_id, with_for_update={"of": Entry})
        if entry is None:
            raise not_found("such entry")
        entry.disqualified_at = None if undo else services.now()
        entry.disqualified_reason = None if undo else checked
        what = "entry readmitted" if undo else "entry disqualified"
        note(session, services.now(), actor, what, f"entry {entry_id}", {"reason": checked})
        ask_for_new_ranking(session)
    services.wake.set()


def disqualify_user(
    services: Services, actor: Actor, user_id: int, reason: str, *, undo: bool = False
) -> None:
    """Take a participant with all entries out of all boards, or back into them."""
    checked = one_line(reason, "reason", least=1, most=500)
    with services.database.writing() as session:
        user = session.get(User, user_id, with_for_update=True)
        if user is None or user.is_organiser:
            raise not_found("such participant")
        user.disqualified_at = None if undo else services.now()
        user.disqualified_reason = None if undo else checked
        what = "participant readmitted" if undo else "participant disqualified"
        note(session, services.now(), actor, what, user.name, {"reason": checked})
        ask_for_new_ranking(session)
    services.wake.set()


def retry_entry(services: Services, actor: Actor, entry_id: int) -> None:
    """Let workers try again what they gave up."""
    with services.database.writing() as session:
        if not jobs.retry(services, session, entry_id):
            raise Refusal(409, "nothing_to_retry", f"No job of entry {entry_id} was given up.")
        note(session, services.now(), actor, "entry retried", f"entry {entry_id}")
        ask_for_new_ranking(session)
    services.wake.set()


def retry_all(services: Services, actor: Actor) -> None:
    """Let workers try again everything they gave up, as when test labels were put in their place too late."""
    with services.database.writing() as session:
        count = jobs.retry(services, session)
        if not count:
            raise Refusal(409, "nothing_to_retry", "No job was given up.")
        note(session, services.now(), actor, "all entries retried", f"{count} jobs")
        ask_for_new_ranking(session)
    services.wake.set()


def rank_again(services: Services, actor: Actor) -> None:
    """Ask for the final ranking to be made anew."""
    with services.database.writing() as session:
        note(session, services.now(), actor, "ranking asked for")
        ask_for_new_ranking(session)
    services.wake.set()


def reset_link(services: Services, actor: Actor, user_id: int) -> str:
    """The path of a link by which an account gets a new password."""
    with services.database.reading() as session:
        if session.get(User, user_id) is None:
            raise not_found("such account")
    return f"/link/{services.accounts.invite(services.now(), RESET, user_id, actor)}"
