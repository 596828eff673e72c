"""What comes out: a guess of the performance with its interval, and several guesses side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redelve.errors import SpecError
from redelve.text_numbers import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

NOTHING = "–"


@dataclass(frozen=True)
class PerformanceGuess:
    """A guess of what a model, trained on all the cases, will lose on new ones.

    `source` tells where the interval comes from; `value` is None where the way does not apply, and the
    notes say why. `fits` and `seconds` (of one processor) are what the way costs by itself.
    """

    way: str
    value: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    source: str
    fits: int
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def covers(self, truth: float) -> bool | None:
        """Whether the interval holds the truth; None without an interval."""
        return None if self.low is None or self.high is None else self.low <= truth <= self.high


@dataclass(frozen=True)
class Prediction:
    """Guesses of how one model, or the best of several, will do on new cases; from `predict_performance`.

    Parameters
    ----------
    model
        The model's name.
    measure
        What is guessed, in words.
    cases
        How many cases the guesses are made from.
    level
        The level of the intervals.
    guesses
        One for each way that was asked for.
    recommended
        The way whose guess is to be told: it is ``best``, and ``value`` and ``interval`` are its.
    chosen
        Of several models, the one that is best by cross-validation.
    models
        All of them with their cross-validated measure.
    cautions
        What is to be said of the cases themselves.
    groups
        How many groups the cases belong to; None where they were taken as independent.

    Notes
    -----
    `chosen` is the model that is best by cross-validation where there were several, `models` all of them
    with their measure. `cautions` are about the cases themselves. Which way is recommended was measured
    (docs/predicting.md, after Guyon, Saffari, Dror and Buhmann 2006).

    Examples
    --------
    >>> guess = PerformanceGuess("kfold:10", 0.12, 0.08, 0.16, 0.02, "folds", 10, 0.5)
    >>> found = Prediction("SVC", "error rate", 200, 0.95, (guess,), "kfold:10")
    >>> found.value, found.interval
    (0.12, (0.08, 0.16))
    >>> found.guess("kfold:10").fits
    10
    """

    model: str
    measure: str
    cases: int
    level: float
    guesses: tuple[PerformanceGuess, ...]
    recommended: str
    chosen: str | None = None
    models: tuple[tuple[str, float], ...] = ()
    cautions: tuple[str, ...] = ()
    groups: int | None = None

    @property
    def best(self) -> PerformanceGuess:
        """The guess by the way that docs/predicting.md recommends, or else the first that there is."""
        usable = [guess for guess in self.guesses if guess.value is not None]
        if not usable:
            raise SpecError(f"no way applies to {self.model}: {'; '.join(self.notes)}")
        return next((guess for guess in usable if guess.way == self.recommended), usable[0])

    @property
    def value(self) -> float:
        """The guess to tell."""
        value = self.best.value
        assert value is not None
        return value

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its interval."""
        return self.best.interval

    @property
    def notes(self) -> tuple[str, ...]:
        """Every note once, with the way it belongs to, after what is to be said of the cases."""
        of_ways = [f"{guess.way}: {note}" for guess in self.guesses for note in guess.notes]
        return tuple(dict.fromkeys([*self.cautions, *of_ways]))

    def guess(self, way: str) -> PerformanceGuess:
        """The guess by one way."""
        for one in self.guesses:
            if one.way == way:
                return one
        raise SpecError(f'there is no guess by "{way}": there are {", ".join(g.way for g in self.guesses)}')

    def frame(self) -> pd.DataFrame:
        """A row for every way."""
        import pandas as pd

        names = ("way", "value", "low", "high", "standard_error", "fits", "seconds", "source")
        return pd.DataFrame([{name: getattr(guess, name) for name in names} for guess in self.guesses])

    def __str__(self) -> str:
        what = "cases" if self.groups is None else f"cases of {self.groups} groups"
        new = "cases" if self.groups is None else "groups"
        lines = [f"{self.model}: {self.measure} on new {new}, guessed from {self.cases} {what}", ""]
        lines += [*self._models(), *self._table(), ""]
        best = self.best
        lines.append(f"Guess: {_shown(best.value)}{_between(best, self.level)}, by {best.way}.")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def __repr__(self) -> str:
        best = self.best
        return (
            f"<Prediction of {self.model}: {self.measure} {_shown(best.value)}{_between(best, self.level)}>"
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        from redelve.performance.shown_guesses import prediction_html

        return prediction_html(self)

    def plot_guesses(self, *, ax: Axes | None = None) -> Axes:
        """Every way's guess with its interval, on matplotlib's axes; a filled dot is the guess to tell.

        `ax` are the axes to draw on; new ones if left out.
        """
        from redelve.performance.shown_guesses import draw_guesses

        return draw_guesses(self, ax)

    def _models(self) -> list[str]:
        if self.chosen is None:
            return []
        width = max(len(name) for name, _ in self.models) + 2
        marks = {True: "  chosen", False: ""}
        shown = [
            f"  {name:{width}}{_shown(value)}{marks[name == self.chosen]}" for name, value in self.models
        ]
        return ["Cross-validated, each by itself:", *shown, ""]

    def _table(self) -> list[str]:
        head = ("way", "guess", f"{100 * self.level:g} % interval", "fits", "seconds", "interval by")
        rows = [head, *(_row(guess) for guess in self.guesses)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
        return ["  ".join(_aligned(row, widths)).rstrip() for row in rows]


def _row(guess: PerformanceGuess) -> tuple[str, ...]:
    ends = NOTHING if guess.interval is None else f"{_shown(guess.low)} to {_shown(guess.high)}"
    return (guess.way, _shown(guess.value), ends, str(guess.fits), f"{guess.seconds:.2f}", guess.source)


def _aligned(row: tuple[str, ...], widths: list[int]) -> list[str]:
    pairs = list(zip(row, widths, strict=True))
    return [
        f"{text:<{width}}" if place in (0, len(row) - 1) else f"{text:>{width}}"
        for place, (text, width) in enumerate(pairs)
    ]


def _between(guess: PerformanceGuess, level: float) -> str:
    if guess.interval is None:
        return ""
    return f", {100 * level:g} % interval {_shown(guess.low)} to {_shown(guess.high)}"


def _shown(value: float | None) -> str:
    """With four places, as rates are; smaller and larger numbers with significant digits."""
    if value is None:
        return NOTHING
    return f"{value:.4f}" if 0.001 <= abs(value) < 10 else plain(value, 4 if abs(value) < 1 else 5)
