"""Calls of the public functions from Python, with one or two arguments that are odd."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from redelve.registry import value_told
from tests.fuzzing.scenes import rows
from tests.fuzzing.score_scenes import score_rows

Maker = Callable[[], Any]


class Unspeakable:
    """What has no text."""

    def __repr__(self) -> str:
        raise RuntimeError


def frame() -> Any:
    """A small table with numbers, categories and two targets."""
    import pandas

    table = pandas.DataFrame(rows(), columns=["a", "c", "y", "label"])
    return table.assign(a=table["a"].astype(float), y=table["y"].astype(float))


def scores() -> Any:
    """Scores of three models on the same questions."""
    import pandas

    return pandas.DataFrame(score_rows("abc"))


def ridge() -> Any:
    from sklearn.linear_model import Ridge

    return Ridge()


def limits() -> Any:
    from redelve import Limits

    return Limits(isolated=False)


def answering() -> Any:
    return lambda wanted: [len(str(question)) % 3 / 3 for _, question in wanted]


GOOD: Mapping[str, Mapping[str, Maker]] = {
    "assess": {
        "methods": lambda: {"ridge": ridge(), "zero": "constant"},
        "tasks": lambda: frame()[["a", "y"]],
        "target": lambda: "y",
        "groups": lambda: None,
        "design": lambda: "cv",
        "gap": lambda: None,
        "sizes": lambda: None,
        "losses": lambda: ["S"],
        "runs": lambda: 1,
        "workers": lambda: 1,
        "limits": limits,
        "on_failure": lambda: "leave out",
        "archive": lambda: None,
        "retry": lambda: None,
        "shard": lambda: None,
        "progress": lambda: False,
        "margin": lambda: "2%",
        "compare": lambda: [("ridge", "zero")],
        "judge_by": lambda: "S",
        "until_settled": lambda: False,
        "budget": lambda: None,
    },
    "compare_scores": {
        "scores": scores,
        **dict.fromkeys(
            ("model", "case", "score", "task", "run", "group", "fold", "training_set", "weight", "prompt"),
            lambda: None,
        ),
        "slices": lambda: "group",
        "higher_is_better": lambda: True,
        "metric": lambda: None,
        "limits": lambda: (0, 1),
        "ratio": lambda: None,
        "missing": lambda: "common",
        "pooled": lambda: False,
        "reader": lambda: None,
        "unfinished": lambda: False,
        "name": lambda: "mine",
        "margin": lambda: 0.1,
        "compare": lambda: [("a", "b")],
        "notes": lambda: "a note",
        "chosen_of": lambda: {"a": 3},
        "archive": lambda: None,
    },
    "race": {
        "answers": answering,
        "models": lambda: ["a", "b"],
        "questions": lambda: [f"q{k}" for k in range(60)],
        "margin": lambda: 0.05,
        "level": lambda: 0.05,
        "batch": lambda: 25,
        "last_look": lambda: True,
        "seed": lambda: 0,
        "columns": lambda: None,
        "higher_is_better": lambda: True,
        "limits": lambda: (0, 1),
        "reader": lambda: None,
    },
    "gate": {
        "new": scores,
        "than": lambda: None,
        "margin": lambda: 0.05,
        "model": lambda: "a",
        "than_model": lambda: "b",
        "level": lambda: 0.05,
        "looks": lambda: 1,
        "missing": lambda: "common",
        "columns": lambda: None,
        "higher_is_better": lambda: True,
        "limits": lambda: (0, 1),
        "reader": lambda: None,
    },
    "predict_performance": {
        "estimator": ridge,
        "X": lambda: frame()[["a"]],
        "y": lambda: frame()["y"],
        "loss": lambda: None,
        "groups": lambda: None,
        "ways": lambda: ["kfold:3"],
        "seed": lambda: 0,
        "level": lambda: 0.95,
        "jobs": lambda: 1,
        "progress": lambda: None,
    },
    "task": {
        "source": frame,
        "target": lambda: "label",
        **dict.fromkeys(
            ("name", "groups", "kind", "design", "gap", "ignore", "missing", "sizes"), lambda: None
        ),
    },
    "from_frame": {"frame": frame, "target": lambda: "y", "description": lambda: None},
    "from_file": {
        "path": lambda: "d.csv",
        "target": lambda: "y",
        "encoding": lambda: None,
        "decimal": lambda: None,
    },
    "as_method": {"thing": ridge},
    "check_method": {"thing": lambda: "constant"},
    "Program": {"command": lambda: ["true"]},
    "Limits": {"seconds": lambda: 3, "memory": lambda: 1 << 30, "isolated": lambda: False},
    "Normal": {"location": lambda: [0.0, 1.0], "scale": lambda: [1.0, 2.0]},
}


def _numpy() -> Any:
    import numpy

    return numpy


def _changed(table: Maker, change: str) -> Maker:
    """A good table with something odd about it."""

    def made() -> Any:
        import pandas

        good = table()
        ways: dict[str, Callable[[], Any]] = {
            "no rows": lambda: good.iloc[:0],
            "one row": lambda: good.iloc[:1],
            "no columns": lambda: good.iloc[:, :0],
            "numbers as names": lambda: good.set_axis(range(good.shape[1]), axis=1),
            "a name twice": lambda: good.set_axis([good.columns[0]] * good.shape[1], axis=1),
            "tuples as names": lambda: good.set_axis(
                pandas.MultiIndex.from_product([["x"], good.columns]), axis=1
            ),
            "missing": lambda: good.mask(good.index.to_series() % 3 == 0),
            "all missing": lambda: good.mask(good.index.to_series() >= 0),
            "objects": lambda: good.assign(**{str(good.columns[-2]): [object()] * len(good)}),
            "huge whole": lambda: good.assign(
                **{str(good.columns[-2]): pandas.Series([10**400] * len(good), dtype=object)}
            ),
            "halves": lambda: good.assign(
                **{str(good.columns[1]): pandas.Series(["x\ud800"] * len(good), dtype=object)}
            ),
            "lists": lambda: good.assign(**{str(good.columns[-2]): [[1]] * len(good)}),
            "dates": lambda: good.assign(**{str(good.columns[-2]): pandas.Timestamp("2026-01-01")}),
            "complex": lambda: good.assign(**{str(good.columns[-2]): 1j}),
            "infinite": lambda: good.assign(**{str(good.columns[-2]): float("inf")}),
            "huge": lambda: good.assign(**{str(good.columns[-2]): 1e308}),
            "index twice": lambda: pandas.concat([good, good]),
        }
        return ways[change]()

    return made


CHANGES = (
    *("no rows", "one row", "no columns", "numbers as names", "a name twice", "tuples as names", "missing"),
    *("all missing", "objects", "lists", "dates", "complex", "infinite", "huge", "index twice"),
    *("huge whole", "halves"),
)
PLAIN: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 2.5, float("nan"), float("inf"), 1 << 70, 1j, b"x", len, int),
    *(
        "",
        " ",
        "x",
        "y",
        "a",
        "label",
        "é\0",
        "x\ud800",
        "x\udcff",
        "../x",
        "1",
        "2%",
        "a" * 3000,
        "d.csv",
        Path("no"),
        Path("d.csv"),
    ),
    *([], (), {}, set(), object(), [None], ["x"], ["x", "x"], [1, 2], (1, 0), ("a",), [[]], [["a", "b"]]),
    *({"a": None}, {1: 2}, 10**5000, Unspeakable(), {"a": "b"}, {"a": 3}, [("a", "nobody")]),
)
ODD: tuple[Maker, ...] = (
    *(partial(copy, value) for value in PLAIN),
    lambda: sys,
    lambda: (one for one in "ab"),
    lambda: _numpy().zeros(0),
    lambda: _numpy().zeros((3, 2, 2)),
    lambda: _numpy().array(5.0),
    lambda: _numpy().array(["x", "y"] * 24),
    lambda: _numpy().full(48, _numpy().nan),
    lambda: _numpy().arange(48) * 1e306,
    lambda: _numpy().float32(0.5),
    lambda: _numpy().int8(1),
    lambda: _numpy().str_("y"),
    *(ridge, frame, scores, limits),
    *(_changed(table, change) for table in (frame, scores) for change in CHANGES),
)


def call_of(chance: Random) -> tuple[str, Callable[[], int]]:
    """One call with odd arguments: in words, and a function that makes it and tells how it ended."""
    name = chance.choice([*GOOD, *["assess", "compare_scores", "race", "gate", "predict_performance"] * 2])
    good = GOOD[name]
    names = chance.sample(sorted(good), min(len(good), chance.choice((1, 1, 1, 2))))
    odd = {one: chance.randrange(len(ODD)) for one in names}
    told = ", ".join(f"{one}={value_told(ODD[number]())}" for one, number in odd.items())
    return f"{name}({told})", lambda: call(name, odd)


def call(name: str, odd: Mapping[str, int]) -> int:
    """Make it: 0 if it goes well, 1 with its sentence if it is refused; anything else is an error of ours."""
    import redelve

    made = {one: ODD[odd[one]]() if one in odd else make() for one, make in GOOD[name].items()}
    try:
        print(ascii(str(getattr(redelve, name)(**made))[:200]))
    except redelve.RedelveError as problem:
        print(f"redelve: {problem}".encode(errors="backslashreplace").decode())
        return 1
    return 0
