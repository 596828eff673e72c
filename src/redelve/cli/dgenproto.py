"""dgenproto: generate Prototask.data, the part of a dataset that a prototask uses (manual 4.4, C)."""
# ruff: noqa: PTH112

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from redelve.cli.options import Command, Given, Option, run
from redelve.cli.progress_lines import QUIET, Progress, reporter
from redelve.data.delve.roots import Overlay, active, within_root
from redelve.errors import LocationError, RedelveError

if TYPE_CHECKING:
    from redelve.data.delve.reading import Library

COMMAND = Command(
    "dgenproto",
    "Write Prototask.data for a prototask, for all prototasks of a dataset, or for all datasets.",
    "[ -i ] [ -q ] [ path ]",
    (Option("i", "ignore errors: go on with the next prototask", long="ignore-errors"), QUIET),
)


def dgenproto(given: Given) -> str:
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, dgenproto, argv)
