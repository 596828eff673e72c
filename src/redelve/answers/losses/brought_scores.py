"""Scores that were computed elsewhere, as losses: what is known of them is in their code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite
from urllib.parse import quote, unquote

from redelve.answers.losses.loss_contract import METRICS, Loss
from redelve.answers.predictions import Prediction, Target, Truth
from redelve.errors import SpecError
from redelve.model.dataset import Numbers

FAMILY = "score"
BROUGHT = f"{FAMILY}@"
"""What the code of every such score begins with."""
BINARY = "binary"


def score_code(name: str, limits: tuple[float, float], *, higher: bool, is_binary: bool) -> str:
    """The code of a score: its name, its direction, its limits, and whether each is 0 or 1.

    >>> score_code("exact match", (0.0, 1.0), higher=True, is_binary=True)
    'score@exact%20match,higher,0.0,1.0,binary'
    """
    parts = [quote(name, safe=""), "higher" if higher else "lower", repr(limits[0]), repr(limits[1])]
    return f"{BROUGHT}{','.join([*parts, *([BINARY] if is_binary else [])])}"


@dataclass(frozen=True)
class BroughtScore(Loss):
    """A score of every case that somebody else has computed; nothing here can compute it of predictions.

    Inside, smaller is better: what grows with quality is taken from its highest value, or from 0 where it has
    none.
    """

    kinds = ()
    takes = "guesses"
    is_metric, one_target = True, True
    has_one_unit = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _parts(self.code)

    @property
    def title(self) -> str:  # type: ignore[override]
        """What the score is called."""
        return unquote(_parts(self.code)[0])

    @property
    def words(self) -> str:
        """The same."""
        return self.title

    @property
    def score_limits(self) -> tuple[float, float]:
        """The lowest and the highest score there can be."""
        _, _, low, high, *_ = _parts(self.code)
        return float(low), float(high)

    @property
    def best_value(self) -> float | None:  # type: ignore[override]
        """The highest score, or 0 where there is none; None where less is better."""
        if _parts(self.code)[1] == "lower":
            return None
        high = self.score_limits[1]
        return high if isfinite(high) else 0.0

    @property
    def in_per_cent(self) -> bool:  # type: ignore[override]
        """Shares of cases are shown in per cent."""
        return self.is_share

    @property
    def is_share(self) -> bool:
        """Whether each score is 0 or 1."""
        return _parts(self.code)[-1] == BINARY

    @property
    def is_shift(self) -> bool:
        """Whether nobody has said what is lost at least."""
        return not isfinite(self.limits(())[0])

    def limits(self, targets: Sequence[Target]) -> tuple[float, float]:
        """What is lost at least and at most."""
        low, high = self.score_limits
        return (low, high) if self.best_value is None else (self.best_value - high, self.best_value - low)

    def losses(self, scores: Numbers) -> Numbers:
        """Scores as losses."""
        return scores if self.best_value is None else self.best_value - scores

    def scores(self, losses: Numbers) -> Numbers:
        """Losses as scores again."""
        return self.losses(losses)

    def why_not(self, targets: Sequence[Target]) -> str | None:
        """It can judge no predictions."""
        return f"{self.title} was computed elsewhere: redelve cannot compute it of predictions"

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """Impossible."""
        raise SpecError(str(self.why_not(())))


@cache
def _parts(code: str) -> tuple[str, ...]:
    """Name, direction, limits and perhaps "binary"."""
    parts = tuple(code.partition("@")[2].split(","))
    try:
        is_right = len(parts) in (4, 5) and float(parts[2]) < float(parts[3])
    except ValueError:
        is_right = False
    if not is_right or parts[1] not in ("higher", "lower") or parts[4:] not in ((), (BINARY,)):
        raise SpecError(
            f'"{code}" is no code of a score that was computed elsewhere: expected '
            "score@NAME,higher,LOWEST,HIGHEST"
        )
    return parts


METRICS.add(FAMILY, BroughtScore)
