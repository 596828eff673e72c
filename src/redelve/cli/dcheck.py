"""dcheck: validate datasets, prototasks and priors (manual 3.4, 4.4, C)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from redelve.cli.options import FAILURE, Command, Given, Option, run
from redelve.data.delve.roots import DataAddress, active

if TYPE_CHECKING:
    from redelve.data.delve.reading import Library

COMMAND = Command(
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


def main(argv: Sequence[str] | None = None) -> int:
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

    return run(COMMAND, dcheck, argv) or (FAILURE if any(found) else 0)
