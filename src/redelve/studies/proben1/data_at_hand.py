"""Which datasets the study can train on here, and what that means for the comparison with print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from redelve.data.proben1 import parse_name
from redelve.data.proben1.data_sources import missing_carriers, origin_of
from redelve.data.proben1.raw_files import INSTALL, packages_of
from redelve.errors import LocationError, RedelveError
from redelve.studies.proben1.plan import Proben1Plan, task_and_origin

NO_DATA = (
    "none of these datasets is at hand, and redelve may not redistribute them: `redelve proben1 install` "
    "gets packages out of whose files redelve makes most of them anew, or set REDELVE_PROBEN1 to a folder "
    "with PROBEN1's files; `redelve study hamey` and `redelve study wcci --quick` need no files"
)
OWN = "data: PROBEN1's own files{some}"
REBUILT = (
    "data made anew of other packages' files, the same numbers in the same order as PROBEN1's own, so that "
    "every cell may be compared with print: {some}"
)
LEFT_OUT = "left out, for their data are not at hand: {some}"
UNUSABLE = "left out, for its data can't be used: {name} ({problem})"


def with_data_at_hand(plan: Proben1Plan) -> Proben1Plan:
    """The plan without datasets whose data are not at hand or damaged; an error if that leaves nothing."""
    absent, here, problems = list[str](), list[str](), dict[str, RedelveError]()
    for name in dict.fromkeys(sheet.dataset for sheet in plan.sheets):
        try:
            is_here = origin_of(name) is not None and task_and_origin(name) is not None  # read once, and kept
            (here if is_here else absent).append(name)
        except RedelveError as problem:
            problems[name] = problem
    if not here:
        raise next(iter(problems.values()), LocationError(NO_DATA))
    told = {name: str(problem) for name, problem in problems.items()}
    kept = tuple(sheet for sheet in plan.sheets if sheet.dataset in here)
    return replace(plan, sheets=kept, left_out=tuple(absent), unusable=told)


def about_data(plan: Proben1Plan) -> tuple[str, ...]:
    """Where the data come from, and what is left out, a line each."""
    origins = {sheet.dataset: task_and_origin(sheet.dataset)[1] for sheet in plan.sheets}
    own = [name for name, origin in origins.items() if origin == "own file"]
    made = [name for name, origin in origins.items() if origin == "rebuilt"]
    lines = []
    if own:
        lines.append(OWN.format(some=f" of {', '.join(own)}" if made else ""))
    if made:
        lines.append(REBUILT.format(some=_with_packages(made)))
    if plan.left_out:
        lines.append(LEFT_OUT.format(some=", ".join(plan.left_out)) + _way_out(plan.left_out))
    lines += [UNUSABLE.format(name=name, problem=problem) for name, problem in plan.unusable.items()]
    return tuple(lines)


def _way_out(names: Iterable[str]) -> str:
    """How to have some of them, if that is possible."""
    carried = any(missing_carriers(parse_name(name).dataset.name) for name in names)
    return f" (more of them: `{INSTALL}`)" if carried else ""


def _with_packages(names: Iterable[str]) -> str:
    """The datasets, by the packages that they are made of."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(packages_of(parse_name(name).dataset.name), []).append(name)
    return "; ".join(f"{', '.join(several)} ({packages})" for packages, several in found.items())
