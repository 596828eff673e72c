"""redelve challenge prepare: challenge data from a dataset of the catalogue or a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redelve.cli.challenge_example import described
from redelve.cli.options import Command, Given, Option, UsageError, run

if TYPE_CHECKING:
    from redelve.data.tables import Intake

COMMAND = Command(
    "redelve challenge prepare",
    "Add a dataset to a challenge's folder, or begin a new challenge with it. The data are scaled to 0…999,\n"
    "categories become binary features, patterns and features are put in random order and divided as in\n"
    "WCCI 2006: 1/11.1 for training, 1/111 for validation, the rest for the test. Labels of validation and\n"
    "test go to secret/. Sources are tables (.csv, .tsv, .parquet, .arff) or names such as breast-cancer.",
    "folder source [ -n name ] [ -t column ] [ -p classes ] [ -d file ] [ -k kind ] [ -z sizes ] [ -s seed ]",
    (
        Option("n", "what to call the dataset in the challenge", "name", "name"),
        Option("t", "the column to predict (of a catalogue's dataset: its prototask)", "column", "target"),
        Option(
            "p",
            "the classes that count as positive, with commas; or a bound such as '>12.5'",
            "classes",
            "positive",
        ),
        Option("d", "how to read columns: a .toml such as `redelve assess` writes", "file", "description"),
        Option("k", "how to write the data: dense, sparse or sparse-binary", "kind", "kind"),
        Option("z", "sizes of training, validation and test set, such as 100,50,500", "sizes", "sizes"),
        Option("s", "the seed of the random order (drawn by chance, and kept in secret/)", "number", "seed"),
    ),
    least=2,
    most=2,
)


def prepare(given: Given) -> Iterator[str]:
    """Make the files and tell what was made."""
    from redelve.challenge.patterns import patterns_from
    from redelve.challenge.preparation import add_dataset, origin_notes

    folder, source = given.arguments
    positive: Any = given.value("p")
    if positive is not None and ">" not in positive and "," in positive:
        positive = [name.strip() for name in positive.split(",")]
    patterns = patterns_from(_table(given, source), target=given.value("t"), positive=positive)
    name = given.value("n") or Path(source).name.partition(".")[0]
    seed = given.value("s")
    challenge = add_dataset(
        folder,
        name,
        patterns,
        kind=given.value("k"),
        seed=None if seed is None else _whole("s", seed),
        sizes=_sizes(given),
    )
    yield f"{folder}: {challenge.title}\n"
    yield from described(challenge)
    zeros, positives = 100 * patterns.sparsity, 100 * patterns.share_positive
    yield f"{name}: {zeros:.1f} % zeros, {positives:.1f} % positive\n"
    yield from (f"  {note}\n" for note in origin_notes(folder, name))


def _table(given: Given, source: str) -> str | Intake:
    """The source itself or, where its columns are described, what was made of it."""
    description = given.value("d")
    if description is None:
        return source
    from redelve.data.tables import from_file

    return from_file(source, given.value("t"), description=description)


def _sizes(given: Given) -> dict[str, int] | None:
    text = given.value("z")
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) != 3:
        raise UsageError(f'option "-z" needs three numbers, such as 100,50,500, not "{text}"')
    return {part: _whole("z", one) for part, one in zip(("train", "valid", "test"), parts, strict=True)}


def _whole(letter: str, text: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit()):
        raise UsageError(f'option "-{letter}" needs whole numbers, not "{text}"')
    return int(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, prepare, argv)
