"""mgendata: generate the data files that a learning method is trained and tested with (manual 7.4, C)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli.options import Command, Given, Option, run
from redelve.cli.progress_lines import QUIET, Progress, reporter
from redelve.data.delve.roots import active

if TYPE_CHECKING:
    from redelve.data.delve.reading import MethodTask

COMMAND = Command(
    "mgendata",
    "Write train.n, test.n, targets.n and normalize.n for each instance of a task, or of all below a path.",
    "[ -c file ] [ -n file ] [ -q ] [ path ]",
    (
        Option("c", "encodings that replace the default ones, an attribute a line", "file", long="codings"),
        Option("n", "instances that replace the standard ones, as lists of cases", "file", long="instances"),
        QUIET,
    ),
)
INSTANCE_FILES = ("train", "test", "targets", "normalize")


def mgendata(given: Given) -> str:
    """Generate the files; all files of a task appear together or not at all."""
    from redelve.cli.work import method_tasks
    from redelve.data.delve.reading import Library

    library = Library(active())
    progress = reporter(is_quiet=given.has("q"))
    codings, instances = given.value("c"), given.value("n")
    for directory, shown, work in method_tasks(library, given.path()):
        if shown != ".":
            progress(shown)
        generate(work, directory, codings=codings, instances=instances, progress=progress)
    return ""


def generate(
    work: MethodTask, directory: Path, *, codings: str | None, instances: str | None, progress: Progress
) -> None:
    """Write one task's files into its directory."""
    from redelve.data.delve.case_lists import read_instances, write_instances
    from redelve.data.delve.reading import INSTANCES_USED
    from redelve.data.delve.task_files import TaskData, task_files
    from redelve.data.files import AtomicFiles, read_text

    source = work.source
    chosen = source.default_codings() if codings is None else source.codings(read_text(codings), codings)
    lists = None if instances is None else read_instances(read_text(instances, limit=1 << 30), instances)
    task_data = TaskData(source.dataset, source.task, source.data, chosen, source.instances(lists))
    with AtomicFiles() as files:
        for name, text in task_files(task_data, progress):
            files.write(directory / name, text)
        if lists is not None:
            files.write(directory / INSTANCES_USED, write_instances(lists))
    if lists is None:
        (directory / INSTANCES_USED).unlink(missing_ok=True)
    _remove_surplus(directory, len(task_data.instances))


def _remove_surplus(directory: Path, count: int) -> None:
    """Remove files of instances that are no more, which an earlier run with more instances has left."""
    from redelve.data.compressed_names import plain_name

    for path in directory.iterdir():
        root, _, number = plain_name(path.name).partition(".")
        if root in INSTANCE_FILES and number.isascii() and number.isdigit() and int(number) >= count:
            path.unlink()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, mgendata, argv)
