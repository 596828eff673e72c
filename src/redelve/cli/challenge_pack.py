"""redelve challenge pack: a zip of answers, from files, redelve's methods or CLOP's objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from redelve.cli.challenge_serve import at_once
from redelve.cli.options import Command, Given, Option, UsageError, run
from redelve.cli.progress_lines import QUIET, reporter
from redelve.errors import SpecError

if TYPE_CHECKING:
    from redelve.challenge.packing import PublicData
    from redelve.challenge.submissions import DatasetEntry

COMMAND = Command(
    "redelve challenge pack",
    "Make the zip that is to be submitted: from the .resu, .conf and .guess files of a folder (-f), or from\n"
    "the answers of a method (-m), which learns from the training part and has its error guessed by\n"
    "cross-validation. A method is one of redelve's (`redelve methods` lists them) or an object of CLOP, as\n"
    "the paper writes them: rf, 'kridge(balance=True)', or a chain, standardize,kridge (docs/clop.md). The\n"
    "challenge is its folder, or one with the files downloaded from its data page.",
    "challenge ( -f folder | -m method ) [ -o answers.zip ] [ options ]",
    (
        Option("f", "the folder with NAME_train.resu and so on", "folder", "files"),
        Option("m", "the method that answers", "method", "method"),
        Option("o", "the zip to be written (answers.zip)", "file", "out"),
        Option("d", "datasets, separated by commas (all)", "names", "datasets"),
        Option("w", "the way to guess (kfold:10); `redelve predict -W` lists them", "way", "way"),
        Option("r", "CLOP's answers: balanced (usual), or own, as its object predicts", "rule", "rule"),
        Option("s", "another seed for the method's randomness", "number", "seed"),
        QUIET,
    ),
    least=1,
)


def pack(given: Given) -> Iterator[str]:
    """Make the zip, telling what goes in."""
    from redelve.challenge.packing import entries_in, read_downloads, read_public
    from redelve.challenge.packing import pack as write
    from redelve.challenge.submissions import Submission

    challenge = read_downloads(given.arguments[0])
    if given.has("f") == given.has("m"):
        raise UsageError("say where the answers come from: files (-f folder) or a method (-m name)")
    entries: dict[str, DatasetEntry] = {}
    if given.has("f"):
        entries = entries_in(given.value("f") or ".", challenge)
    else:
        answer, progress = _answering(given), reporter(is_quiet=given.has("q"))
        for name in _datasets(given, challenge.names):
            told = challenge.dataset(name)
            progress(f"{name}: learning from {told.sizes['train']} patterns of {told.features} features")
            entries[name] = answer(read_public(challenge, name))
            yield f"  {name:12} guessed balanced error rate {entries[name].guess:.4f}\n"
    path = write(given.value("o") or "answers.zip", entries)
    yield f"{path}: {', '.join(entries)}\n"
    lacks = Submission(entries, challenge.names).lacks
    if given.has("f") and lacks:
        yield f"not complete, for the final ranking it lacks {', '.join(lacks)}\n"


def _datasets(given: Given, known: Sequence[str]) -> list[str]:
    wanted = [name.strip() for name in (given.value("d") or ",".join(known)).split(",") if name.strip()]
    if unknown := [name for name in wanted if name not in known]:
        raise UsageError(f'there is no dataset "{unknown[0]}": the challenge has {", ".join(known)}')
    return wanted


def _answering(given: Given) -> Callable[[PublicData], DatasetEntry]:
    """How entries are made of public data: by a method of redelve, or by an object of CLOP."""
    from redelve.challenge.answering import entry_of_estimator, entry_of_method
    from redelve.methods.clop import parse_object
    from redelve.methods.contract import METHODS

    seed, name, way = given.value("s") or "0", given.value("m") or "", given.value("w")
    if not seed.isascii() or not seed.isdigit():
        raise UsageError(f'option "-s" needs a whole number, not "{seed}"')
    if name not in METHODS:
        try:
            model = parse_object(name)
        except SpecError as problem:
            raise UsageError(f"{problem}; redelve's own methods are {', '.join(METHODS)}") from None
        rule = given.value("r") or "balanced"
        return partial(entry_of_estimator, model, way=way, rule=rule, seed=int(seed))
    if given.has("r"):
        raise UsageError(f'option "-r" is for objects of CLOP: {name} has its own rule')
    return partial(entry_of_method, METHODS[name], way=way, seed=int(seed))


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, pack, argv, show=at_once)
