"""How near the replicas of DELVE's families are: `python -m benchmarks.replicas [--write]`.

Originals are read from the folder that REDELVE_DELVE names (else `../shared/data/delve`): `bank8FM.arff` and
`bank32nh.arff` of Torgo's regression collection, and the samples `NAME.train`, `NAME.test` of FANN's examples
(bank32fm, kin32fm, pumadyn-32fm), whose targets were scaled, so that only figures without a unit can be
compared. What is absent is left out, and said so. `--write` puts the table into docs/datasets.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redelve.data.catalogue import CATALOGUE

Cases = NDArray[np.float64]
Predict = Callable[[Cases, Cases, Cases], Cases]

PAGE = Path(__file__).parent.parent / "docs" / "datasets.md"
BEGIN, END = "<!-- replicas: made by python -m benchmarks.replicas --write -->", "<!-- replicas: end -->"
TENTH = 0.1
SETS = 4


class Figure(NamedTuple):
    """A figure, and its standard error over training sets where it is a loss."""

    value: float
    error: float = 0.0

    def __str__(self) -> str:
        return f"{self.value:.3g}" + f" ± {self.error:.1g}" * (self.error > 0)


class Original(NamedTuple):
    """A public original: its file or files, whether its targets have their unit, and what is left out."""

    files: tuple[str, ...]
    scaled: bool = False
    sound: float = -np.inf
    """Targets up to this are damaged."""


ORIGINALS = {
    "bank-8fm": Original(("bank8FM.arff",)),
    "bank-32nh": Original(("bank32nh.arff",)),
    "bank-32fm": Original(("bank32fm.train", "bank32fm.test"), scaled=True),
    "kin-32fm": Original(("kin32fm.train", "kin32fm.test"), scaled=True, sound=0.0),
    "pumadyn-32fm": Original(("pumadyn-32fm.train", "pumadyn-32fm.test"), scaled=True),
}


def read(folder: Path, original: Original) -> Cases | None:
    """The cases of an original, targets last; nothing if a file is absent."""
    paths = [folder / file for file in original.files]
    if not all(path.is_file() for path in paths):
        return None
    cases = np.concatenate([_arff(path) if path.suffix == ".arff" else _fann(path) for path in paths])
    return cases[cases[:, -1] > original.sound]


def _arff(path: Path) -> Cases:
    lines = path.read_text().lower().partition("@data")[2].splitlines()
    return np.array([line.strip().rstrip(",").split(",") for line in lines if line.strip()], dtype=np.float64)


def _fann(path: Path) -> Cases:
    count, inputs, targets, *values = path.read_text().split()
    return np.array(values, dtype=np.float64).reshape(int(count), int(inputs) + int(targets))


def replica(name: str, cases: int) -> Cases:
    """As many cases of the replica."""
    lines = CATALOGUE[name]()["Dataset.data"].splitlines()[:cases]
    return np.array([line.split() for line in lines], dtype=np.float64)


def linear(inputs: Cases, targets: Cases, others: Cases) -> Cases:
    """A linear fit by least squares."""
    design, test = (np.column_stack([np.ones(len(part)), part]) for part in (inputs, others))
    found: Cases = test @ np.linalg.lstsq(design, targets, rcond=None)[0]
    return found


def neighbours(inputs: Cases, targets: Cases, others: Cases) -> Cases:
    """The mean of the three nearest."""
    from sklearn.neighbors import KNeighborsRegressor

    found: Cases = KNeighborsRegressor(3).fit(inputs, targets).predict(others)
    return found


def boosting(inputs: Cases, targets: Cases, others: Cases) -> Cases:
    """Histogram gradient boosting as scikit-learn sets it."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    found: Cases = HistGradientBoostingRegressor(random_state=0).fit(inputs, targets).predict(others)
    return found


def gaussian_process(inputs: Cases, targets: Cases, others: Cases) -> Cases:
    """A Gaussian process with one length scale and noise, by its marginal likelihood."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(1.0) * RBF(2 * np.sqrt(inputs.shape[1])) + WhiteKernel(0.1)
    fitted = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(inputs, targets)
    found: Cases = fitted.predict(others)
    return found


METHODS: dict[str, Predict] = {
    "linear": linear,
    "3 neighbours": neighbours,
    "boosting": boosting,
    "Gaussian process": gaussian_process,
}


def figures(cases: Cases, *, scaled: bool) -> dict[str, Figure]:
    """What is compared: moments of the targets, and standardised squared errors."""
    targets = cases[:, -1]
    deviation = targets.std()
    skewness = ((targets - targets.mean()) ** 3).mean() / deviation**3
    moments = {} if scaled else {"mean": Figure(targets.mean()), "deviation": Figure(deviation)}
    losses = {name: loss(predict, cases) for name, predict in METHODS.items()}
    return {**moments, "skewness": Figure(skewness), **losses}


def loss(predict: Predict, cases: Cases) -> Figure:
    """The standardised squared error, mean over disjoint training sets, on cases that are in none of them."""
    mixed = np.random.default_rng(0).permutation(cases)
    size = min(512, len(cases) // (2 * SETS))
    test = mixed[SETS * size :][:2048]
    found = []
    for number in range(SETS):
        training = mixed[number * size : (number + 1) * size]
        middle, spread = training[:, :-1].mean(axis=0), training[:, :-1].std(axis=0)
        inputs, others = ((part[:, :-1] - middle) / spread for part in (training, test))
        guesses = predict(inputs, training[:, -1], others)
        found.append(((guesses - test[:, -1]) ** 2).mean() / test[:, -1].var())
    return Figure(float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(SETS)))


def row(name: str, what: str, original: Figure, ours: Figure) -> str:
    """A line of the table; skewness, which may be zero, has its difference as a number."""
    difference = ours.value - original.value
    share = difference / abs(original.value)
    verdict = "" if abs(share) <= TENTH else "**off**"
    told = f"{difference:+.2f}" if what == "skewness" else f"{100 * share:+.0f} %"
    return f"| `{name}` | {what} | {original} | {ours} | {told} | {verdict} |"


def table(folder: Path) -> str:
    """The table, and which originals are absent."""
    lines = ["| member | figure | original | replica | difference | |", "|---|---|--:|--:|--:|---|"]
    absent = []
    for name, original in ORIGINALS.items():
        cases = read(folder, original)
        if cases is None:
            absent.append(name)
            continue
        theirs = figures(cases, scaled=original.scaled)
        ours = figures(replica(name, len(cases)), scaled=original.scaled)
        lines += [row(name, what, value, ours[what]) for what, value in theirs.items()]
    note = f"\nNot measured, because the files are absent: {', '.join(absent)}.\n" if absent else ""
    return "\n".join(lines) + "\n" + note


def main(arguments: list[str]) -> int:
    """Print the table, or put it into the page."""
    folder = Path(os.environ.get("REDELVE_DELVE", Path(__file__).parents[2] / "shared" / "data" / "delve"))
    text = table(folder)
    sys.stdout.write(text)
    if "--write" in arguments:
        page = PAGE.read_text()
        before, rest = page.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.split(END)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
