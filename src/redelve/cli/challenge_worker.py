"""redelve challenge worker: score entries for a server, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redelve.cli import verb_options as of
from redelve.cli.challenge_serve import at_once
from redelve.cli.options import Command


class WorkerOptions(of.VerbOptions):
    """What `redelve challenge worker` is told."""

    database = of.text("d", "the server's database", "address")
    data = of.text("D", "the server's folder", "folder")
    threads = of.whole("n", "jobs to be done at once (1)", wanted=of.FROM_0, default=1)


COMMAND = Command(
    "redelve challenge worker",
    "Score the entries of a challenge's server. Any number of workers may run beside it, on the same\n"
    "database and with the same folder of files; when one dies, another takes over its job.",
    "challenge [ -d database ] [ -D folder ] [ -n threads ]",
    WorkerOptions.declared(),
    least=1,
)


def work(given: WorkerOptions) -> Iterator[str]:
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


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(COMMAND, WorkerOptions, work, argv, show=at_once)
