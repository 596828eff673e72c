"""redelve add: one more method on the tasks of an archive, perhaps somebody else's."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from redelve.cli import options as of
from redelve.cli.options import Command, UsageError

if TYPE_CHECKING:
    from redelve.model import Assignment


class AddOptions(of.VerbOptions):
    """What `redelve add` is told."""

    name = of.text("n", "what to call the method", "name")
    data = of.texts("d", "a table that the archive's tasks were made of; may be given again", "file")
    runs = of.whole("r", "runs with different seeds; as many as the archive has if left out")
    workers = of.whole("w", "how many processes")
    unconfined = of.flag("U", "let the method see files, network and other processes: it is your own")
    quiet = of.quiet()


ADD = Command(
    "redelve add",
    "Run one more method on all tasks of an archive and compare it with those that are there. The method\n"
    "is a built-in one by name, or yours: method.py:make, where make is an estimator, a function that\n"
    "learns and predicts, or a function without parameters that makes one of these. Its module is\n"
    "imported here; it works without network, files and other processes where the machine allows that.\n"
    "An archive holds no inputs: tables are looked for beside it, by their values and not by their names;\n"
    "--data names others.",
    "folder method [ -d file ] [ options ]",
    AddOptions.declared(),
    least=2,
    most=2,
)


def _add(given: AddOptions) -> str:
    """Run the method and write the report again, if there is one."""
    from pathlib import Path

    from redelve.assessment import assess
    from redelve.cli.assess import told_with_code
    from redelve.cli.own_methods import own_method, own_name
    from redelve.run.cells import Limits
    from redelve.store import Archive
    from redelve.store.snapshot import read_snapshot
    from redelve.store.wanted_data import assignments_of

    folder, text = Path(given.arguments[0]), given.arguments[1]
    archive = Archive.open(folder)
    if not archive.is_writable:
        raise UsageError(f"{folder} is a zip file, which can only be read: unzip it first")
    name, method = given.name or own_name(text), own_method(text)
    tasks = _suitable(name, method, assignments_of(archive.root, [Path(one) for one in given.data]))
    held = read_snapshot(archive.root).entries
    runs = given.runs or 1 + max((entry.head.job.run for entry in held), default=0)
    assessment = assess(
        {name: method},
        tasks,
        runs=runs,
        workers=given.workers or 1,
        limits=Limits(isolated=True, confined=False if given.unconfined else "if possible"),
        archive=archive.root,
        progress=not given.quiet,
    ).with_archive()
    if archive.root == folder:
        return told_with_code(assessment, f"{assessment}\n")
    report = assessment.report(folder / "report.html", command=f"redelve add {folder} {text}")
    return told_with_code(assessment, f"{assessment}\n\nReport: {report}\n")


def _suitable(name: str, method: Any, tasks: Mapping[str, Assignment]) -> list[Assignment]:
    """The tasks that the method can work on; those that it is left out of are told, if it is not of all."""
    from redelve.methods.contract import named_methods
    from redelve.run.experiment import assignment_targets

    (able,) = named_methods({name: method}).values()
    reasons = {address: able.why_not(assignment_targets(one)) for address, one in tasks.items()}
    suitable = [one for address, one in tasks.items() if reasons[address] is None]
    if not suitable:
        return list(tasks.values())  # and be told why
    for address, reason in reasons.items():
        if reason is not None:
            sys.stderr.write(f"redelve add: {address} is left out: {reason}\n")
    return suitable


def add(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(ADD, AddOptions, _add, argv)
