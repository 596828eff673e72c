"""What every part of the server works with: settings, challenge, database, clock, accounts."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from redelve.challenge import Challenge, ChallengeLimits, read_challenge
from redelve.challenge.server.accounts import Accounts
from redelve.challenge.server.belonging import check_files, settle
from redelve.challenge.server.clock import Clock, SystemClock
from redelve.challenge.server.clock_guard import GuardedClock
from redelve.challenge.server.database import Database
from redelve.challenge.server.database_tables import ORGANISER, Fact
from redelve.challenge.server.secrets_kept import Passwords, new_secret
from redelve.challenge.server.settings import RateLimits, Settings
from redelve.challenge.server.standing import PhaseSchedule, Stage, schedule
from redelve.errors import LocationError

KEY = "form_key"
HOUR = 3600


@dataclass(frozen=True)
class Services:
    """The server without its pages; a worker needs no more. Make it by `open_services`."""

    settings: Settings
    challenge: Challenge
    database: Database
    clock: GuardedClock
    accounts: Accounts
    key: str
    """What tokens of forms are made with; the same in all processes."""
    lease_clock: Clock = field(default_factory=SystemClock)
    """Leases run by real time, even where the challenge's clock is moved by hand."""
    wake: threading.Event = field(default_factory=threading.Event)
    are_bound: threading.Event = field(default_factory=threading.Event)
    """Set when all labels in memory are known to be those that were bound."""

    @property
    def zone(self) -> str:
        """The time zone in which times are shown, besides UTC."""
        return self.challenge.time_zone

    def now(self) -> datetime:
        """The time by which everything is judged."""
        return self.clock.now()

    def schedule(self) -> PhaseSchedule:
        """The phases that hold."""
        with self.database.reading() as session:
            return schedule(session, self.challenge.phases)

    def stage(self) -> Stage:
        """Where the challenge stands now."""
        return self.schedule().stage(self.now())

    def organiser_link(self, *, another: bool = False) -> str | None:
        """The path of a link that makes who follows it an organiser; None where there is one already.

        With `another` there is a link all the same: for one more, or for one who lost a password.
        """
        if self.accounts.has_organiser() and not another:
            return None
        return f"/link/{self.accounts.invite(self.now(), ORGANISER)}"

    def close(self) -> None:
        """Let the connections go."""
        self.database.close()


def open_services(settings: Settings, clock: Clock | None = None, *, may_change: bool = True) -> Services:
    """Read the challenge, open the database, bring its tables up to date, see that all belong together.

    `may_change` lets the challenge's datasets be others than before, as long as there are no entries.
    """
    challenge = read_challenge(settings.challenge)
    settings = replace(settings, rates=rates_of(settings.rates, challenge.limits))
    check_files(challenge)
    _make_folders(settings)
    with contextlib.ExitStack() as after_a_failure:
        database = Database(settings.database)
        after_a_failure.callback(database.close)
        database.migrate()
        pause = timedelta(seconds=settings.pause_seconds)
        held = GuardedClock(clock or SystemClock(), database, challenge.phases, pause)
        settle(settings, challenge, database, held.now(), may_change=may_change)
        with contextlib.suppress(IntegrityError):  # another process was faster
            held.keep()
        accounts = Accounts(database, settings, Passwords(settings.passwords))
        services = Services(settings, challenge, database, held, accounts, _key(database))
        after_a_failure.pop_all()
        return services


def rates_of(given: RateLimits, limits: ChallengeLimits) -> RateLimits:
    """How often things may be tried, where it is not said otherwise as the challenge says."""
    return replace(
        given,
        registrations_by_address=given.registrations_by_address or (limits.registrations_per_hour, HOUR),
        uploads=given.uploads or (limits.uploads_per_hour, HOUR),
        uploads_by_address=given.uploads_by_address or (limits.address_uploads_per_hour, HOUR),
    )


def one_at_a_time(session: Session) -> None:
    """Let others who count something up wait until this transaction ends: they lock a row that is there."""
    session.get_one(Fact, KEY, with_for_update=True, populate_existing=True)


def _make_folders(settings: Settings) -> None:
    try:
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        settings.uploads.mkdir(exist_ok=True, mode=0o700)
    except OSError as problem:
        raise LocationError(
            f"{settings.data}: the server cannot keep its files there ({problem.strerror}): give another "
            "folder with --data"
        ) from None


def _key(database: Database) -> str:
    """The key in the database; of several processes that start at once, the first one makes it."""
    with contextlib.suppress(IntegrityError), database.writing() as session:
        if session.get(Fact, KEY) is None:
            session.add(Fact(name=KEY, content={"key": new_secret()}))
    with database.reading() as session:
        return str(session.get_one(Fact, KEY).content["key"])
