"""redelve challenge pack: a zip of answers, from files, redelve's methods or CLOP's objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from redelve.cli import verb_options as of
from redelve.cli.challenge_serve import at_once
from redelve.cli.options import Command, UsageError
from redelve.cli.progress_lines import reporter
from redelve.errors import SpecError

if TYPE_CHECKING:
    from redelve.challenge.packing import PublicData
    from redelve.challenge.submissions import DatasetEntry


class PackOptions(of.VerbOptions):
    """What `redelve challenge pack` is told."""

    files = of.text("f", "the folder with NAME_train.resu and so on", "folder")
    method = of.text("m", "the method that answers", "method")
    out = of.text("o", "the zip to be written (answers.zip)", "file", "answers.zip")
    datasets = of.names("d", "datasets, separated by commas (all)")
    way = of.text("w", "the way to guess (kfold:10); `redelve predict -W` lists them", "way")
    rule = of.text("r", "CLOP's answers: balanced (usual), or own, as its object predicts", "rule")
    seed = of.whole("s", "another seed for the method's randomness", wanted=of.FROM_0, default=0)
    quiet = of.quiet()


COMMAND = Command(
    "redelve challenge pack",
    "Make the zip that is to be submitted: from the .resu, .conf and .guess files of a folder (-f), or from\n"
    "the answers of a method (-m), which learns from the training part and has its error guessed by\n"
    "cross-validation. A method is one of redelve's (`redelve methods` lists them) or an object of CLOP, as\n"
    "the paper writes them: rf, 'kridge(balance=True)', or a chain, standardize,kridge (docs/clop.md). The\n"
    "challenge is its folder, or one with the files downloaded from its data page.",
    "challenge ( -f folder | -m method ) [ -o answers.zip ] [ options ]",
    PackOptions.declared(),
    least=1,
)


def pack(given: PackOptions) -> Iterator[str]:
    """Make the zip, telling what goes in."""
    from redelve.challenge.packing import entries_in, read_downloads, read_public
    from redelve.challenge.packing import pack as write
    from redelve.challenge.submissions import Submission

    challenge = read_downloads(given.arguments[0])
    if (given.files is None) == (given.method is None):
        raise UsageError("say where the answers come from: files (-f folder) or a method (-m name)")
    entries: dict[str, DatasetEntry] = {}
    if given.files is not None:
        entries = entries_in(given.files, challenge)
    else:
        answer, progress = _answering(given), reporter(is_quiet=given.quiet)
        for name in _datasets(given, challenge.names):
            told = challenge.dataset(name)
            progress(f"{name}: learning from {told.sizes['train']} patterns of {told.features} features")
            entries[name] = answer(read_public(challenge, name))
            yield f"  {name:12} guessed balanced error rate {entries[name].guess:.4f}\n"
    path = write(given.out, entries)
    yield f"{path}: {', '.join(entries)}\n"
    lacks = Submission(entries, challenge.names).lacks
    if given.files is not None and lacks:
        yield f"not complete, for the final ranking it lacks {', '.join(lacks)}\n"


def _datasets(given: PackOptions, known: Sequence[str]) -> Sequence[str]:
    wanted = given.datasets or known
    if unknown := [name for name in wanted if name not in known]:
        raise UsageError(f'there is no dataset "{unknown[0]}": the challenge has {", ".join(known)}')
    return wanted


def _answering(given: PackOptions) -> Callable[[PublicData], DatasetEntry]:
    """How entries are made of public data: by a method of redelve, or by an object of CLOP."""
    from redelve.challenge.answering import entry_of_estimator, entry_of_method
    from redelve.methods.clop import parse_object
    from redelve.methods.contract import METHODS

    name = given.method or ""
    if name not in METHODS:
        try:
            model = parse_object(name)
        except SpecError as problem:
            raise UsageError(f"{problem}; redelve's own methods are {', '.join(METHODS)}") from None
        rule = given.rule or "balanced"
        return partial(entry_of_estimator, model, way=given.way, rule=rule, seed=given.seed)
    if given.rule is not None:
        raise UsageError(f'option "-r" is for objects of CLOP: {name} has its own rule')
    return partial(entry_of_method, METHODS[name], way=given.way, seed=given.seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(COMMAND, PackOptions, pack, argv, show=at_once)
