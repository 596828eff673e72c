"""dgenorder: generate a random order of the cases of a prototask (manual 4.4, C)."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.options import Command, Given, Option, UsageError, run
from redelve.cli.progress_lines import QUIET, reporter
from redelve.data.delve.roots import Overlay, active, within_root
from redelve.errors import LocationError

COMMAND = Command(
    "dgenorder",
    "Write Random-order into a prototask's directory; cases with the same commonality index stay together.",
    "[ -s seed ] [ -q ] [ path ]",
    (Option("s", "the seed of the random numbers (default: 0, as in DELVE)", "seed", long="seed"), QUIET),
)


def dgenorder(given: Given) -> str:
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, dgenorder, argv)
