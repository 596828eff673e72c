"""The worker: takes jobs as long as it runs, in a thread of the server or in a process of its own."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError, OperationalError

from redelve.challenge.commitments import LabelsChanged
from redelve.challenge.server import exports, jobs, rates, scoring_work, uploads
from redelve.challenge.server.boards import ask_for_new_ranking, is_outdated, revision_of
from redelve.challenge.server.database_tables import Entry
from redelve.challenge.server.jobs import Lease
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import Stage, close

LOG = logging.getLogger("redelve.challenge.worker")
SWEEP_EVERY = 600.0
WORK: dict[str, Callable[[Services, Lease], None]] = {
    jobs.CHECK: scoring_work.check,
    jobs.FINAL: scoring_work.score_test,
    jobs.RANKING: scoring_work.make_ranking,
    jobs.EXPORT: exports.make,
}


class Worker:
    """Works off the queue; any number of them share a database."""

    def __init__(self, services: Services, name: str | None = None) -> None:
        self.services = services
        self.name = name or f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident() % 10000}"
        self._swept = float("-inf")

    def run(self, stop: threading.Event) -> None:
        """Work until told to stop; a passing trouble with the database ends nothing."""
        while not stop.is_set():
            try:
                if self.step():
                    continue
            except Exception:
                LOG.exception("the worker met a problem and goes on")
            self.services.wake.clear()
            self.services.wake.wait(self.services.settings.poll_seconds)

    def run_until_idle(self) -> int:
        """Do all there is to do now; how many jobs there were."""
        count = 0
        while self.step():
            count += 1
        return count

    def step(self) -> bool:
        """Do one job; False when there is none."""
        self.look_after()
        lease = jobs.take(self.services, self.name)
        if lease is None:
            return False
        with self._kept_alive(lease):
            self._attempt(lease)
        return True

    def _attempt(self, lease: Lease) -> None:
        try:
            WORK[lease.kind](self.services, lease)
        except LabelsChanged as problem:
            LOG.error("job %s: %s", lease.key, problem)
            jobs.fail(self.services, lease, "the labels are not those that were bound at the opening")
        except Exception as problem:
            LOG.exception("job %s failed", lease.key)
            jobs.fail(self.services, lease, f"an error of the server: {type(problem).__name__}")

    @contextmanager
    def _kept_alive(self, lease: Lease) -> Iterator[None]:
        """Keep the lease alive from a thread of its own while the job is done."""
        done = threading.Event()

        def beat() -> None:
            while not done.wait(self.services.settings.lease_seconds / 3):
                try:
                    if not jobs.keep_alive(self.services, lease):
                        return
                except OperationalError:
                    LOG.warning("the lease of %s could not be renewed", lease.key)

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def look_after(self) -> None:
        """What must happen by itself: act upon the end, add the jobs it brings, sweep orphans."""
        with contextlib.suppress(IntegrityError):
            self.services.clock.keep()
        if self.services.stage() is Stage.ENDED and self._has_ending_to_do():
            try:
                self._end()
            except IntegrityError:
                LOG.debug("another worker was faster")
        if time.monotonic() - self._swept > SWEEP_EVERY:
            self._swept = time.monotonic()
            sweep(self.services)

    def _has_ending_to_do(self) -> bool:
        with self.services.database.reading() as session:
            return jobs.lacks_ending(session, revision_of(session)) or is_outdated(session)

    def _end(self) -> None:
        now = self.services.lease_clock.now()
        with self.services.database.writing() as session:
            held = close(session, self.services.challenge.phases, self.services.now())
            if held.closed is None:  # an organiser has moved the end in the meantime
                return
            jobs.seed_finals(session, now)
            if is_outdated(session):
                ask_for_new_ranking(session)
            jobs.seed_ranking(session, now, revision_of(session))


def sweep(services: Services) -> int:
    """Take away files that no entry refers to, and counts that are over; how many files there were."""
    folder = services.settings.uploads
    candidates = uploads.files_older(folder, services.settings.orphan_seconds)
    with services.database.writing() as session:
        rates.sweep(session, services.now())
    with services.database.reading() as session:
        known = set(session.scalars(select(Entry.stored)))
    return uploads.sweep(folder, candidates, known)


def start_workers(services: Services, stop: threading.Event) -> list[threading.Thread]:
    """Start the worker threads of a server's own process."""
    threads = [
        threading.Thread(target=Worker(services).run, args=(stop,), name=f"worker-{number}", daemon=True)
        for number in range(services.settings.workers)
    ]
    for thread in threads:
        thread.start()
    return threads
