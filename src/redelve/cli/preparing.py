"""Commands for who prepares data: dcheck, dgenorder and dgenproto (manual 3.4, 4.4, C)."""
# ruff: noqa: PTH112

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from redelve.cli import FAILURE
from redelve.cli.options import QUIET, Command, Given, Option, Progress, UsageError, reporter, run
from redelve.data.delve.roots import DataAddress, Overlay, active, within_root
from redelve.errors import LocationError, RedelveError

if TYPE_CHECKING:
    from redelve.data.delve.reading import Library

DCHECK = Command(
    "dcheck",
    "Check a dataset with its prototasks, a prototask with its priors, or a prior file. Every violation is\n"
    "printed on a line of its own: file, line, field and rule. The exit code is 1 if there are any.",
    "[ -l ] [ dpath | mpath ]",
    (Option("l", "local: check only the dataset or prototask itself, nothing inside it", long="local"),),
)


def _still_to_do(library: Library, address: DataAddress) -> str:
    from redelve.data.delve.check import awaits_order

    if address.dataset is None or address.prototask is None:
        return ""
    prototask = library.prototask(library.dataset_spec(address.dataset), address.prototask)
    return "; Random-order is to be made by dgenorder" if awaits_order(library.overlay, prototask) else ""


def dcheck(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    found: list[int] = []

    def dcheck(given: Given) -> Iterator[str]:
        from redelve.data.delve.check import check
        from redelve.data.delve.reading import Library

        overlay = active()
        address = DataAddress.parse(overlay.dpath(given.path()))
        for report in check(Library(overlay), address, is_local=given.has("l")):
            found.append(report.count)
            yield str(report)
        if not any(found):
            yield f"{address}: no problems found{_still_to_do(Library(overlay), address)}\n"

    return run(DCHECK, dcheck, argv) or (FAILURE if any(found) else 0)


DGENORDER = Command(
    "dgenorder",
    "Write Random-order into a prototask's directory; cases with the same commonality index stay together.",
    "[ -s seed ] [ -q ] [ path ]",
    (Option("s", "the seed of the random numbers (default: 0, as in DELVE)", "seed", long="seed"), QUIET),
)


def _dgenorder(given: Given) -> str:
    """Write the order of a prototask given by its true path."""
    from dataclasses import replace
    from pathlib import Path

    from redelve.data.delve.case_lists import write_case_numbers
    from redelve.data.delve.reading import Library
    from redelve.data.files import write_atomic
    from redelve.model.designs import random_order, random_order_of_groups

    progress = reporter(is_quiet=given.has("q"))
    library = Library(active())
    address = _prototask(library.overlay, given.path())
    spec = library.dataset_spec(address[0])
    prototask = library.prototask(spec, address[1])
    if prototask.is_sequential:
        raise LocationError(f"/{'/'.join(address)} is sequential: its cases must keep their order")
    path = Path(library.overlay.true_path(given.path())) / "Random-order"
    progress(f"generating: {path}")
    progress("  counting cases...")
    cases = library.prototask_data(spec, replace(prototask, order="retain")).cases
    if not cases.count:
        raise LocationError(f"/{'/'.join(address)} has no cases: there is nothing to order")
    progress("  creating file...")
    seed = _seed(given.value("s"))
    order = random_order(cases.count, seed)
    if spec.has_commonality and cases.commonality is not None:
        order = random_order_of_groups(cases.commonality, seed)
    write_atomic(path, write_case_numbers(order.tolist()))
    return ""


def _prototask(overlay: Overlay, path: str) -> tuple[str, str]:
    match within_root(overlay.true_path(path)):
        case ("data", (dataset, prototask)):
            return dataset, prototask
    raise LocationError(f'"{path}" is not the true path of a prototask directory: change to one, or name it')


def _seed(text: str | None) -> int:
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(f'bad seed "{text}": give a whole number from 0 to 999999999')
    return int(text)


def dgenorder(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(DGENORDER, _dgenorder, argv)


DGENPROTO = Command(
    "dgenproto",
    "Write Prototask.data for a prototask, for all prototasks of a dataset, or for all datasets.",
    "[ -i ] [ -q ] [ path ]",
    (Option("i", "ignore errors: go on with the next prototask", long="ignore-errors"), QUIET),
)


def _dgenproto(given: Given) -> str:
    """Write the files below a true path."""
    from redelve.data.delve.reading import Library

    library = Library(active())
    progress = reporter(is_quiet=given.has("q"))
    failed = 0
    for folder, dataset, prototask in _prototasks(library.overlay, given.path()):
        try:
            _generate(library, folder, dataset, prototask, progress)
        except RedelveError as error:
            if not given.has("i"):
                raise
            failed += 1
            sys.stderr.write(f"dgenproto: {error}\n")
    if failed:
        raise LocationError(f"{failed} prototask data file{'s' * (failed > 1)} could not be made")
    return ""


def _prototasks(overlay: Overlay, path: str) -> list[tuple[str, str, str]]:
    """True directory, dataset and prototask of everything `path` stands for."""
    true_path = overlay.true_path(path)
    place = within_root(true_path)
    if place is None or place[0] != "data" or len(place[1]) > 2:
        raise LocationError(
            f'"{true_path}" is not in a delve "data" hierarchy: give a true path, not a dpath'
        )
    names = place[1]
    pairs = [
        (dataset, prototask)
        for dataset in (names[:1] or overlay.datasets())
        for prototask in (names[1:] or overlay.prototasks(dataset))
    ]
    found = [(_join(true_path, names, pair), *pair) for pair in pairs]
    here = [each for each in found if os.path.isdir(each[0])]  # another root may define more than this one
    if not here:
        raise LocationError(f'there is no prototask directory at or below "{true_path}"')
    return here


def _join(true_path: str, names: tuple[str, ...], pair: tuple[str, str]) -> str:
    return "/".join((true_path, *pair[len(names) :]))


def _generate(library: Library, folder: str, dataset: str, prototask: str, progress: Progress) -> None:
    from pathlib import Path

    from redelve.data.delve.case_files import write_cases

    path = Path(folder) / "Prototask.data"
    progress(f"generating: {path}")
    spec = library.dataset_spec(dataset)
    progress("  extracting cases...")
    cases = library.prototask_data(spec, library.prototask(spec, prototask)).cases
    progress("  creating file...")
    columns = [column.texts() for column in cases.columns]
    write_cases(path, columns, cases.commonality if spec.has_commonality else None, cases.comments)


def dgenproto(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(DGENPROTO, _dgenproto, argv)
