"""Results as DELVE keeps them: a directory for each method's work on a task, with files of one kind each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from redelve.answers.answer import Answer
from redelve.answers.losses import Loss, MatrixLoss, known_loss
from redelve.answers.predictions import Guesses, Target
from redelve.data.catalogue import provenance
from redelve.data.compressed_names import plain_name
from redelve.data.delve.case_lists import read_instances
from redelve.data.delve.cases_used import (
    CASES_USED,
    CaseEvidence,
    UsedCases,
    difference,
    evidence_from,
    evidence_in,
    write_cases_used,
)
from redelve.data.delve.figure_files import (
    LARGEST_FILE,
    TEST_SET_STATS,
    read_losses,
    write_losses,
    write_test_set_stats,
)
from redelve.data.delve.prediction_files import AnswerFiles, write_guesses
from redelve.data.delve.reading import CODING_USED, INSTANCES_USED, LARGEST_LIST, Library
from redelve.data.delve.roots import DataAddress, TaskName
from redelve.data.files import AtomicFiles, find_file, read_text, write_atomic
from redelve.errors import FormatError, LocationError, PredictionError, SpecError
from redelve.model.dataset import Numbers, digest
from redelve.run.more_losses import all_truths
from redelve.run.results import IMPORTED, Job, MethodFacts, Record, Results, TaskFacts

FactsOf = Callable[[str, Path], TaskFacts]
"""What a task is, from its address and the task directory, which may list instances of its own."""

SAFE_NAME = re.compile(r"[^/\\:\0]+")
LOSS_FILE = re.compile(r"loss(?:-run([1-9][0-9]*))?\.(.+)\.(0|[1-9][0-9]*)", re.ASCII)


# Export


@dataclass(frozen=True)
class ExportReport:
    """The task directories written, and what DELVE's files have no room for."""

    directories: tuple[Path, ...]
    left_out: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"not exported: {each}" for each in self.left_out]
        return "\n".join([*lines, f"{len(self.directories)} task directories written"])


def export_results(results: Results, directory: Path) -> ExportReport:
    """Write results into the part `methods` of a delve directory."""
    if not directory.name.startswith("delve"):
        has_name = directory.name not in ("", "..")
        better = directory.with_name(f"delve-{directory.name}") if has_name else directory / "delve"
        raise SpecError(
            f'{directory}: DELVE\'s commands know a delve directory by a name that starts with "delve": '
            f"call it {better}"
        )
    (directory / "data").mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    left_out: list[str] = []
    for method in results.methods.values():
        for task in results.tasks.values():
            records = results.of(method.name, task.address)
            reason = _why_not(method.name, task)
            left_out += _not_told(records, reason)
            if records and reason is None:
                folder = directory.joinpath("methods", method.name, *task.address[1:].split("/"))
                _export_task(folder, task, records)
                write_atomic(folder.parents[2] / "Summary", method.summary.rstrip("\n") + "\n")
                written.append(folder)
    left_out += [
        f"the race on {address}: DELVE's analyses would not allow for its looks" for address in results.races
    ]
    return ExportReport(tuple(written), tuple(dict.fromkeys(left_out)))


def _why_not(method: str, task: TaskFacts) -> str | None:
    names = task.address[1:].split("/")
    is_delve = len(names) == 3 and TaskName.parse(names[2]) is not None
    if not is_delve or not all(
        SAFE_NAME.fullmatch(one) and one not in (".", "..") for one in (method, *names)
    ):
        return f"/{method}{task.address} is no address in DELVE's sense"
    if task.scheme == "time":
        return f"{task.address} goes forward in time, and DELVE's analyses would not be valid for it"
    if task.scheme.endswith("cross-validation"):
        return f"{task.address} is cross-validated, and DELVE's analyses would not be valid for it"
    return None


def _not_told(records: Sequence[Record], reason: str | None) -> Iterator[str]:
    if records and reason is not None:
        yield reason
        return
    for record in records:
        if not record.has_losses:
            yield f"{record.job}: it {record.status} ({record.message[:80]})"
        for code in record.losses:
            if not _is_in_delve(code):
                yield f"losses {code}: DELVE does not know them"


def _is_in_delve(code: str) -> bool:
    """Whether DELVE knows losses of this code; loss matrices, whose files are elsewhere, are known by M."""
    loss = known_loss(code)
    return code.startswith(MatrixLoss.letter) if loss is None else loss.in_delve


def _export_task(folder: Path, task: TaskFacts, records: Sequence[Record]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    evidence = evidence_of_facts(task)
    with AtomicFiles() as files:
        files.write(folder / CASES_USED, write_cases_used(evidence.used or {}))
        files.write(folder / CODING_USED, "# the method was given the values as they are\n")
        files.write(folder / TEST_SET_STATS, write_test_set_stats(evidence.stats or {}))
        for record in records:
            run = f"-run{record.job.run}" if record.job.run else ""
            for (root, code), text in _record_files(record):
                middle = f".{code}" if code else ""
                files.write(folder / f"{root}{run}{middle}.{record.job.instance}", text)


def _record_files(record: Record) -> Iterator[tuple[tuple[str, str], str]]:
    """What the files are called, instance and run left out, and what is in them."""
    for code, losses in record.losses.items():
        if _is_in_delve(code):
            yield ("loss", code), write_losses(losses.tolist(), _number)
    answer = record.answer
    if answer is None:
        return
    for code, guesses in _guesses(answer, record.losses):
        yield ("guess", code), write_guesses(guesses, _number)
    if answer.probabilities is not None:
        rows = answer.probabilities.logs.tolist()
        yield ("lprob", ""), "".join(f"{' '.join(map(_number, row))}\n" for row in rows)
    elif "L" in record.losses:
        yield ("lptarg", ""), write_losses((0.0 - record.losses["L"]).tolist(), _number)


def _guesses(answer: Answer, codes: Iterable[str]) -> Iterator[tuple[str, Guesses]]:
    """Guesses for all losses and for each one, those included that follow from distributions."""
    if answer.guesses is not None:
        yield "", answer.guesses
    yield from answer.guesses_for.items()
    if answer.guesses is None:
        for code in codes:
            loss = known_loss(code)
            derived = answer.for_loss(loss) if loss is not None and code not in answer.guesses_for else None
            if isinstance(derived, Guesses) and _is_in_delve(code):
                yield code, derived


def _number(value: float) -> str:
    """All digits that matter, so that reading gives the same number back."""
    return repr(value).replace("inf", "Inf")


def evidence_of_facts(task: TaskFacts) -> CaseEvidence:
    """What is known of a task's test cases; of inputs and training cases the facts hold no values."""
    used = {
        number: UsedCases(len(one.case_numbers), one.cases_digest)
        for number, one in enumerate(task.instances)
    }
    return evidence_from(used, all_truths(task))


# Import


@dataclass(frozen=True)
class TaskFolder:
    """A method's directory for a task."""

    path: Path
    method: str
    address: str

    @property
    def names(self) -> list[str]:
        """The files there are, compressed ones by their plain names."""
        return sorted({plain_name(path.name) for path in self.path.iterdir() if path.is_file()})

    def read(self, name: str) -> tuple[str, str]:
        """A file's path and text."""
        return str(self.path / name), read_text(self.path / name, limit=LARGEST_FILE)

    def find(self, name: str) -> tuple[str, str] | None:
        """A file's text and path, if it is there."""
        return self.read(name)[::-1] if name in self.names else None

    def instances(self) -> set[int]:
        """The numbers of the instances that have losses."""
        return {int(match[3]) for name in self.names if (match := LOSS_FILE.fullmatch(name))}


def check_folder(folder: TaskFolder, task: TaskFacts) -> Iterator[str]:
    """What must be said of a directory's results; an error where they are of other cases than the task's."""
    evidence = evidence_in(folder.find, len(task.targets))
    place = f"/{folder.method}{folder.address}"
    if found := difference(evidence, evidence_of_facts(task)):
        if (count := len(evidence.used or ())) > len(task.instances):
            raise SpecError(_more_instances(folder, task, count))
        raise SpecError(
            f"{folder.path}: the results are of other data than {folder.address} as it is known here "
            f"({found}{_said(task)}): put the data that they were made for into a delve directory of your "
            "own that DELVE_PATH names, where they take the place of redelve's, and import again"
        )
    if not evidence.is_there:
        yield (
            f"{place} has neither {CASES_USED} nor {TEST_SET_STATS}: whether its losses are of the cases "
            "known here cannot be checked"
        )
    if absent := sorted(set(range(len(task.instances))) - folder.instances()):
        yield f"{place} has no losses of instance {', '.join(map(str, absent))} of {len(task.instances)}"


def _more_instances(folder: TaskFolder, task: TaskFacts, count: int) -> str:
    return (
        f"{folder.path}: the results are of {count} instances, and {folder.address} as it is known here has "
        f"{len(task.instances)}{_said(task)}. If a race (--until-settled) drew them, take them over from its "
        "archive (redelve archive merge), which knows its looks. If they are of other data, put these into a "
        "delve directory of your own that DELVE_PATH names, and import again"
    )


def _said(task: TaskFacts) -> str:
    said = provenance(task.address.split("/")[1])
    return f"; that is {said}" if said in task.notes else ""


def task_folders(directory: Path) -> list[TaskFolder]:
    """The task directories with losses in a delve directory, its part `methods`, or a method's directory."""
    inside = directory / "methods" if (directory / "methods").is_dir() else directory
    is_many = inside.name == "methods"
    if not inside.is_dir():
        raise LocationError(f"{directory}: no such directory: give a delve directory or a method's directory")
    found = []
    for path in sorted(inside.glob("*/*/*/*" if is_many else "*/*/*")):
        names = path.relative_to(inside if is_many else inside.parent).parts
        folder = TaskFolder(path, names[0], "/" + "/".join(names[1:]))
        if path.is_dir() and TaskName.parse(path.name) and any(map(LOSS_FILE.fullmatch, folder.names)):
            found.append(folder)
    if not found:
        raise LocationError(f"{directory}: no loss files (loss.S.0 …) at method/dataset/prototask/task")
    return found


def facts_from(library: Library) -> FactsOf:
    """Tells of tasks what the library has of them, with the instances that a method's directory lists."""

    from redelve.run.experiment import task_facts  # with it come all methods, which an archive can do without

    def facts_of(address: str, folder: Path) -> TaskFacts:
        path = find_file(folder / INSTANCES_USED)
        lists = None if path is None else read_instances(read_text(path, LARGEST_LIST), str(path))
        return task_facts(library.task(DataAddress.parse(address)).assignment(lists))

    return facts_of


def imported_method(directory: Path, name: str) -> MethodFacts:
    """What is known of a method whose results come from files."""
    inside = directory / "methods" if (directory / "methods").is_dir() else directory
    places = [inside / name / "Summary", inside / "Summary"]
    summary = next((read_text(path) for path in places if path.is_file()), "")
    return imported_facts(name, summary)


def imported_facts(name: str, summary: str = "") -> MethodFacts:
    """What is known of a method by its name, and by what is said of it."""
    identity = {"imported from DELVE files": name}
    return MethodFacts(name, digest(identity), identity, summary or f"{name}, imported from DELVE files")


def imported_record(
    task: TaskFacts,
    method: MethodFacts,
    job: Job,
    losses: Mapping[str, Numbers],
    answer: Answer | None = None,
) -> Record:
    """The record of work of which there are files."""
    instance = task.instances[job.instance].digest
    identity = ["imported", method.name, method.digest, task.address, task.digest, instance, job.run]
    environment = {IMPORTED: "DELVE files"}
    return Record(job, digest(identity), 0, "done", losses, answer, environment=environment)


def imported_records(folder: TaskFolder, task: TaskFacts, method: MethodFacts) -> Iterator[Record]:
    """A record for each instance and run that has loss files."""
    codes: dict[tuple[int, int], list[str]] = {}
    for name in folder.names:
        if match := LOSS_FILE.fullmatch(name):
            codes.setdefault((int(match[3]), int(match[1] or 0)), []).append(match[2])
    for (instance, run), each in sorted(codes.items()):
        if instance >= len(task.instances):
            raise FormatError(
                folder.path, None, f"there is no instance {instance}: the task has {len(task.instances)}"
            )
        one, middle = task.instances[instance], f"-run{run}" if run else ""
        count = len(one.case_numbers)
        files = AnswerFiles(folder.names, folder.read, task.targets, count, instance, middle)
        try:
            answer = files.answer()
        except PredictionError as error:
            raise FormatError(folder.path, None, f"instance {instance}: {error}") from None
        losses = {
            code: _losses(
                folder.path / f"loss{middle}.{code}.{instance}", count, known_loss(code), task.targets
            )
            for code in each
        }
        yield imported_record(task, method, Job(folder.address, folder.method, instance, run), losses, answer)


def _losses(path: Path, count: int, loss: Loss | None, targets: Sequence[Target]) -> Numbers:
    """The losses of every case; those of losses that are not known may be anything."""
    losses = read_losses(path, loss, targets)
    if len(losses) != count:
        raise FormatError(path, None, f"expected {count} lines, one a test case, but got {len(losses)}")
    return losses
