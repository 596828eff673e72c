"""redelve predict: how well will a method do on new cases, and how sure is that?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli.options import Command, Given, Option, UsageError, run
from redelve.cli.progress_lines import QUIET, Progress, reporter

if TYPE_CHECKING:
    from redelve.performance import BenchSettings

COMMAND = Command(
    "redelve predict",
    "Guess how well a method, trained on all cases of a table, will do on new ones: several ways side by\n"
    "side, each with an interval and its cost. Of several methods the best by cross-validation is chosen,\n"
    "and the guess is corrected for that. docs/predicting.md tells which way to trust.",
    "data.csv -t column [ -m methods ] [ options ]",
    (
        Option("t", "the column to predict", "column", "target"),
        Option(
            "m", "built-in methods, separated by commas (`redelve methods` lists them)", "names", "method"
        ),
        Option("l", "ber, error, or a loss: S, A for numbers, Z, Q, L for classes", "loss", "loss"),
        Option(
            "w", "ways to guess by, separated by commas, such as kfold:5,632+ (-W lists them)", "ways", "ways"
        ),
        Option("W", "list the ways", None, "list-ways"),
        Option("L", "the level of the intervals, 0.95", "level", "level"),
        Option("s", "the seed of splits and fits, a whole number", "number", "seed"),
        Option("j", "how many processes fit models", "number", "jobs"),
        Option("o", "write the guesses to this .csv file too", "file", "out"),
        QUIET,
    ),
    least=0,
)
USUAL_METHOD = "forest"
SECONDS_OF_SILENCE = 5.0


def predict(given: Given) -> Iterator[str]:
    """The guesses, side by side."""
    if given.has("W"):
        yield _ways()
        return
    if not given.arguments:
        raise UsageError("an argument is missing: the table")
    from redelve.data.tables import from_file
    from redelve.methods.contract import METHODS
    from redelve.performance.predicting_tasks import predict_task

    intake = from_file(given.arguments[0], given.value("t"))
    names = [name.strip() for name in (given.value("m") or USUAL_METHOD).split(",") if name.strip()]
    methods = {name: METHODS[name] for name in names}
    ways = given.value("w")
    prediction = predict_task(
        methods,
        intake.assignments[0],
        loss=given.value("l"),
        ways=None if ways is None else [way.strip() for way in ways.split(",") if way.strip()],
        settings=_settings(given),
    )
    yield "".join(f"{note}\n" for note in intake.left_out if not note.startswith("attribute "))
    yield f"{prediction}\n"
    if (out := given.value("o")) is not None:
        prediction.frame().to_csv(Path(out), index=False)
        yield f"\nGuesses: {out}\n"


def _ways() -> str:
    from redelve.performance import WAYS

    width = max(map(len, WAYS)) + 2
    return "".join(f"{name:{width}}{(WAYS[name].__doc__ or '').splitlines()[0]}\n" for name in WAYS)


def _settings(given: Given) -> BenchSettings:
    from redelve.performance import BenchSettings

    return BenchSettings(
        seed=int(_number(given, "s", 0)),
        jobs=int(_number(given, "j", 1)),
        level=_number(given, "L", 0.95),
        progress=_Teller(reporter(is_quiet=given.has("q"))),
    )


class _Teller:
    """Tells on standard error, every few seconds, how far slow fits are."""

    def __init__(self, tell: Progress) -> None:
        self.tell, self.last = tell, time.monotonic()

    def __call__(self, name: str, done: int, total: int) -> None:
        if done < total and time.monotonic() - self.last >= SECONDS_OF_SILENCE:
            self.last = time.monotonic()
            self.tell(f"{name}: {done} of {total} fits")


def _number(given: Given, letter: str, usual: float) -> float:
    text = given.value(letter)
    if text is None:
        return usual
    try:
        return float(text) if letter == "L" else int(text)
    except ValueError:
        raise UsageError(f'option "-{letter}" needs a number, not "{text}"') from None


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, predict, argv)
