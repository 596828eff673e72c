"""A plugin of pytest: tests that a new model is no worse than an old one.

Fixture and marker are called `redelve_no_worse`. Nothing of redelve is imported before a test uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from redelve.findings.gate import GateVerdict

NAME = "redelve_no_worse"
UNDECIDED = ("skip", "fail", "pass")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--redelve-undecided`, and the setting of the same name."""
    meaning = "what becomes of a test with too little evidence whether a model is worse: skip, fail or pass"
    group = parser.getgroup("redelve")
    group.addoption("--redelve-undecided", choices=UNDECIDED, default=None, help=meaning)
    parser.addini("redelve_undecided", meaning, default="skip")


def pytest_configure(config: pytest.Config) -> None:
    """The marker, for `pytest --markers` and strict ones."""
    config.addinivalue_line(
        "markers",
        f"{NAME}(new=None, than=None, margin=None, **options): options of redelve's gate for the fixture "
        f"{NAME}; with new, the test checks by itself that the scores are no worse",
    )


@pytest.fixture(name=NAME)
def no_worse(request: pytest.FixtureRequest) -> Callable[..., GateVerdict]:
    """Fail if new scores are worse than old ones; skip where there is not enough evidence.

    Takes what `redelve.findings.gate.gate` does; the marker of the same name may give some of it. Returns the
    verdict.
    """
    return lambda *given, **options: _checked(request.node, given, options)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """After a test whose marker names new scores: check them."""
    result = yield
    if "new" in _marked(item):
        _checked(item, (), {})
    return result


def _marked(item: pytest.Item) -> dict[str, Any]:
    """What the markers of a test say, the nearest one first."""
    found: dict[str, Any] = {}
    for marker in item.iter_markers(NAME):
        places = dict(zip(("new", "than"), marker.args, strict=False))
        found = {**places, **marker.kwargs, **found}
    return found


def _checked(item: pytest.Item, given: tuple[Any, ...], options: dict[str, Any]) -> GateVerdict:
    from redelve.errors import RedelveError
    from redelve.findings.gate import gate

    wanted = {**_marked(item), **dict(zip(("new", "than"), given, strict=False)), **options}
    if "new" not in wanted or "margin" not in wanted:
        lacking = "new scores" if "new" not in wanted else "a margin, as margin=0.01"
        pytest.fail(f"{NAME} needs {lacking}", pytrace=False)
    for name in ("new", "than"):
        wanted[name] = _placed(item, wanted.get(name))
    refused = ""
    try:
        verdict = gate(**wanted)
    except RedelveError as error:
        refused = str(error)
    if refused:  # out of the handler, where pytest would tell it twice
        pytest.fail(f"{NAME}: {refused}", pytrace=False)
    item.user_properties += [("redelve_verdict", verdict.answer), ("redelve_difference", verdict.difference)]
    _settle(item, verdict)
    return verdict


def _placed(item: pytest.Item, scores: Any) -> Any:
    """A relative path counts from the folder that pytest calls its root."""
    is_path = isinstance(scores, str | Path)
    return item.config.rootpath / scores if is_path and not Path(scores).is_absolute() else scores


def _settle(item: pytest.Item, verdict: GateVerdict) -> None:
    if verdict.answer == "worse":
        pytest.fail(str(verdict), pytrace=False)
    if verdict.answer == "not enough evidence":
        chosen = item.config.getoption("--redelve-undecided") or item.config.getini("redelve_undecided")
        if chosen not in UNDECIDED:
            raise pytest.UsageError(f"redelve_undecided is one of {', '.join(UNDECIDED)}, not {chosen}")
        if chosen == "fail":
            pytest.fail(str(verdict), pytrace=False)
        if chosen == "skip":
            pytest.skip(str(verdict))
