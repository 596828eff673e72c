"""redelve challenge pack, check, score and submit: answers, from files to a score."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redelve.cli import FAILURE
from redelve.cli import options as of
from redelve.cli.options import Command, Given, UsageError, reporter, run
from redelve.cli.outputs import check_file, refuse_inputs
from redelve.errors import LocationError, OptionalPackageError, PredictionError, SpecError

if TYPE_CHECKING:
    from redelve.challenge.challenge_folder import Challenge
    from redelve.challenge.packing import PublicData
    from redelve.challenge.scoring import DatasetScores
    from redelve.challenge.submissions import DatasetEntry, Submission


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


PACK = Command(
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


def _pack(given: PackOptions) -> Iterator[str]:
    """Make the zip, telling what goes in."""
    from redelve.challenge.packing import entries_in, read_downloads, read_public
    from redelve.challenge.packing import pack as write
    from redelve.challenge.submissions import Submission

    refuse_inputs(given.out, given.arguments)
    check_file(given.out, "answers", ".zip")
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


def pack(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(PACK, PackOptions, _pack, argv)


CHECK = Command(
    "redelve challenge check",
    "Check a zip of answers against a challenge: its folder, or one with the files of its data page.",
    "challenge answers.zip",
    least=2,
    most=2,
)


def _check(given: Given) -> Iterator[str]:
    """Tell what is in the zip."""
    from redelve.challenge.packing import read_downloads

    folder, name = given.arguments
    found = _submission(name, read_downloads(folder))
    for dataset, entry in found.entries.items():
        guess = "no guess" if entry.guess is None else f"guess {entry.guess:g}"
        extra = ", confidences" if entry.confidences else ""
        yield f"  {dataset:12} {' '.join(entry.answers)}; {guess}{extra}\n"
    if found.is_complete:
        yield "complete: it can enter the final ranking\n"
    else:
        yield f"not complete, for the final ranking it lacks {', '.join(found.lacks)}\n"


def _submission(name: str, challenge: Challenge) -> Submission:
    """What is in a zip; each problem is told with the zip's name."""
    from redelve.challenge.submissions import SubmissionError, read_submission

    if not Path(name).is_file():
        raise LocationError(f"{name}: no such file: give the zip of answers")
    try:
        return read_submission(Path(name), challenge)
    except SubmissionError as error:
        raise SubmissionError([f"{name}: {problem}" for problem in error.problems]) from None


def check(argv: Sequence[str] | None = None) -> int:
    """Entry point; a zip that would not be taken has all its problems listed."""
    from redelve.challenge.submissions import SubmissionError

    problems: tuple[str, ...] = ()

    def checked(given: Given) -> str:
        nonlocal problems
        try:
            return "".join(_check(given))
        except SubmissionError as error:
            problems = error.problems
            return ""

    code = run(CHECK, checked, argv)
    for problem in problems:
        sys.stderr.write(f"{CHECK.name}: {problem}\n")
    return FAILURE if problems else code


class ScoreOptions(of.VerbOptions):
    """What `redelve challenge score` is told."""

    json = of.flag("j", "as JSON, with every number")


SCORE = Command(
    "redelve challenge score",
    "Score a zip of answers with the labels of a challenge's folder, as the server would.",
    "challenge answers.zip [ -j ]",
    ScoreOptions.declared(),
    least=2,
    most=2,
)
NUMBERS = ("BER", "σ", "AUC", "±", "guess", "δ", "R", "±")
HEAD = f"{'dataset':12} {'part':6} {'cases':>7} {' '.join(f'{name:>8}' for name in NUMBERS)}\n"


def _score(given: ScoreOptions) -> Iterator[str]:
    """The scores as a table, or as JSON."""
    from redelve.challenge.challenge_folder import read_challenge
    from redelve.challenge.scoring import score_submission, scores_to_json

    folder, name = given.arguments
    challenge = read_challenge(folder)
    scores = score_submission(_submission(name, challenge), challenge)
    if given.json:
        yield json.dumps(scores_to_json(scores), indent=1) + "\n"
        return
    yield HEAD
    for dataset, found in scores.items():
        yield from _lines(dataset, found)


def _lines(dataset: str, found: DatasetScores) -> Iterator[str]:
    for part, values in found.parts.items():
        numbers = [values.ber, values.ber_error, values.auc, values.auc_error]
        if part == "test":
            numbers += [found.guess, found.guess_error, found.score, found.score_error]
        shown = " ".join("       –" if number is None else f"{number:8.4f}" for number in numbers)
        yield f"{dataset:12} {part:6} {values.cases:7} {shown}\n"


def score(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(SCORE, ScoreOptions, _score, argv)


SERVER, TOKEN = "REDELVE_CHALLENGE_SERVER", "REDELVE_CHALLENGE_TOKEN"


class SubmitOptions(of.VerbOptions):
    """What `redelve challenge submit` is told."""

    server = of.text("s", "the server's address, such as http://127.0.0.1:8000", "address")
    token_file = of.text("t", "a file with the token", "file")
    label = of.text("l", "a label for yourself", "label", "")
    no_wait = of.flag("n", "do not wait for the score")


SUBMIT = Command(
    "redelve challenge submit",
    "Send a zip of answers to a challenge's server and wait for its score on the validation cases. The\n"
    f"server is told by -s or {SERVER}; the token, made on the account page, by\n"
    f"{TOKEN} or in a file (-t). A token is never an argument: others could see it.",
    "answers.zip [ -s address ] [ -t file ] [ -l label ] [ -n ]",
    SubmitOptions.declared(),
    least=1,
)


def _submit(given: SubmitOptions) -> Iterator[str]:
    """Send, wait, tell."""
    from redelve.challenge.server_documents import as_a_server_writes

    client_of = _client_class()
    path = Path(given.arguments[0])
    if not path.is_file():
        raise LocationError(f"{path}: there is no such file: `redelve challenge pack` makes one")
    server = given.server or os.environ.get(SERVER)
    if not server:
        raise UsageError(f"which server? tell it by -s http://… or in {SERVER}")
    way_out = "give the address of a challenge's server"
    with client_of(server, _token(given)) as client, as_a_server_writes(f"what {server} answers", way_out):
        entry = client.submit(path, given.label, _progress)
        yield f"entry {_plain(entry['id'])} was received at {_plain(entry['received_at'])}\n"
        if not given.no_wait:
            yield from _told(client.wait(entry["id"]))


def _client_class() -> Any:
    try:
        from redelve.challenge.server.client import Client
    except ModuleNotFoundError as problem:
        raise OptionalPackageError(
            f"submitting needs {problem.name}: pip install 'redelve[challenge]'"
        ) from None
    return Client


def _token(given: SubmitOptions) -> str:
    file = given.token_file
    if file is not None:
        found = Path(file).read_text(encoding="utf-8", errors="replace").strip()
    else:
        found = os.environ.get(TOKEN, "").strip()
    if not found.isascii() or not found or any(character.isspace() for character in found):
        where = f"{file}: this is no token" if file else f"no token: set {TOKEN}, or give a file with -t"
        raise LocationError(f"{where}; make one on the account page")
    return found


def _progress(sent: int, size: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{100 * sent // max(size, 1):3} % sent" + ("\n" if sent >= size else ""))


def _plain(told: object) -> str:
    """A server's words as a terminal can show them."""
    return "".join(one if one.isprintable() else "?" for one in str(told))


def _told(entry: dict[str, Any]) -> Iterator[str]:
    if entry["state"] != "scored":
        problems = "".join(f"\n  {_plain(problem)}" for problem in entry["problems"])
        sys.stderr.write(f"{problems}\n" if problems else "")
        raise PredictionError(f"entry {entry['id']} was {entry['state']}: {entry['reason']}")
    yield f"entry {_plain(entry['id'])} {_plain(entry['reason'])}\n"
    for name, scores in entry["development"].items():
        if (valid := scores["parts"].get("valid")) is not None:
            yield f"  {_plain(name):12} validation BER {valid['ber']:.4f} ± {valid['ber_error']:.4f}\n"


def submit(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(SUBMIT, SubmitOptions, _submit, argv)
