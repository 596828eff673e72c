"""What commands should find, by arithmetic that shares nothing with redelve.

Instances are cut from the raw cases, attributes are normalised, and losses are analysed, all anew.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from tests.cli.workbench import Workbench, column, dataset, instances, prototask, table, under

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


# An independent view of the data


@dataclass(frozen=True)
class Raw:
    """The cases of a dataset as words, and how a task cuts them."""

    rows: list[list[str]]
    test_size: int
    training_size: int
    most: int = 8
    common: bool = False

    @property
    def count(self) -> int:
        return min((len(self.rows) - self.test_size) // self.training_size, self.most)

    def training(self, instance: int) -> list[list[str]]:
        start = self.test_size + instance * self.training_size
        return self.rows[start : start + self.training_size]

    def testing(self, instance: int) -> list[list[str]]:
        if self.common:
            return self.rows[: self.test_size]
        size = self.test_size // self.count
        return self.rows[instance * size : (instance + 1) * size]

    def numbers(self, rows: list[list[str]], attribute: int) -> Numbers:
        return np.array([float(row[attribute - 1]) for row in rows])

    def words(self, rows: list[list[str]], attribute: int) -> list[str]:
        return [row[attribute - 1] for row in rows]

    def has(self, word: str, rows: list[list[str]], attribute: int) -> Flags:
        return np.array([row[attribute - 1] == word for row in rows])

    def all_tested(self) -> list[list[str]]:
        return self.testing(0) if self.common else [row for i in range(self.count) for row in self.testing(i)]


def demo(bench: Workbench, training_size: int) -> Raw:
    bench.do("dls", "/demo")
    root = Path(bench.do("root").out.strip())
    return Raw(table(root / "data/demo/Dataset.data"), 1024, training_size)


SEX, AGE, SIBLINGS, INCOME, COLOUR = range(1, 6)
COLOURS = ["pink", "blue", "red", "green", "purple"]


def median_and_deviation(values: Numbers) -> tuple[float, float]:
    middle = float(np.median(values))
    return middle, float(np.abs(values - middle).sum() / (len(values) - 1))


def losses(folder: Path, code: str, base: str = "loss") -> list[Numbers]:
    """The contents of the loss files; there must be one for each instance."""
    return [np.array(column(folder / f"{base}.{code}.{number}")) for number in instances(folder)]


def close(found: ArrayLike, wanted: ArrayLike, rtol: float = 1e-6, atol: float = 1e-6) -> None:
    """Nine digits are kept in every file on the way."""
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(wanted, float), rtol=rtol, atol=atol)


def expect(folder: Path, code: str, of: Callable[[int], ArrayLike]) -> None:
    """Every instance has the losses that `of` computes from the raw data."""
    for number, found in enumerate(losses(folder, code)):
        close(found, of(number))


def arc(a: Numbers, b: Numbers | float, unit: float) -> Numbers:
    """The shorter way round, by complex numbers."""
    turned = np.exp(2j * np.pi * (a - b) / unit)
    shorter: Numbers = np.abs(np.angle(turned)) * unit / (2 * np.pi)
    return shorter


# An independent view of the statistics


@dataclass(frozen=True)
class Figures:
    """What mstats should find in a table of losses."""

    mean: float
    error: float
    training: float
    residual: float
    cases: float | None
    squares: tuple[float, float | None, float]


def hierarchical(y: Numbers) -> Figures:
    sets, cases = y.shape
    between = cases * y.mean(axis=1).var(ddof=1)
    within = float(np.mean(y.var(axis=1, ddof=1)))
    training = max(between - within, 0) / cases
    error = math.sqrt(training / sets + within / (sets * cases))
    return Figures(y.mean(), error, math.sqrt(training), math.sqrt(within), None, (between, None, within))


def crossed(y: Numbers) -> Figures:
    sets, cases = y.shape
    rows, columns, mean = y.mean(axis=1), y.mean(axis=0), y.mean()
    rest = float(((y - rows[:, None] - columns + mean) ** 2).sum() / ((sets - 1) * (cases - 1)))
    a, b = cases * rows.var(ddof=1), sets * columns.var(ddof=1)
    training, testing = max(a - rest, 0) / cases, max(b - rest, 0) / sets
    error = math.sqrt(training / sets + testing / cases + rest / (sets * cases))
    return Figures(mean, error, math.sqrt(training), math.sqrt(rest), math.sqrt(testing), (a, b, rest))


NUMBER = r"-?(?:\d+\.\d+(?:e[+-]\d+)?|\de[+-]\d+|Inf|undefined)"
LINE = re.compile(rf" *(\S.*): +({NUMBER}) +({NUMBER})$")
TRAINING = "SD from training sets & stochastic training"
RESIDUAL = "SD from test cases & stoch. pred. & interactions"


def figures(text: str) -> dict[str, tuple[Any, Any]]:
    """The lines of mstats: label, raw value, standardised value."""
    found = [match.groups() for line in text.splitlines() if (match := LINE.match(line))]
    return {label: (float(raw), None if std == "undefined" else float(std)) for label, raw, std in found}


def p_value(text: str) -> float:
    (found,) = re.findall(r"Significance of difference \([tF]-test\), p = (\S+)", text)
    return float(found)


def check_summary(text: str, expected: Figures, baseline: float) -> None:
    """Raw figures, and standardised ones as multiples of the baseline."""
    found = figures(text)
    wanted = {
        "Estimated expected loss": expected.mean,
        "Standard error for estimate": expected.error,
        TRAINING: expected.training,
        RESIDUAL if expected.cases is None else "SD from stoch. pred. & interactions": expected.residual,
    }
    if expected.cases is not None:
        wanted["SD from test cases"] = expected.cases
    assert set(found) == set(wanted)
    for label, value in wanted.items():
        assert found[label] == (
            pytest.approx(value, rel=1e-6, abs=1e-7),
            pytest.approx(value / baseline, rel=1e-6, abs=1e-7),
        )


# Data with a target of every kind

WIND_PRIOR = "1 NLMH real\n2 NLMH angular unit=360\n3 NLMH integer\n4 NLMH nominal\n"
WIND = ("SPEED u [0,Inf)", "FROM u [0,360)", "GUSTS u 0..Inf", "SKY u clear grey rain")


def wind(bench: Workbench, selection: str = "common") -> Raw:
    """Cases with a target of every kind; prototasks for an angle and for several targets."""
    draws = np.random.default_rng(5)
    rows = []
    for _ in range(100):
        speed = round(float(draws.gamma(3)), 2)
        angle = round(float((60 * draws.normal() + 40 * speed) % 360), 1) % 360
        rows.append(
            [f"{speed}", f"{angle}", f"{draws.poisson(speed)}", str(draws.choice(WIND[3].split()[2:]))]
        )
    keys = {"Test_Set_Size": "40", "Training_Set_Sizes": "10 15", "Test_Set_Selection": selection}
    files = dataset(WIND, [" ".join(row) for row in rows])
    targets = {"from": "2", "both": "1 3", "mixed": "2 4", "classes": "3 4"}
    for name, numbers in targets.items():
        inputs = " ".join(number for number in "1234" if number not in numbers)
        files |= under(name, prototask(WIND_PRIOR, Inputs=inputs, Targets=numbers, **keys))
    bench.write(under("data/wind", files))
    return Raw(rows, 40, 10, common=selection == "common")
