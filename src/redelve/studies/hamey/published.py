"""What Hamey printed in table 1, and how it was measured (section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from redelve.studies.hamey.batch_trials import Setting


@dataclass(frozen=True)
class Printed:
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
    numbers: dict[str, Printed]


PUBLISHED = {
    "xor": PublishedRow(
        Setting(1.4, 0.65, 7.0), 10_000, 2000, 200, 0.3,
        {
            "e": Printed(17.1, 0.1), "T_E": Printed(49), "T_E1": Printed(26), "T_E2": Printed(235),
            "t̄_E": Printed(59), "a": Printed(0.1, 0.1), "k": Printed(0.5, 0.1), "T_0": Printed(54),
            "γ": Printed(0.66, 0.01), "λ": Printed(0.93, 0.01), "t̄_C": Printed(409),
            "λ_T": Printed(0.76, 0.01), "t̄_T": Printed(50), "t̄_H": Printed(40),
        },
    ),
    "encoder-10-5": PublishedRow(
        Setting(1.1, 0.0, 1.7), 1000, 600, 600, 0.2,
        {
            "e": Printed(8.1, 0.1), "T_E": Printed(inf), "T_E1": Printed(110), "T_E2": Printed(inf),
            "t̄_E": Printed(124), "λ": Printed(1.0, 0.01), "t̄_C": Printed(124),
            "λ_T": Printed(1.0, 0.01), "t̄_T": Printed(124), "t̄_H": Printed(114),
        },
    ),
}  # fmt: skip
