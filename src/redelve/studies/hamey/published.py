"""What Hamey printed in table 1, and how it was measured (section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from redelve.studies.hamey.batch_trials import Setting


@dataclass(frozen=True)
class Printing:
    """A printed number, and one unit of its last place."""

    value: float
    unit: float = 1.0


@dataclass(frozen=True)
class PublishedRow:
    """A problem of table 1: its optimised setting, so many trials, the limit, and the numbers by symbol.

    `e_margin` is the printed ± of e, from a jackknife.
    """

    setting: Setting
    trials: int
    limit: int
    search_limit: int
    e_margin: float
    numbers: dict[str, Printing]


PUBLISHED = {
    "xor": PublishedRow(
        Setting(1.4, 0.65, 7.0), 10_000, 2000, 200, 0.3,
        {
            "e": Printing(17.1, 0.1), "T_E": Printing(49), "T_E1": Printing(26), "T_E2": Printing(235),
            "t̄_E": Printing(59), "a": Printing(0.1, 0.1), "k": Printing(0.5, 0.1), "T_0": Printing(54),
            "γ": Printing(0.66, 0.01), "λ": Printing(0.93, 0.01), "t̄_C": Printing(409),
            "λ_T": Printing(0.76, 0.01), "t̄_T": Printing(50), "t̄_H": Printing(40),
        },
    ),
    "encoder-10-5": PublishedRow(
        Setting(1.1, 0.0, 1.7), 1000, 600, 600, 0.2,
        {
            "e": Printing(8.1, 0.1), "T_E": Printing(inf), "T_E1": Printing(110), "T_E2": Printing(inf),
            "t̄_E": Printing(124), "λ": Printing(1.0, 0.01), "t̄_C": Printing(124),
            "λ_T": Printing(1.0, 0.01), "t̄_T": Printing(124), "t̄_H": Printing(114),
        },
    ),
}  # fmt: skip
