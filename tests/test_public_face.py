"""The package's face: few names, options that are refused when misspelt, `python -m redelve`."""

import inspect
import re
import subprocess
import sys
from typing import Any

import pytest

import redelve


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
