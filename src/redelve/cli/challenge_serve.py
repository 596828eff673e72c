"""redelve challenge serve: run the server of a challenge."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from redelve.cli import verb_options as of
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


COMMAND = Command(
    "redelve challenge serve",
    "Run the server of a challenge: pages, API, accounts, scoring. Nothing else is needed: its database\n"
    "(SQLite) and the entries lie in the challenge's folder, in `server`. The first start prints a link\n"
    "that makes who follows it the organiser. Stop it with Control-C.",
    "challenge [ -p port ] [ -b host ] [ -d database ] [ -D folder ] [ -w workers ] [ -s ] [ -x addresses ]\n"
    "    [ -o ]",
    ServeOptions.declared(),
    least=1,
)


def at_once(pieces: Iterable[str]) -> None:
    """Write texts to standard output, each as soon as it comes."""
    for piece in pieces:
        sys.stdout.write(piece)
        sys.stdout.flush()


def serve(given: ServeOptions) -> Iterator[str]:
    """Start, tell where, and run until stopped."""
    from redelve.challenge.server import require

    require()
    from dataclasses import replace

    from redelve.challenge.server.app import create_app
    from redelve.challenge.server.belonging import lacking_test_labels
    from redelve.challenge.server.services import open_services
    from redelve.challenge.server.serving import ServingPlace, address, bound, server_of
    from redelve.challenge.server.settings import Settings

    place = ServingPlace(given.host, given.port, given.proxies)
    held = Settings.for_folder(given.arguments[0], data=given.data, database=given.database)
    settings = replace(held, secure=given.https, workers=given.workers)
    services = open_services(settings)
    listening = bound(place)
    url = address(listening)
    yield f"{services.challenge.title}: {url}/ ({services.stage().words})\n"
    if lacking := lacking_test_labels(services.challenge):
        yield f"{lacking[0]} is not there ({len(lacking)} such files); it must be when the challenge ends.\n"
    if (link := services.organiser_link(another=given.organiser)) is not None:
        yield _invitation(link, None if settings.secure else url)
    server_of(create_app(settings, services=services), place).run(sockets=[listening])


def _invitation(link: str, url: str | None) -> str:
    """What to tell of the organiser's link; by https only the proxy's address works."""
    if url is None:
        return f"Become the organiser, by this link, which works once: {link} after your https://… address\n"
    return f"Become the organiser, by this link, which works once: {url}{link}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(COMMAND, ServeOptions, serve, argv, show=at_once)
