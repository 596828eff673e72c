"""The data files of a task directory: train.n, test.n, targets.n, normalize.n and more (manual 7.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from redelve.answers.answer import baselines_by_target
from redelve.data.compressed_names import plain_name
from redelve.data.delve.case_lists import read_instances, write_instances
from redelve.data.delve.cases_used import CASES_USED, used_cases, write_cases_used
from redelve.data.delve.coding_files import write_codings
from redelve.data.delve.figure_files import LETTERS, TEST_SET_STATS, write_normalization, write_test_set_stats
from redelve.data.delve.method_tasks import MethodTask, method_tasks
from redelve.data.delve.number_columns import format_columns
from redelve.data.delve.reading import INSTANCES_USED, LARGEST_LIST, Library, TaskSource
from redelve.data.delve.roots import active
from redelve.data.files import AtomicFiles, read_text
from redelve.errors import ExtensionError, SpecError
from redelve.model import Instance, PrototaskData
from redelve.model.coding import Coding, Normalization
from redelve.model.dataset import Column, Rows, SelectedColumn
from redelve.model.encodings import Encoder, bind, coded_columns, kept_for, measure
from redelve.model.prototask import missing_rows

Progress = Callable[[str], None]
NUMERICAL = ("real", "integer")
INSTANCE_FILES = ("train", "test", "targets", "normalize")


def silent(_: str) -> None:
    """Show nothing of the progress."""


@dataclass(frozen=True)
class TaskData:
    """A task with its cases, its instances and the codings chosen for it: all that goes into its files."""

    source: TaskSource
    instances: tuple[Instance, ...]
    chosen: Mapping[int, Coding] | None = None

    @cached_property
    def codings(self) -> Mapping[int, Coding]:
        """The codings by attribute number: those chosen, or else those that the prior suggests."""
        return self.source.default_codings() if self.chosen is None else self.chosen

    @property
    def data(self) -> PrototaskData:
        """The cases."""
        return self.source.data

    def columns(self, rows: Rows) -> list[Column]:
        """The given cases' values, inputs then targets."""
        return [SelectedColumn(column, rows) for column in self.data.cases.columns]


def generate(
    path: str = ".", *, codings: str | None = None, instances: str | None = None, progress: Progress = silent
) -> None:
    """Write the files of every task directory that `path` stands for; those of a task appear together.

    `codings` and `instances` are files that replace the default encodings and the standard instances.
    """
    for directory, shown, work in method_tasks(Library(active()), path):
        if shown != ".":
            progress(shown)
        _write_task(work, directory, codings, instances, progress)


def _refuse_old_results(work: MethodTask, directory: Path) -> None:
    """Raise an error where results on other cases lie: beside the new files they would pass for new ones."""
    from redelve.data.delve.prediction_files import PREDICTIONS

    names = sorted(name for name in work.names if name.partition(".")[0] in (*PREDICTIONS, "loss"))
    if names and work.other_data is not None:
        raise SpecError(
            f"{directory} has results on other data ({work.other_data}), {names[0]} among them: remove or "
            "move its predictions and losses (cguess.n, guess.n, loss.S.n …), then run mgendata and the "
            "method again"
        )


def _write_task(
    work: MethodTask, directory: Path, codings: str | None, instances: str | None, progress: Progress
) -> None:
    source = work.source
    for text in source.said:
        progress(f"  note: {text}")
    chosen = None if codings is None else source.codings(read_text(codings), codings)
    lists = None if instances is None else read_instances(read_text(instances, LARGEST_LIST), instances)
    task_data = TaskData(source, source.instances(lists), chosen)
    with AtomicFiles() as files:
        for name, text in task_files(task_data, progress):
            files.write(directory / name, text)
        if lists is not None:
            files.write(directory / INSTANCES_USED, write_instances(lists))
        _refuse_old_results(work, directory)  # last: what is wrong with the data is told first
    if lists is None:
        (directory / INSTANCES_USED).unlink(missing_ok=True)
    _remove_surplus(directory, len(task_data.instances))


def _remove_surplus(directory: Path, count: int) -> None:
    """Remove files of instances that are no more, which an earlier run with more instances has left."""
    for path in directory.iterdir():
        root, _, number = plain_name(path.name).partition(".")
        if root in INSTANCE_FILES and number.isascii() and number.isdigit() and int(number) >= count:
            path.unlink()


def task_files(task_data: TaskData, progress: Progress) -> Iterator[tuple[str, str]]:
    """Names and contents of all files, made one after the other."""
    progress("  segmenting cases...")
    _check_targets_known(task_data)
    progress("  splitting test inputs and targets...")
    for instance in task_data.instances:
        yield from instance_files(task_data, instance, progress)
    yield "Coding-used", write_codings(task_data.codings, task_data.source.dataset)
    truths = task_data.source.test_truths(task_data.instances)
    yield TEST_SET_STATS, write_test_set_stats(baselines_by_target(truths, LETTERS))
    yield CASES_USED, write_cases_used(used_cases(task_data.source, task_data.instances))


def instance_files(
    task_data: TaskData, instance: Instance, progress: Progress = silent
) -> Iterator[tuple[str, str]]:
    """The four files of one instance; test cases are coded with this instance's own training statistics."""
    number = instance.number
    training = task_data.columns(instance.training)
    encoders, statistics = _fitted(task_data, training)
    yield f"normalize.{number}", write_normalization(statistics)
    input_count = len(task_data.data.inputs)
    progress(f"  encoding instance {number} training data...")
    yield f"train.{number}", _encoded(task_data, encoders, training, instance.training)
    rows = instance.testing
    testing = task_data.columns(rows)
    progress(f"  encoding instance {number} test inputs...")
    yield f"test.{number}", _encoded(task_data, encoders[:input_count], testing[:input_count], rows)
    progress(f"  encoding instance {number} test targets...")
    yield f"targets.{number}", _encoded(task_data, encoders[input_count:], testing[input_count:], rows)


def _fitted(
    task_data: TaskData, training: Sequence[Column]
) -> tuple[list[Encoder], dict[int, Normalization]]:
    """An encoder for each attribute, and the training statistics of the numerical ones."""
    prior, codings = task_data.source.task.prior, task_data.codings
    encoders, statistics = [], {}
    for attribute, column in zip(task_data.data.attributes, training, strict=True):
        number = attribute.number
        if prior.attribute(number).type in NUMERICAL:
            try:
                statistics[number] = kept_for(codings[number], measure(column))
            except SpecError as error:
                named = SpecError(f"attribute {attribute.name}: {error}")
                raise _with_way_out(task_data, named) from None
        encoders.append(bind(attribute, prior.attribute(number), codings[number], statistics.get(number)))
    return encoders, statistics


def encoded_text(encoders: Sequence[Encoder], columns: Sequence[Column], count: int) -> str:
    """What a file of so many encoded cases holds, such as train.n or test.n."""
    coded = [one for pair in zip(encoders, columns, strict=True) for one in coded_columns(*pair, count)]
    return "".join(
        format_columns([one.numbers if one.texts is None else one.texts.tolist() for one in coded])
    )


def _encoded(task_data: TaskData, encoders: Sequence[Encoder], columns: Sequence[Column], rows: Rows) -> str:
    try:
        return encoded_text(encoders, columns, len(rows))
    except ExtensionError:  # the data are not at fault
        raise
    except SpecError as error:
        raise _with_way_out(task_data, error) from None


def _with_way_out(task_data: TaskData, error: SpecError) -> SpecError:
    return SpecError(f"{error} (dcheck /{task_data.source.dataset.name} tells where)")


def _check_targets_known(task_data: TaskData) -> None:
    targets = task_data.data.cases.columns[len(task_data.data.inputs) :]
    lacking = missing_rows(targets, task_data.data.cases.count)
    used = np.unique(np.concatenate([np.concatenate([i.training, i.testing]) for i in task_data.instances]))
    bad = used[lacking[used]]
    if len(bad):
        number = int(task_data.data.case_numbers[bad[0]])
        raise SpecError(
            f"the target of case {number} is missing: nothing can be learnt or judged there; "
            "use `Cases: no missing` or a list of cases in the prototask"
        )
