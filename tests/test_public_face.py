"""The package's face: few names, options that are refused when misspelt, `python -m redelve`."""

import inspect
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

import redelve

PUBLIC: Any = redelve


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "redelve", "--version"]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    assert made.stdout == f"redelve {redelve.__version__}\n"


def test_as_a_module_it_fails_as_the_command_does() -> None:
    made = subprocess.run([sys.executable, "-m", "redelve", "nonsense"], capture_output=True, check=False)
    assert made.returncode == 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"run": 5}, "assess() has no option 'run': did you mean 'runs'?"),
        ({"size": [64]}, "assess() has no option 'size': did you mean 'sizes'?"),
        ({"loss": "A"}, "assess() has no option 'loss': did you mean 'losses'?"),
        (
            {"n_jobs": 4},
            "assess() has no option 'n_jobs': it has methods, tasks, target, groups, design, gap, sizes,",
        ),
        (
            {"run": 5, "loss": "A"},
            "'runs'?; assess() has no option 'loss': did you mean 'losses'?",
        ),
    ],
)
def test_a_misspelt_option_is_refused_with_a_suggestion(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TypeError, match=re.escape(complaint)):
        redelve.assess(["constant"], "demo/age/std.32", **options)


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("assess", {"runs": "x"}, "runs='x': assess() takes a whole number"),
        ("assess", {"runs": 2.0}, "runs=2.0: assess() takes a whole number"),
        ("assess", {"limits": 5}, "limits=5: assess() takes Limits(…) or None"),
        (
            "assess",
            {"compare": [("a",)]},
            "compare=[('a',)]: assess() takes a list of pairs of names or None",
        ),
        ("assess", {"archive": np.zeros(99)}, "archive=a ndarray: assess() takes a text or a path or None"),
        ("compare_scores", {"metric": (1, 0)}, "metric=(1, 0): compare_scores() takes a text or None"),
        ("compare_scores", {"pooled": object()}, "pooled=a object: compare_scores() takes True or False"),
        ("gate", {"margin": 1, "looks": "3"}, "looks='3': gate() takes a whole number"),
        ("race", {"level": ["x"]}, "level=['x']: race() takes a number"),
        ("race", {"models": 3}, "models=3: race() takes a list of texts or None"),
        ("task", {"groups": {}}, "groups={}: task() takes a text or a label for each case or None"),
        ("task", {"design": -1}, "design=-1: task() takes a text or a design or None"),
        ("from_file", {"target": 5}, "target=5: from_file() takes a text or None"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_with_what_to_give(
    name: str, options: dict[str, Any], complaint: str
) -> None:
    first = {"assess": (["constant"], "demo/age/std.32")}.get(name, ("demo/age/std.32",))
    with pytest.raises(redelve.RedelveError) as caught:
        getattr(redelve, name)(*first, **options)
    assert str(caught.value) == complaint


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"seconds": "3"}, "seconds='3': give a number or None"),
        ({"memory": "1G"}, "memory='1G': give a whole number or None"),
        ({"threads": None}, "threads=None: give a whole number"),
        ({"isolated": "yes"}, "isolated='yes': give True or False or None"),
    ],
)
def test_limits_of_the_wrong_kind_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(redelve.RedelveError) as caught:
        redelve.Limits(**options)
    assert str(caught.value) == complaint


@pytest.mark.parametrize(
    ("make", "kind", "complaint"),
    [
        (
            lambda: PUBLIC.Limits(second=3),
            TypeError,
            "Limits() has no option 'second': did you mean 'seconds'?",
        ),
        (
            lambda: PUBLIC.Limits(x=3),
            TypeError,
            "Limits() has no option 'x': it has seconds, memory, threads",
        ),
        (
            lambda: PUBLIC.Program("x", read="y"),
            TypeError,
            "Program() has no option 'read': did you mean 're",
        ),
        (
            lambda: PUBLIC.Assessment(3),
            redelve.RedelveError,
            "results=3: Assessment() takes Results, as Archive.",
        ),
        (
            lambda: PUBLIC.Archive.open(3),
            redelve.RedelveError,
            "path=3: give the path of an archive, a folder",
        ),
        (
            lambda: PUBLIC.compare_scores([], higher=True),
            TypeError,
            "compare_scores() has no option 'higher': did you mean 'higher_is_better'?",
        ),
    ],
)
def test_classes_refuse_as_functions_do(make: Any, kind: type[Exception], complaint: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(complaint)


def test_numbers_and_lists_of_numpy_and_pandas_are_of_the_right_kind() -> None:
    options: dict[str, Any] = {"runs": np.int64(1), "progress": np.bool_(False), "sizes": np.array([32])}
    done = redelve.assess(["constant"], "demo/age", losses=["S"], **options)
    assert done.results.records
    frame = pd.DataFrame({"a": range(60), "b": range(60), "y": [k % 7 + 0.5 for k in range(60)]})
    of_pandas: dict[str, Any] = {"ignore": frame.columns[:1], "groups": pd.Series(range(60)) // 3}
    assert redelve.task(frame, "y", **of_pandas)


def test_help_shows_the_options() -> None:
    options = inspect.signature(redelve.assess).parameters
    assert list(options)[:3] == ["methods", "tasks", "target"]
    assert all(one.kind is one.KEYWORD_ONLY for one in list(options.values())[3:])


FUNCTIONS = {"Parameters", "Returns", "Notes", "Examples"}
CLASSES = {"Notes", "Examples"}


@pytest.mark.parametrize("name", sorted(set(redelve.__all__) - {"METHODS"}))
def test_every_public_name_is_explained_in_full(name: str) -> None:
    thing = getattr(redelve, name)
    explained = set(re.findall(r"^(\w+)\n-{4,}$", inspect.getdoc(thing) or "", re.MULTILINE))
    wanted = CLASSES if inspect.isclass(thing) else FUNCTIONS
    assert wanted <= explained, f"{name} lacks {wanted - explained}"
    if inspect.isfunction(thing):
        options = inspect.signature(thing).parameters
        assert all(one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL) for one in options.values())
        assert all(
            re.search(rf"^{option}( : .*)?$", inspect.getdoc(thing) or "", re.MULTILINE) for option in options
        )


@pytest.mark.parametrize("name", ["from_frame", "from_file", "task", "as_method", "check_method"])
def test_every_public_function_refuses_what_it_does_not_have(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) has no option 'nam': did you mean 'name'\?"):
        getattr(redelve, name)("thing", nam="x")
