"""redelve challenge score: a zip scored where the labels are at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli import verb_options as of
from redelve.cli.options import Command
from redelve.errors import LocationError

if TYPE_CHECKING:
    from redelve.challenge.scoring import DatasetScores


class ScoreOptions(of.VerbOptions):
    """What `redelve challenge score` is told."""

    json = of.flag("j", "as JSON, with every number")


COMMAND = Command(
    "redelve challenge score",
    "Score a zip of answers with the labels of a challenge's folder, as the server would.",
    "challenge answers.zip [ -j ]",
    ScoreOptions.declared(),
    least=2,
    most=2,
)
NUMBERS = ("BER", "σ", "AUC", "±", "guess", "δ", "R", "±")
HEAD = f"{'dataset':12} {'part':6} {'cases':>7} {' '.join(f'{name:>8}' for name in NUMBERS)}\n"


def score(given: ScoreOptions) -> Iterator[str]:
    """The scores as a table, or as JSON."""
    from redelve.challenge.challenge_folder import read_challenge
    from redelve.challenge.scoring import score_submission, scores_to_json
    from redelve.challenge.submissions import read_submission

    folder, name = given.arguments
    if not Path(name).is_file():
        raise LocationError(f"{name}: no such file: give the zip of answers")
    challenge = read_challenge(folder)
    scores = score_submission(read_submission(Path(name), challenge), challenge)
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


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(COMMAND, ScoreOptions, score, argv)
