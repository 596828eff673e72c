"""redelve challenge pack: a zip of answers, from files or from one of redelve's methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from redelve.commands.options import Command, Given, Option, UsageError, run

if TYPE_CHECKING:
    from redelve.challenge.folder import Challenge
    from redelve.challenge.submissions import DatasetEntry

COMMAND = Command(
    "redelve challenge pack",
    "Make the zip that is to be submitted: from the .resu, .conf and .guess files of a folder (-f), or from\n"
    "the answers of a built-in method (-m), which learns from the training part and guesses its error by\n"
    "cross-validation (`redelve methods` lists them).",
    "challenge ( -f folder | -m method ) [ -o answers.zip ] [ -d datasets ] [ -s seed ]",
    (
        Option("f", "the folder with NAME_train.resu and so on", "folder", "files"),
        Option("m", "a built-in method that answers", "name", "method"),
        Option("o", "the zip to be written (answers.zip)", "file", "out"),
        Option("d", "datasets, separated by commas (all)", "names", "datasets"),
        Option("s", "another seed for the method's randomness", "number", "seed"),
    ),
    least=1,
)


def pack(given: Given) -> Iterator[str]:
    """Make the zip, telling what goes in."""
    from redelve.challenge.folder import read_challenge
    from redelve.challenge.packing import entries_in
    from redelve.challenge.packing import pack as write

    challenge = read_challenge(given.arguments[0])
    if given.has("f") == given.has("m"):
        raise UsageError("say where the answers come from: files (-f folder) or a method (-m name)")
    entries: dict[str, DatasetEntry] = {}
    if given.has("f"):
        entries = entries_in(given.value("f") or ".", challenge)
    else:
        for name in _datasets(given, challenge.names):
            entries[name] = _answered(given, challenge, name)
            guess = entries[name].guess
            yield f"  {name:12} guessed balanced error rate {guess:.4f}\n"
    path = write(given.value("o") or "answers.zip", entries)
    yield f"{path}: {', '.join(entries)}\n"


def _datasets(given: Given, known: Sequence[str]) -> list[str]:
    wanted = [name.strip() for name in (given.value("d") or ",".join(known)).split(",") if name.strip()]
    if unknown := [name for name in wanted if name not in known]:
        raise UsageError(f'there is no dataset "{unknown[0]}": the challenge has {", ".join(known)}')
    return wanted


def _answered(given: Given, challenge: Challenge, name: str) -> DatasetEntry:
    from redelve.challenge.packing import entry_of_method, read_public
    from redelve.methods.contract import METHODS

    seed = given.value("s") or "0"
    if not seed.isascii() or not seed.isdigit():
        raise UsageError(f'option "-s" needs a whole number, not "{seed}"')
    method = METHODS[given.value("m") or ""]
    return entry_of_method(method, read_public(challenge, name), seed=int(seed))


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, pack, argv)
