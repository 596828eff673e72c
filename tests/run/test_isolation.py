"""A method in a cell: whatever it does costs one record, and the record tells what it did."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from numpy.random import mtrand
from scipy import special

import redelve
from redelve.data.tasks import assignments_for
from redelve.errors import SpecError
from redelve.methods.contract import Method, as_method
from redelve.methods.shown import TrainingSet
from redelve.run.cells import Limits, asking, job_and_outcome, let_go
from redelve.run.cells.asking import CellWatch
from redelve.run.cells.job_and_outcome import BUILT_IN, LONGEST_MESSAGE, harmless, sealed
from redelve.run.experiment import pack, perform, plan, run
from redelve.run.results import Record
from redelve.run.workers import child
from redelve.run.workers.child import Child
from redelve.run.workers.handing_out import PATIENCE_ALONE
from redelve.run.workers.worker_contract import PATIENCE, WorkerLost
from tests.run import mischief, toys
from tests.run.mischief import MEMORY
from tests.run.processes_left import children, sleepers
from tests.run.toys import Toy, content, toy_experiment

ISOLATED = Limits(isolated=True)


@pytest.fixture(scope="module", autouse=True)
def _no_process_left() -> Iterator[None]:
    yield
    let_go()
    assert children() == []


def records_of(
    mischief: Callable[[TrainingSet], None] | None, limits: Limits = ISOLATED, instances: int = 1
) -> list[Record]:
    experiment = toy_experiment({"toy": Toy(mischief)}, instances, limits=limits)
    return [perform(pack(experiment, job)) for job in plan(experiment)]  # the warden stays for the next test


def record_of(mischief: Callable[[TrainingSet], None] | None, limits: Limits = ISOLATED) -> Record:
    (record,) = records_of(mischief, limits)
    return record


def test_an_answer_from_a_cell_is_the_same_to_the_bit() -> None:
    for here, there in zip(records_of(None, Limits(), 3), records_of(None, instances=3), strict=True):
        assert content(here) == content(there)
        assert there.status == "done"
        assert there.has_losses


def test_a_segmentation_fault_tells_the_signal_and_the_place() -> None:
    record = record_of(toys.segfault)
    assert record.status == "crashed"
    assert record.message.startswith("killed by signal 11 (SIGSEGV)\nIt printed: Fatal Python error")
    assert "in segfault" in record.message


def test_an_exit_tells_its_code() -> None:
    assert content(record_of(toys.exits))[3:5] == ("crashed", "ended with exit code 3 before it answered")


@pytest.mark.parametrize("limits", [ISOLATED, Limits()], ids=["isolated", "in-process"])
def test_a_method_that_ends_the_program_ends_only_itself(limits: Limits) -> None:
    assert content(record_of(toys.calls_exit, limits))[3:5] == ("failed", "SystemExit: enough")


def test_what_a_failed_method_printed_is_told() -> None:
    record = record_of(toys.raises)
    assert (record.status, record.message) == (
        "failed",
        "ValueError: no such luck\nIt printed: about to fail",
    )


def test_only_the_end_of_what_it_printed_is_kept() -> None:
    record = record_of(mischief.prints_a_lot)
    assert record.message.startswith("ValueError: too chatty\nIt printed: ")
    assert record.message.endswith("line 19999")
    assert len(record.message) <= LONGEST_MESSAGE


def test_a_method_that_hangs_is_ended_in_time() -> None:
    before = time.monotonic()
    record = record_of(toys.hangs, Limits(seconds=0.5))
    assert (record.status, record.message) == ("out of time", "took longer than the limit of 0.5 s")
    assert time.monotonic() - before < 20
    assert record.costs.cpu_seconds is not None


def test_a_method_that_eats_memory_is_ended() -> None:
    record = record_of(toys.eats_memory, Limits(memory=MEMORY))
    assert (record.status, record.message) == ("out of memory", "used more memory than the limit of 500 MB")
    assert record.costs.peak_memory is not None
    assert MEMORY < record.costs.peak_memory < 3 * MEMORY


@pytest.mark.parametrize("limits", [ISOLATED, Limits()], ids=["isolated", "in-process"])
def test_a_memory_error_is_out_of_memory(limits: Limits) -> None:
    record = record_of(toys.asks_for_too_much, limits)
    assert record.status == "out of memory"
    assert record.message.startswith("MemoryError: Unable to allocate")


def test_a_single_large_allocation_is_refused_before_it_is_made() -> None:
    record = record_of(mischief.asks_for_more_than_the_limit, Limits(memory=MEMORY))
    assert record.message.startswith("MemoryError")
    assert record.costs.peak_memory is not None
    assert record.costs.peak_memory < MEMORY


@pytest.mark.parametrize(
    ("mischief", "status"),
    [
        (toys.starts_a_program, "done"),
        (toys.starts_a_program_and_hangs, "out of time"),
        (toys.starts_a_program_in_a_session_of_its_own, "crashed"),
    ],
)
def test_what_a_method_started_ends_with_it(mischief: Callable[[TrainingSet], None], status: str) -> None:
    assert record_of(mischief, Limits(seconds=1.0)).status == status
    assert sleepers() == []


@dataclass(frozen=True)
class ToyWithRoots(Toy):
    roots: object = special.roots_legendre


def test_of_what_a_method_needs_libraries_alone_are_loaded_before_its_cell_begins() -> None:
    plain, rooted = sealed(Toy(toys.warns)), sealed(ToyWithRoots(toys.warns))
    assert "scipy.special._orthogonal" in rooted.modules
    assert not [name for name in (*plain.modules, *rooted.modules) if name.startswith("tests")]
    assert (plain.ancestor, rooted.ancestor) == ((), ("large",))


class Lazy:
    """An estimator of nobody's; it is copied by scikit-learn's own means."""

    def fit(self, inputs: Any, targets: Any) -> Lazy:
        return self

    def predict(self, inputs: Any) -> list[float]:
        return [0.0] * len(inputs)


def test_what_adapters_import_late_is_loaded_too() -> None:
    assert {"sklearn.base", "sklearn.utils"} <= set(sealed(as_method(Lazy())).modules)


def test_modules_whose_import_has_effects_are_never_loaded_for_others() -> None:
    names = [
        "sklearn.experimental.enable_iterative_imputer",
        "numpy.testing",
        "sklearn.conftest",
        "os",
        "toys",
    ]
    assert harmless([*names, "numpy.linalg"], BUILT_IN) == ["numpy.linalg"]


def test_every_job_begins_in_the_same_state() -> None:
    messages = {record.message for record in records_of(toys.leaves_traces, instances=3)}
    assert messages == {"UserWarning: call 1"}


@pytest.mark.parametrize("limits", [ISOLATED, Limits()], ids=["isolated", "in-process"])
def test_global_random_numbers_follow_the_seed(limits: Limits) -> None:
    first, again = (records_of(toys.draws_global_numbers, limits, 2) for _ in range(2))
    assert [record.message for record in first] == [record.message for record in again]
    assert first[0].message != first[1].message


def test_the_collector_is_on_in_cells_though_libraries_are_loaded_without_it() -> None:
    assert record_of(mischief.tells_of_the_collector).message == "UserWarning: the collector is on: True"


def three_global_numbers() -> list[float]:
    """A normal number first: numpy makes two at once and keeps the second."""
    return [np.random.standard_normal(), random.random(), np.random.standard_normal()]  # noqa: NPY002


@pytest.mark.parametrize("limits", [ISOLATED, Limits(isolated=False)], ids=["isolated", "in-process"])
@pytest.mark.parametrize("drawn", [0, 1, 2])
def test_global_random_numbers_of_the_caller_are_left_alone(limits: Limits, drawn: int) -> None:
    def begin() -> None:
        np.random.seed(5)  # noqa: NPY002
        random.seed(5)
        np.random.standard_normal(drawn)  # noqa: NPY002

    begin()
    expected = three_global_numbers()
    begin()
    record_of(toys.draws_global_numbers, limits)
    assert three_global_numbers() == expected


def test_a_global_generator_of_the_callers_own_kind_stays() -> None:
    mine, before = np.random.PCG64(1), mtrand.get_bit_generator()
    mtrand.set_bit_generator(mine)
    try:
        record = record_of(toys.draws_global_numbers, Limits(isolated=False))
        assert mtrand.get_bit_generator() is mine
    finally:
        mtrand.set_bit_generator(before)
    assert record.message == record_of(toys.draws_global_numbers, Limits(isolated=False)).message


def test_the_truth_is_not_in_the_cell() -> None:
    assert record_of(mischief.looks_for_the_truth).status == "done"
    open_to_all = record_of(mischief.looks_for_the_truth, Limits())
    assert open_to_all.status == "failed"  # which is why there are cells


def test_nonsense_in_the_pipe_is_one_failed_record() -> None:
    record = record_of(mischief.writes_nonsense, Limits(seconds=5))
    assert record.status in ("failed", "crashed", "out of time")
    assert record_of(None).status == "done"


def test_a_method_that_kills_its_warden_is_given_up() -> None:
    experiment = toy_experiment({"toy": Toy(mischief.kills_its_warden)}, 1, limits=ISOLATED)
    (record,) = run(experiment, plan(experiment))
    assert record.status == "crashed"
    assert record.message == (
        "its worker process was lost: the process that watched over it was lost: killed by signal 9 (SIGKILL)"
    )


def test_a_warden_killed_from_outside_is_replaced() -> None:
    experiment = toy_experiment({"toy": Toy()}, 3, limits=ISOLATED)
    records = []
    for record in run(experiment, plan(experiment)):
        records.append(record)
        for warden in asking._mine.wardens.values():
            with contextlib.suppress(ProcessLookupError):  # that of tests before, killed already
                os.kill(warden.pid, 9)
    assert [record.status for record in records] == ["done"] * 3


def test_cells_are_forked_from_what_was_begun_before_anybody_asked() -> None:
    let_go()
    asking.expect(["numpy", "os", "no_such_module"])
    (begun,) = vars(asking._mine)["wardens"].values()
    assert record_of(None).status == "done"
    assert [one.pid for one in vars(asking._mine)["wardens"].values()] == [begun.pid]


def test_cells_see_the_folders_that_are_looked_in_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking.expect(["numpy"])
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "beside_a_late_method.py").write_text("here = True\n")
    assert content(record_of(mischief.imports_a_late_module))[3:5] == ("done", "")


def test_threads_have_cells_of_their_own() -> None:
    found: list[Record] = []

    def work() -> None:
        found.extend(records_of(toys.takes_a_moment))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [record.status for record in found] == ["done"] * 3


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("isolated", [True, False])
def test_libraries_have_the_threads_they_are_allowed(threads: int, isolated: bool) -> None:
    record = record_of(mischief.tells_its_threads, Limits(threads=threads, isolated=isolated))
    assert record.message == f"ValueError: threads [{threads}]"


def test_peak_memory_is_of_this_job_alone() -> None:
    large = np.ones(40_000_000)
    del large
    here = psutil.Process().memory_info().rss
    for record, before in ((record_of(None), 100_000_000), (record_of(None, Limits()), here)):
        assert record.costs.peak_memory is not None
        assert record.costs.peak_memory < before + 230_000_000


def test_messages_are_bearable_and_steady() -> None:
    assert record_of(mischief.raises_an_unspeakable_error).message == "Unspeakable"
    assert record_of(mischief.tells_an_address).message == "ValueError: <object object at 0x…> is wrong"


def test_warnings_are_told_once() -> None:
    assert [record.message for record in records_of(toys.warns, instances=2)] == [
        "UserWarning: this looks odd"
    ] * 2


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"seconds": 0}, "the limit of seconds is 0"),
        ({"memory": -5}, "the limit of memory is -5"),
        ({"threads": 0}, "threads must be 1 or more, not 0"),
    ],
)
def test_limits_must_be_positive(limits: dict[str, int], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Limits(**limits)  # type: ignore[arg-type]


def test_a_method_that_cannot_be_sent_is_told_at_once() -> None:
    lock = threading.Lock()

    def locks(training: TrainingSet) -> None:
        lock.acquire()

    with pytest.raises(SpecError, match="Toy can't be sent to another process: TypeError: cannot pickle"):
        record_of(locks)


def ends(methods: dict[str, Method]) -> list[tuple[str, str]]:
    experiment = toy_experiment(methods, 1, limits=ISOLATED)
    return [(record.job.method, record.status) for record in run(experiment, plan(experiment))]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_cell_killed_from_outside_is_done_again(tmp_path: Path, number: int) -> None:
    mortal = mischief.Mortal(None, str(tmp_path / "notes"), 4, number)
    assert ends({"mortal": mortal, "quick": Toy()}) == [("quick", "done"), ("mortal", "done")]
    assert len((tmp_path / "notes").read_text().split()) == 5


def test_a_cell_killed_again_and_again_is_given_up_when_all_others_are_done(tmp_path: Path) -> None:
    mortal = mischief.Mortal(None, str(tmp_path / "notes"), 99)
    assert ends({"mortal": mortal, "quick": Toy()}) == [("quick", "done"), ("mortal", "crashed")]
    assert len((tmp_path / "notes").read_text().split()) == PATIENCE + PATIENCE_ALONE


def cells() -> list[int]:
    """All cells of this process's wardens, waiting ones included."""
    wardens = children("cells.warden")
    return [cell.pid for warden in wardens for cell in warden.children()]


def test_killed_cells_leave_the_same_records() -> None:
    experiment = toy_experiment({"toy": Toy(toys.takes_a_moment)}, 12, limits=ISOLATED)
    over, killed = threading.Event(), []

    def kill_now_and_then() -> None:
        while not over.wait(0.3):
            with contextlib.suppress(ProcessLookupError, psutil.Error):
                for pid in cells()[:1]:  # none while the first process of cells begins
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    try:
        found = [content(record) for record in run(experiment, plan(experiment))]
    finally:
        over.set()
        killer.join()
    assert killed
    quiet = toy_experiment({"toy": Toy(toys.takes_a_moment)}, 12, limits=Limits(isolated=False))
    assert sorted(found) == sorted(content(record) for record in run(quiet, plan(quiet)))


def test_costs_are_measured_outside_the_cell() -> None:
    costs = record_of(mischief.forges_its_costs).costs
    assert costs.training_seconds is not None
    assert costs.cpu_seconds is not None
    assert costs.peak_memory is not None
    assert costs.training_seconds + (costs.prediction_seconds or 0) >= 0.5
    assert costs.cpu_seconds > 0
    assert costs.peak_memory > 10_000_000


@pytest.fixture
def _as_users_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_and_outcome, "ISOLATED_UNLESS_TOLD", True)


@pytest.mark.usefixtures("_as_users_have_it")
def test_jobs_have_cells_unless_told() -> None:
    assert Limits().needs_a_cell
    assert not Limits(isolated=False).needs_a_cell
    (record,) = records_of(mischief.looks_for_the_truth, Limits())
    assert (record.status, record.environment["isolation"]) == ("done", "a process of its own")


@pytest.mark.usefixtures("_as_users_have_it")
def test_functions_and_classes_of_a_script_have_cells_too() -> None:
    """What no module holds is sent by its code, as from a notebook."""
    shift = 2.0

    def middle(inputs: Any, outputs: Any, asked: Any) -> Any:
        return np.full(len(asked), outputs.mean() + shift)

    assessment = redelve.assess(
        {"middle": middle, "lambda": lambda x, y, z: [0.0] * len(z)}, "demo/age/std.512"
    )
    told = {(one.status, one.environment["isolation"]) for one in assessment.results.records}
    assert told == {("done", "a process of its own")}
    assert "V023" not in {note.code for note in assessment.findings.notes}


@pytest.mark.usefixtures("_as_users_have_it")
def test_what_cannot_be_sent_works_here_and_is_recorded() -> None:
    lock = threading.Lock()

    def locked(inputs: Any, outputs: Any, asked: Any) -> Any:
        with lock:
            return np.zeros(len(asked))

    with pytest.warns(UserWarning, match='method "locked" has no process of its own: .*cannot pickle'):
        assessment = redelve.assess({"locked": locked}, "demo/age/std.512")
    (told,) = {one.environment["isolation"] for one in assessment.results.records}
    assert told == "none: its code shared a process with the true targets"
    (note,) = [note for note in assessment.findings.notes if note.code == "V023"]
    assert note.methods == ("locked",)


def test_who_must_be_confined_is_told_where_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "mechanism", lambda: None)
    with pytest.raises(SpecError, match="methods can't be confined here"):
        record_of(None, Limits(confined=True))
    told = record_of(None, Limits(confined="if possible")).environment["isolation"]
    assert told == "a process of its own, not confined: this machine does not allow it"
    with pytest.raises(SpecError, match="confined is 'perhaps': choose True"):
        Limits(confined="perhaps")  # type: ignore[arg-type]


def test_a_job_that_got_no_cell_is_done_again() -> None:
    """Two cells in a row killed while they waited, or no room for a process: the method did nothing wrong."""
    watch = CellWatch(-1, None, -1, -1, ending={"code": 0, "problem": "it was killed before it began"})
    with pytest.raises(WorkerLost, match="it was killed before it began"):
        watch.verdict(None)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was going on when processes for cells were begun."""
    seen: list[str] = []

    class NotedChild(Child):
        def __init__(self, *given: Any) -> None:
            seen.append("begun")
            super().__init__(*given)

    def read(*given: Any, **more: Any) -> Any:
        seen.append("read")
        return assignments_for(*given, **more)

    monkeypatch.setattr(asking, "Child", NotedChild)
    monkeypatch.setattr("redelve.assessment.assignments_for", read)
    let_go()
    yield seen
    let_go()


def test_libraries_of_cells_are_loaded_while_data_are_read(begun: list[str]) -> None:
    assessment = redelve.assess(["constant"], "demo/age", sizes=[32], limits=ISOLATED)
    assert begun == ["begun", "read"]
    assert {record.status for record in assessment.results.records} == {"done"}
    assert [one.is_resting for one in asking._mine.wardens.values()] == [True]


def test_nothing_is_loaded_ahead_where_this_process_has_no_cells(begun: list[str]) -> None:
    redelve.assess(["constant"], "demo/age", sizes=[32], limits=Limits(isolated=False))
    assert begun == ["read"]


def test_what_was_loaded_ahead_ends_with_an_error(begun: list[str]) -> None:
    with pytest.raises(redelve.RedelveError):
        redelve.assess(["constant"], "demo/no-such-task", limits=ISOLATED)
    assert begun == ["begun", "read"]
    assert not vars(asking._mine).get("wardens")


def ran(limits: Limits = ISOLATED) -> list[Any]:
    experiment = toy_experiment({"toy": Toy()}, 1, limits=limits)
    return [content(record) for record in run(experiment, plan(experiment))]


def the_warden() -> Child:
    wardens: dict[object, Child] = asking._mine.wardens
    (warden,) = wardens.values()
    return warden


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_next_run_has_the_warden_of_the_last_which_had_no_cell_meanwhile(begun: list[str]) -> None:
    first = ran()
    until(lambda: psutil.Process(the_warden().pid).children(recursive=True) == [])
    assert first == ran() == ran(Limits(isolated=False))
    assert begun == ["begun"]


def moves(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.chdir(folder)


def sets_a_variable(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("SOMETHING", "else")


def looks_elsewhere(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.syspath_prepend(str(folder))


def waits_for_long(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(child, "LONGEST_REST", child.TOO_LATE)


def kills_it(folder: Path, patch: pytest.MonkeyPatch) -> None:
    os.kill(pid := the_warden().pid, signal.SIGKILL)
    until(lambda: psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_no_warden_serves_after_a_change(
    begun: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ran()
    for change in (kills_it, moves, sets_a_variable, looks_elsewhere, waits_for_long):
        change(tmp_path, monkeypatch)
        begun.clear()
        assert ran() == first
        assert begun == ["begun"], change


def test_with_a_limit_of_memory_no_warden_has_loaded_more_than_it_must(begun: list[str]) -> None:
    assert ran() == ran(Limits(memory=MEMORY))
    assert begun == ["begun"] * 2


def test_a_warden_that_nobody_needs_ends_by_itself(begun: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "LONGEST_REST", 0.2)
    ran()
    warden = the_warden()
    until(lambda: psutil.Process(warden.pid).status() == psutil.STATUS_ZOMBIE)
    assert not warden.wakes()


def test_a_run_that_is_stopped_leaves_no_warden(begun: list[str]) -> None:
    experiment = toy_experiment({"toy": Toy()}, 2, limits=ISOLATED)
    under_way = run(experiment, plan(experiment))
    next(under_way)
    under_way.close()
    assert not vars(asking._mine).get("wardens")
