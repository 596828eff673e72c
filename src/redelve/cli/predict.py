"""redelve predict: how well will a method do on new cases, and how sure is that?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redelve.cli.options import Command, Given, Option, UsageError, run
from redelve.cli.progress_lines import QUIET, Progress, reporter
from redelve.errors import SpecError

if TYPE_CHECKING:
    from redelve.answers.answer import Answer
    from redelve.methods.contract import Method, Predictor
    from redelve.model import Assignment
    from redelve.performance import PredictionOptions
    from redelve.performance.measures import Rows

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
    from redelve.performance import predict_learners

    intake = from_file(given.arguments[0], given.value("t"))
    assignment = intake.assignments[0]
    names = [name.strip() for name in (given.value("m") or USUAL_METHOD).split(",") if name.strip()]
    learners = [_learner(assignment, name) for name in names]
    truth = _truth(assignment)
    prediction = predict_learners(learners, truth, **_options(given))
    yield "".join(f"{note}\n" for note in intake.left_out if not note.startswith("attribute "))
    yield f"{prediction}\n"
    if (out := given.value("o")) is not None:
        prediction.frame().to_csv(Path(out), index=False)
        yield f"\nGuesses: {out}\n"


def _ways() -> str:
    from redelve.performance import WAYS

    width = max(map(len, WAYS)) + 2
    return "".join(f"{name:{width}}{(WAYS[name].__doc__ or '').splitlines()[0]}\n" for name in WAYS)


def _options(given: Given) -> PredictionOptions:
    options: PredictionOptions = {"progress": _Teller(reporter(is_quiet=given.has("q")))}
    if (loss := given.value("l")) is not None:
        options["loss"] = loss
    if (ways := given.value("w")) is not None:
        options["ways"] = [way.strip() for way in ways.split(",") if way.strip()]
    if (level := given.value("L")) is not None:
        options["level"] = _number("L", level)
    if (seed := given.value("s")) is not None:
        options["seed"] = int(_number("s", seed))
    if (jobs := given.value("j")) is not None:
        options["jobs"] = int(_number("j", jobs))
    return options


class _Teller:
    """Tells on standard error, every few seconds, how far slow fits are."""

    def __init__(self, tell: Progress) -> None:
        self.tell, self.last = tell, time.monotonic()

    def __call__(self, name: str, done: int, total: int) -> None:
        if done < total and time.monotonic() - self.last >= SECONDS_OF_SILENCE:
            self.last = time.monotonic()
            self.tell(f"{name}: {done} of {total} fits")


def _number(letter: str, text: str) -> float:
    try:
        return float(text) if letter == "L" else int(text)
    except ValueError:
        raise UsageError(f'option "-{letter}" needs a number, not "{text}"') from None


def _truth(assignment: Assignment) -> Any:
    """The true targets of all cases."""
    import numpy as np

    from redelve.model import Instance
    from redelve.run.experiment import truths_of

    every = np.arange(assignment.data.cases.count)
    truths = truths_of(assignment, Instance(0, every[:0], every))
    if len(truths) != 1:
        raise SpecError(f"there are {len(truths)} targets: predict works on one")
    return truths[0]


def _learner(assignment: Assignment, name: str) -> MethodLearner:
    from redelve.methods.contract import METHODS
    from redelve.run.experiment import assignment_targets

    method = METHODS[name]
    if (reason := method.why_not(assignment_targets(assignment))) is not None:
        raise SpecError(f'method "{name}" can\'t work on this table: {reason}')
    return MethodLearner(assignment, method, name)


@dataclass(frozen=True, eq=False)
class MethodLearner:
    """A method of redelve with the cases of a table."""

    assignment: Assignment
    method: Method
    name: str
    fits_each: int = 1

    def learn(self, rows: Rows, seed: int) -> MethodLearnt:
        """Let the method learn from these cases, encodings included."""
        import numpy as np

        from redelve.model import Instance
        from redelve.run.experiment import lessons_of

        training, _ = lessons_of(self.assignment, Instance(0, rows, rows[:0]))
        return MethodLearnt(self.assignment, self.method.learn(training, np.random.default_rng(seed)))

    def relabelled(self, codes: Rows) -> None:
        """Nothing: the table has the classes it has."""
        return

    def alike(self) -> Rows | None:
        """Numbers of different rows of the inputs, as they are written."""
        import pandas as pd

        from redelve.performance.learners import numbered_rows

        data = self.assignment.data
        columns = data.cases.columns[: len(data.inputs)]
        return numbered_rows(pd.DataFrame({number: column.texts() for number, column in enumerate(columns)}))


@dataclass(frozen=True, eq=False)
class MethodLearnt:
    """What a method learnt."""

    assignment: Assignment
    predictor: Predictor
    model: None = None

    def answer(self, rows: Rows, *, probabilities: bool = False) -> Answer:
        """The method's answer for these cases."""
        from redelve.model import Instance
        from redelve.run.experiment import lessons_of

        _, inputs = lessons_of(self.assignment, Instance(0, rows[:0], rows))
        return self.predictor.predict(inputs)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, predict, argv)
