"""redelve challenge serve: run the server of a challenge."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from redelve.cli.options import Command, Given, Option, UsageError, run

COMMAND = Command(
    "redelve challenge serve",
    "Run the server of a challenge: pages, API, accounts, scoring. Nothing else is needed: its database\n"
    "(SQLite) and the entries lie in the challenge's folder, in `server`. The first start prints a link\n"
    "that makes who follows it the organiser. Stop it with Control-C.",
    "challenge [ -p port ] [ -b host ] [ -d database ] [ -D folder ] [ -w workers ] [ -s ] [ -x addresses ]\n"
    "    [ -o ]",
    (
        Option("p", "the port to listen at (8000)", "port", "port"),
        Option("b", "the address to listen at (127.0.0.1, for this machine only)", "host", "host"),
        Option("d", "another database, such as postgresql+psycopg://user@host/name", "address", "database"),
        Option("D", "another folder for the server's files", "folder", "data"),
        Option("w", "threads that score in this process (1); 0 leaves it to workers", "number", "workers"),
        Option(
            "s", "pages are reached by https, through a proxy: cookies are sent that way only", long="https"
        ),
        Option(
            "x", "proxies, by address, whose word on the client's address is taken", "addresses", "proxies"
        ),
        Option("o", "print a link for another organiser, or for one who lost the password", long="organiser"),
    ),
    least=1,
)


def whole(given: Given, letter: str, default: int) -> int:
    """The whole number of an option."""
    text = given.value(letter)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit():
        raise UsageError(f'option "-{letter}" needs a whole number, not "{text}"')
    return int(text)


def at_once(pieces: Iterable[str]) -> None:
    """Write texts to standard output, each as soon as it comes."""
    for piece in pieces:
        sys.stdout.write(piece)
        sys.stdout.flush()


def serve(given: Given) -> Iterator[str]:
    """Start, tell where, and run until stopped."""
    from redelve.challenge.server import require

    require()
    from dataclasses import replace

    from redelve.challenge.server.app import create_app
    from redelve.challenge.server.belonging import lacking_test_labels
    from redelve.challenge.server.services import open_services
    from redelve.challenge.server.serving import ServingPlace, address, bound, server_of
    from redelve.challenge.server.settings import Settings

    place = ServingPlace(given.value("b") or "127.0.0.1", whole(given, "p", 8000), given.value("x"))
    held = Settings.for_folder(given.arguments[0], data=given.value("D"), database=given.value("d"))
    settings = replace(held, secure=given.has("s"), workers=whole(given, "w", 1))
    services = open_services(settings)
    listening = bound(place)
    url = address(listening)
    yield f"{services.challenge.title}: {url}/ ({services.stage().words})\n"
    if lacking := lacking_test_labels(services.challenge):
        yield f"{lacking[0]} is not there ({len(lacking)} such files); it must be when the challenge ends.\n"
    if (link := services.organiser_link(another=given.has("o"))) is not None:
        yield _invitation(link, None if settings.secure else url)
    server_of(create_app(settings, services=services), place).run(sockets=[listening])


def _invitation(link: str, url: str | None) -> str:
    """What to tell of the organiser's link; by https only the proxy's address works."""
    if url is None:
        return f"Become the organiser, by this link, which works once: {link} after your https://… address\n"
    return f"Become the organiser, by this link, which works once: {url}{link}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, serve, argv, show=at_once)
