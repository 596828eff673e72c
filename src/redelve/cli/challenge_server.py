"""redelve challenge serve, worker and demo: the server of a challenge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from redelve.cli import options as of
from redelve.cli.options import Command


class ServeOptions(of.VerbOptions):
    """What `redelve challenge serve` is told."""

    port = of.whole("p", "the port to listen at (8000)", "port", wanted=of.FROM_0, default=8000)
    host = of.text("b", "the address to listen at (127.0.0.1, for this machine only)", "host", "127.0.0.1")
    database = of.text("d", "another database, such as postgresql+psycopg://user@host/name", "address")
    data = of.text("D", "another folder for the server's files", "folder")
    workers = of.whole(
        "w", "threads that score in this process (1); 0 leaves it to workers", wanted=of.FROM_0, default=1
    )
    https = of.flag("s", "pages are reached by https, through a proxy: cookies are sent that way only")
    proxies = of.text("x", "proxies, by address, whose word on the client's address is taken", "addresses")
    organiser = of.flag("o", "print a link for another organiser, or for one who lost the password")


SERVE = Command(
    "redelve challenge serve",
    "Run the server of a challenge: pages, API, accounts, scoring. Nothing else is needed: its database\n"
    "(SQLite) and the entries lie in the challenge's folder, in `server`. The first start prints a link\n"
    "that makes who follows it the organiser. Stop it with Control-C.",
    "challenge [ -p port ] [ -b host ] [ -d database ] [ -D folder ] [ -w workers ] [ -s ] [ -x addresses ]\n"
    "    [ -o ]",
    ServeOptions.declared(),
    least=1,
)


OPEN_HTTP = (
    "Others can reach this server without https: passwords can be read on the way. Put a proxy that speaks\n"
    "https in front, and give --https and --proxies.\n"
)


def _serve(given: ServeOptions) -> Iterator[str]:
    """Start, tell where, and run until stopped."""
    from redelve.challenge.server import require

    require()
    from contextlib import closing
    from dataclasses import replace
    from ipaddress import ip_address

    from redelve.challenge.feedback import weak_feedback
    from redelve.challenge.server.app import create_app
    from redelve.challenge.server.belonging import lacking_test_labels
    from redelve.challenge.server.services import open_services
    from redelve.challenge.server.serving import ServingPlace, address, bound, server_of
    from redelve.challenge.server.settings import Settings

    place = ServingPlace(given.host, given.port, given.proxies)
    held = Settings.for_folder(given.arguments[0], data=given.data, database=given.database)
    settings = replace(held, secure=given.https, workers=given.workers)
    with closing(open_services(settings)) as services:
        listening = bound(place)
        url = address(listening)
        yield f"{services.challenge.title}: {url}/ ({services.stage().words})\n"
        if not given.https and not ip_address(listening.getsockname()[0]).is_loopback:
            yield OPEN_HTTP
        if (clock := services.clock.reading()).is_held:
            yield _clock_question(clock.now, clock.said)
        if warning := weak_feedback(services.challenge):
            yield f"{warning}.\n"
        if lacking := lacking_test_labels(services.challenge):
            told = f"{lacking[0]} is not there ({len(lacking)} such files)"
            yield f"{told}; it must be when the challenge ends.\n"
        if (link := services.organiser_link(another=given.organiser)) is not None:
            yield _invitation(link, None if settings.secure else url)
        server_of(create_app(settings, services=services), place).run(sockets=[listening])


def _clock_question(seen: datetime, said: datetime) -> str:
    """What to tell where the clock is far ahead of the last run."""
    return (
        f"The clock says {said:%Y-%m-%d %H:%M} UTC, and this server last ran on {seen:%Y-%m-%d %H:%M} UTC. "
        "Dates of the challenge lie in between: they wait until you confirm it on the organiser's page.\n"
    )


def _invitation(link: str, url: str | None) -> str:
    """What to tell of the organiser's link; by https only the proxy's address works."""
    if url is None:
        return f"Become the organiser, by this link, which works once: {link} after your https://… address\n"
    return f"Become the organiser, by this link, which works once: {url}{link}\n"


def serve(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(SERVE, ServeOptions, _serve, argv)


class WorkerOptions(of.VerbOptions):
    """What `redelve challenge worker` is told."""

    database = of.text("d", "the server's database", "address")
    data = of.text("D", "the server's folder", "folder")
    threads = of.whole("n", "jobs to be done at once (1)", wanted=of.FROM_0, default=1)


WORKER = Command(
    "redelve challenge worker",
    "Score the entries of a challenge's server. Any number of workers may run beside it, on the same\n"
    "database and with the same folder of files; when one dies, another takes over its job.",
    "challenge [ -d database ] [ -D folder ] [ -n threads ]",
    WorkerOptions.declared(),
    least=1,
)


def _worker(given: WorkerOptions) -> Iterator[str]:
    """Work until stopped."""
    from redelve.challenge.server import require

    require()
    import signal
    import threading
    from dataclasses import replace

    from redelve.challenge.server.services import open_services
    from redelve.challenge.server.settings import Settings
    from redelve.challenge.server.worker import start_workers

    held = Settings.for_folder(given.arguments[0], data=given.data, database=given.database)
    services = open_services(replace(held, workers=max(1, given.threads)), may_change=False)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threads = start_workers(services, stop)
    yield f"{services.challenge.title}: the worker waits for entries; stop it with Control-C.\n"
    try:
        while not stop.wait(0.5):
            pass
    finally:
        stop.set()
        services.wake.set()
        for thread in threads:
            thread.join(60)
        services.close()


def worker(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(WORKER, WorkerOptions, _worker, argv)


class DemoOptions(of.VerbOptions):
    """What `redelve challenge demo` is told."""

    keep = of.flag("k", "keep the server running afterwards, to look at; stop it with Control-C")
    port = of.whole("p", "the port to listen at (any that is free)", "port", wanted=of.FROM_0, default=0)


DEMO = Command(
    "redelve challenge demo",
    "Show a challenge from beginning to end: a server with the example challenge, three scripted\n"
    "participants who download data and submit by HTTP, the end, and the final ranking.",
    "[ -k ] [ -p port ]",
    DemoOptions.declared(),
    most=0,
)


def _demo(given: DemoOptions) -> Iterator[str]:
    """Run the demonstration in a folder that is gone afterwards."""
    from redelve.challenge.server import require

    require()
    import tempfile
    from pathlib import Path

    from redelve.challenge.server.demonstration import demonstrate

    with tempfile.TemporaryDirectory(prefix="redelve-demo-") as folder:
        yield from demonstrate(Path(folder), port=given.port, keep=given.keep)


def demo(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(DEMO, DemoOptions, _demo, argv)
