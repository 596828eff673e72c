"""A plugin of pytest: tests that a new model is no worse than an old one.

Fixture and marker are called `redelve_no_worse`. Nothing of redelve is imported before a test uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from redelve.findings.gate import GateVerdict

NAME = "redelve_no_worse"
UNDECIDED = ("skip", "fail", "pass")
PLACES = ("new", "than", "margin")
"""What arguments without a name mean, in marker and fixture."""
CHECKED = pytest.StashKey[bool]()
"""Whether the fixture was called in a test."""


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
    """After a test whose marker names new scores: check them; one whose own marker checked nothing fails.

    The marker of a class or module may be there for some of its tests, so it asks nothing of the others.
    """
    result = yield
    marked = _marked(item)
    if "new" in marked:
        _checked(item, (), {})
    elif any(one.name == NAME for one in item.own_markers) and not item.stash.get(CHECKED, False):
        _refuse_unknown(marked)
        pytest.fail(
            f"the marker {NAME} names no new scores, and the test does not call the fixture {NAME}, so "
            'nothing was checked: give new="new.csv" to the marker, or call the fixture with the new scores',
            pytrace=False,
        )
    return result


def _marked(item: pytest.Item) -> dict[str, Any]:
    """What the markers of a test say, the nearest one first."""
    found: dict[str, Any] = {}
    for marker in item.iter_markers(NAME):
        found = {**_named(marker.args, marker.kwargs), **found}
    return found


def _named(given: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments by name."""
    if len(given) > len(PLACES):
        told = f"{', '.join(PLACES)}; it was given {len(given)}: name the others, as in level=0.1"
        pytest.fail(f"{NAME} takes three arguments without a name, {told}", pytrace=False)
    places = dict(zip(PLACES, given, strict=False))
    if twice := [name for name in places if name in options]:
        pytest.fail(f"{NAME} was given {twice[0]} twice, without a name and as {twice[0]}=…", pytrace=False)
    return {**places, **options}


def _refuse_unknown(wanted: Mapping[str, Any]) -> None:
    """Fail where an option is none of the gate's, before its lack is told as something else."""
    from redelve.errors import did_you_mean
    from redelve.findings.gate import gate

    known = list(signature(gate).parameters)
    for name in wanted:
        if name not in known:
            meant = did_you_mean(name, known)
            told = f"did you mean {meant!r}?" if meant else f"it has {', '.join(known)}"
            pytest.fail(f"{NAME} has no option {name!r}: {told}", pytrace=False)


def _checked(item: pytest.Item, given: tuple[Any, ...], options: dict[str, Any]) -> GateVerdict:
    from redelve.errors import RedelveError
    from redelve.findings.gate import gate

    item.stash[CHECKED] = True
    wanted = {**_marked(item), **_named(given, options)}
    _refuse_unknown(wanted)
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
