"""The same CSV and the same five methods with redelve and its peers: `python -m benchmarks.peers`.

Not a part of `python -m benchmarks`: it needs `pip install skore benchopt autorank`. It prints the table of
docs/peers.md: lines of code, seconds in a fresh process, what was answered; then how often equal methods are
called different. The table has 1000 cases, drawn from statsmodels' `fair`; the other 5366 tell the truth.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.bench_first_answer import METHODS, TARGET, spent

CASES = 1000
NAMES = ("ridge", "neighbours", "forest", "boosting", "svm")
FOLDS = 10
DRAWS = 100
EQUALS = 5

READ = """
import pandas as pd
import five
frame = pd.read_csv("people.csv")
X, y = frame.drop(columns="yrs_married"), frame["yrs_married"]
methods = {name: getattr(five, name) for name in ("ridge", "neighbours", "forest", "boosting", "svm")}
"""

SKORE = f"""{READ}
import skore
report = skore.evaluate(methods, X, y, splitter={FOLDS})
print(report.metrics.summarize().frame().to_string())
"""

AUTORANK = f"""{READ}
from autorank import autorank, create_report
from sklearn.model_selection import cross_val_score
folds = {{name: -cross_val_score(one, X, y, cv={FOLDS}, scoring="neg_mean_squared_error")
         for name, one in methods.items()}}
create_report(autorank(pd.DataFrame(folds), order="ascending"))
"""

BENCHOPT = {
    "objective.py": """
from benchopt import BaseObjective
from sklearn.model_selection import KFold
class Objective(BaseObjective):
    name = "squared error"
    sampling_strategy = "run_once"
    def set_data(self, X, y):
        self.X, self.y = X, y
        self.cv = KFold(FOLDS)
    def split(self, cv_fold, X, y):
        learnt, left = cv_fold
        return X.iloc[learnt], X.iloc[left], y.iloc[learnt], y.iloc[left]
    def evaluate_result(self, model):
        return {"value": float(((model.predict(self.X_test) - self.y_test) ** 2).mean())}
    def get_one_result(self):
        from sklearn.dummy import DummyRegressor
        return {"model": DummyRegressor().fit(self.X_train, self.y_train)}
    def get_objective(self):
        self.X_train, self.X_test, self.y_train, self.y_test = self.get_split(self.X, self.y)
        return {"X": self.X_train, "y": self.y_train}
""",
    "datasets/people.py": """
import pandas as pd
from benchopt import BaseDataset
class Dataset(BaseDataset):
    name = "people"
    def get_data(self):
        frame = pd.read_csv("FOLDER/people.csv")
        return {"X": frame.drop(columns="yrs_married"), "y": frame["yrs_married"]}
""",
    "solvers/five_methods.py": """
import sys
sys.path.insert(0, "FOLDER")
import five
from benchopt import BaseSolver
from sklearn.base import clone
class Solver(BaseSolver):
    name = "five"
    sampling_strategy = "run_once"
    parameters = {"which": ["ridge", "neighbours", "forest", "boosting", "svm"]}
    def set_objective(self, X, y):
        self.X, self.y = X, y
    def run(self, _):
        self.model = clone(getattr(five, self.which)).fit(self.X, self.y)
    def get_result(self):
        return {"model": self.model}
""",
}


def lines_of(text: str) -> int:
    """Lines that somebody has to write."""
    return sum(bool(line.strip()) for line in text.splitlines())


def population() -> pd.DataFrame:
    """All cases, in a random order."""
    from statsmodels.datasets import fair

    every: pd.DataFrame = fair.load_pandas().data
    return every.sample(frac=1, random_state=1).reset_index(drop=True)


def truth(people: pd.DataFrame, size: int, repetitions: int = 20) -> pd.DataFrame:
    """The expected squared errors with training sets of a size, by cases that the CSV does not have."""
    space: dict[str, Any] = {}
    exec(METHODS, space)
    rest = people.iloc[CASES:]
    found: dict[str, list[float]] = {name: [] for name in NAMES}
    for number in range(repetitions):
        learnt = rest.sample(size, random_state=number)
        left = rest.drop(learnt.index)
        for name in NAMES:
            fitted = space[name].fit(learnt.drop(columns=TARGET), learnt[TARGET])
            errors = fitted.predict(left.drop(columns=TARGET)) - left[TARGET]
            found[name].append(float((errors**2).mean()))
    frame = pd.DataFrame(found)
    return pd.DataFrame({"loss": frame.mean(), "standard error": frame.sem()}).sort_values("loss")


def answers(folder: Path) -> None:
    """What each tool takes and answers."""
    own = folder / "benchmark"
    for name, text in BENCHOPT.items():
        path = own / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("FOLDER", str(folder)).replace("FOLDS", str(FOLDS)))
    (folder / "with_skore.py").write_text(SKORE)
    (folder / "with_autorank.py").write_text(AUTORANK)
    redelve = str(Path(sys.executable).with_name("redelve"))
    asked = {
        "redelve": ([redelve, "assess", "people.csv", "-t", TARGET, "-m", "five.py", "-q", "-o", "a"], 1),
        "redelve --cv 10": (
            [redelve, "assess", "people.csv", "-t", TARGET, "-m", "five.py", "-q", "--cv", "10", "-o", "b"],
            1,
        ),
        "skore": ([sys.executable, "with_skore.py"], lines_of(SKORE)),
        "autorank": ([sys.executable, "with_autorank.py"], lines_of(AUTORANK)),
        "benchopt": (
            [sys.executable, "-m", "benchopt", "run", str(own), "--no-display", "--output", "out"],
            sum(map(lines_of, BENCHOPT.values())),
        ),
    }
    for name, (command, lines) in asked.items():
        try:
            seconds, cpu, printed = spent(command, folder)
        except RuntimeError as error:
            seconds, cpu, printed = float("nan"), float("nan"), str(error)
        print(f"\n## {name}: {lines} lines, {seconds:.1f} s, {cpu:.1f} s of CPU\n{printed}", flush=True)


def equal_methods(people: pd.DataFrame, tool: str, draws: int) -> None:
    """How often a tool calls any two different of five methods that are equal: trees with five seeds."""
    claims_of = {"autorank": autorank_claims, "redelve": redelve_claims}[tool]
    claims: dict[str, int] = {}
    for number in range(draws):
        drawn = people.sample(CASES, random_state=number)
        for told, is_claimed in claims_of(drawn).items():
            claims[told] = claims.get(told, 0) + is_claimed
        print(number + 1, claims, file=sys.stderr, flush=True)
    for told, count in claims.items():
        rate = count / draws
        print(f"{told}: {count} of {draws}, {rate:.1%} ± {np.sqrt(rate * (1 - rate) / draws):.1%}")


def equal_trees() -> dict[str, Any]:
    """Methods that differ by their seed alone."""
    from sklearn.tree import ExtraTreeRegressor

    return {f"tree{seed}": ExtraTreeRegressor(random_state=seed) for seed in range(EQUALS)}


def autorank_claims(drawn: pd.DataFrame) -> dict[str, bool]:
    """Whether autorank finds a difference, in the scores of ten folds and of ten times ten folds."""
    from autorank import autorank
    from sklearn.model_selection import RepeatedKFold

    x, y = drawn.drop(columns=TARGET).to_numpy("float32"), drawn[TARGET].to_numpy()
    claims = {}
    for repeats in (1, 10):
        splits = list(RepeatedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0).split(x))
        scores = {
            name: [((one.fit(x[a], y[a]).predict(x[b]) - y[b]) ** 2).mean() for a, b in splits]
            for name, one in equal_trees().items()
        }
        found = autorank(pd.DataFrame(scores), order="ascending")
        claims[f"autorank, {FOLDS} x {repeats} folds"] = bool(found.pvalue < 0.05)
    return claims


def redelve_claims(drawn: pd.DataFrame) -> dict[str, bool]:
    """Whether any comparison of a summary is significant, allowing for all, by two designs."""
    import redelve

    claims = {}
    for told, design in (("redelve", None), ("redelve --cv 10", "cv 10")):
        findings = redelve.assess(equal_trees(), drawn, TARGET, design=design).findings
        pairs = [one.adjusted_p_value for found in findings.tasks for one in found.contests]
        claims[told] = any(p is not None and p < 0.05 for p in pairs)
    return claims


def main(wanted: list[str]) -> None:
    """All of it, or `answers`, `truth`, and the claims about equal methods by `autorank`, `redelve`."""
    print(", ".join(f"{name} {version(name)}" for name in ("redelve", "skore", "benchopt", "autorank")))
    people = population()
    if not wanted or "truth" in wanted:
        for size in (64, 900):
            print(f"\ntruth with {size} training cases\n{truth(people, size).to_string()}", flush=True)
    if not wanted or "answers" in wanted:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            people.iloc[:CASES].to_csv(folder / "people.csv", index=False)
            (folder / "five.py").write_text(METHODS)
            answers(folder)
    for tool in ("autorank", "redelve"):
        if not wanted or tool in wanted:
            equal_methods(people, tool, DRAWS)


if __name__ == "__main__":
    main(sys.argv[1:])
