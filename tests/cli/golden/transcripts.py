"""What DELVE 1.1 printed, and losses made up so that the same comes out.

The losses behind the printed figures are lost. What `mstats` prints depends on them only through the means of
the training sets and the residual variance, so any losses with these will do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from redelve.text_numbers import round9

ORDERS = {8: ((0, 1, 2, 3, 4, 5, 6, 7), (3, 0, 6, 1, 7, 2, 5, 4)), 4: ((0, 1, 2, 3), (2, 0, 3, 1))}


@dataclass(frozen=True)
class Moments:
    """Mean, standard deviation from training sets and from the residual, as `mstats` names them."""

    mean: float
    sd_training: float
    sd_residual: float


@dataclass(frozen=True)
class Shape:
    """So many training sets, each with so many test cases, of which a few have large losses."""

    sets: int
    cases: int

    @property
    def few(self) -> int:
        return self.cases * 3 // 32


def made_up_losses(moments: Moments, shape: Shape, order: Sequence[int]) -> list[list[float]]:
    """Losses, a row for each training set, whose analysis gives these moments."""
    spread = math.sqrt(moments.sd_training**2 + moments.sd_residual**2 / shape.cases)
    places = [2 * place - (shape.sets - 1) for place in order]
    unit = math.sqrt(sum(place**2 for place in places) / (shape.sets - 1))
    residuals = _residuals(moments.sd_residual, shape)
    means = [moments.mean + spread * place / unit for place in places]
    return [[mean + residual for residual in residuals] for mean in means]


def _residuals(deviation: float, shape: Shape) -> list[float]:
    """A few large ones and many small ones: no loss need be negative, and they sum to zero."""
    size = deviation * math.sqrt((shape.cases - 1) / shape.cases)
    odds = shape.few / (shape.cases - shape.few)
    return [size / math.sqrt(odds)] * shape.few + [-size * math.sqrt(odds)] * (shape.cases - shape.few)


def to_nine_digits(rows: list[list[float]], shape: Shape) -> list[list[float]]:
    """The losses as files hold them; what rounding takes from a row is given back to its small losses."""
    return [_round_row(row, shape.few) for row in rows]


def _round_row(row: list[float], few: int) -> list[float]:
    rounded = [round9(value) for value in row]
    step = 10.0 ** (math.floor(math.log10(abs(rounded[-1]))) - 8)
    steps = round((math.fsum(row) - math.fsum(rounded)) / step)
    each, more = divmod(steps, len(row) - few)
    small = [round9(value + step * (each + (place < more))) for place, value in enumerate(rounded[few:])]
    return rounded[:few] + small


@dataclass(frozen=True)
class Transcript:
    """A method's losses, another's, and the baseline by which they are standardised."""

    task: str
    loss: str
    shape: Shape
    baseline: float
    method: str
    other: str
    own: Moments
    difference: Moments

    def losses(self) -> tuple[list[list[float]], list[list[float]]]:
        """The losses of the method and of the one it is compared with."""
        first, second = ORDERS[self.shape.sets]
        own = to_nine_digits(made_up_losses(self.own, self.shape, first), self.shape)
        ahead = made_up_losses(self.difference, self.shape, second)
        pairs = zip(own, ahead, strict=True)
        other = [[loss - less for loss, less in zip(*pair, strict=True)] for pair in pairs]
        return own, to_nine_digits(other, self.shape)

    def files(self) -> dict[str, str]:
        """The files both methods have in their task directories, by their paths in a delve directory."""
        spec = " ".join("undefined" if letter != self.loss else f"{self.baseline}" for letter in "LQAZS")
        stats = "".join(f"{letter} {entry}\n" for letter, entry in zip("LQAZS", spec.split(), strict=True))
        found = {}
        for name, rows in zip((self.method, self.other), self.losses(), strict=True):
            folder = f"methods/{name}{self.task}"
            found[f"{folder}/Test-set-stats"] = stats
            for number, row in enumerate(rows):
                found[f"{folder}/loss.{self.loss}.{number}"] = "".join(f"{loss:.9g}\n" for loss in row)
        return found


# A run of mstats with nine digits. Of the differences more digits than these are given, such as round to what
# was printed and give the printed p-value as well.
NINE_DIGITS = Transcript(
    task="/demo/age/std.128",
    loss="S",
    shape=Shape(8, 128),
    baseline=488.847,
    method="lin-1",
    other="knn-cv-1",
    own=Moments(400.729718, 40.8979934, 790.028701),
    difference=Moments(32.72695084, 27.69780057, 323.5146308),
)

# Section 8.3 of the manual, six digits.
ABSOLUTE = Transcript(
    task="/demo/age/std.128",
    loss="A",
    shape=Shape(8, 128),
    baseline=16.9033,
    method="lin-1",
    other="knn-cv-1",
    own=Moments(15.0988, 1.49368, 13.0755),
    difference=Moments(1.8134, 0.505922, 9.65323),
)

# Section 1.3 of the manual, six digits.
TUTORIAL = Transcript(
    task="/demo/age/std.256",
    loss="S",
    shape=Shape(4, 256),
    baseline=488.847,
    method="mymethod",
    other="lin-1",
    own=Moments(520.43, 49.1004, 1078.63),
    difference=Moments(122.61, 44.5182, 487.52),
)
