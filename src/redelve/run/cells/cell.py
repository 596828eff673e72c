"""What happens in a cell: one job, then the end."""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import socket
import sys
import traceback
from typing import Any, NoReturn

from redelve.run.cells.ancestor_memory import WrittenPages, be_unreadable
from redelve.run.cells.asking import STARTED
from redelve.run.cells.confining import confine
from redelve.run.cells.job_and_outcome import Outcome, dump_answer
from redelve.run.cells.rehearsal import rehearse
from redelve.run.cells.working import described, this_process, work, work_together
from redelve.run.workers.child import packed, received, unpacked, write_frame

DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)
OUR_FAULT = 70
ROOM = 1 << 30


def wait(door: socket.socket, pages: WrittenPages) -> NoReturn:
    """Be a cell: wait for the job, do it, write down what came of it, and end."""
    code = OUR_FAULT
    try:
        _belong_to_the_warden()
        if not pages.copy():
            rehearse()
        request = received(door)
        door.close()
        if request is None:
            os._exit(0)
        message, (lesson, answers, output) = request
        header = unpacked(message)[0]
        _settle(output, header["memory"])
        if (order := header.get("confined")) is not None:
            confine(order)
        report = _report(_outcomes(_content(lesson), answers))
        _flush()
        write_frame(answers, report)
        code = 0
    except BaseException:
        traceback.print_exc()
        _flush()
    finally:
        os._exit(code)


def try_out(content: memoryview, threads: int | None = None) -> None:
    """Do a job as a cell does it, and tell nobody."""
    with open(os.devnull, "wb", buffering=0) as nobody:  # noqa: PTH123
        _report(_outcomes(content, nobody.fileno(), threads))


def speak_up() -> None:
    """What a cell prints is not held back, and a crash is told; done once, by its ancestor."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    faulthandler.enable()


def _content(descriptor: int) -> memoryview:
    """The bytes of a file, which is closed."""
    with open(descriptor, "rb", buffering=0) as file:
        file.seek(0)
        return memoryview(file.read())


def _belong_to_the_warden() -> None:
    """Have a process group of its own, and end with the warden."""
    os.setpgid(0, 0)
    if sys.platform == "linux":
        warden = os.getppid()
        this_process().prctl(DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != warden:
            os._exit(OUR_FAULT)


def _settle(output: int, memory: int | None) -> None:
    if sys.platform == "linux":
        be_unreadable(False)
        _be_the_first_to_go()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    if memory is not None:
        _limit_allocations(memory)


def _be_the_first_to_go() -> None:
    """If the machine runs out of memory, the kernel shall end the cell and nobody else."""
    try:
        file = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    except OSError:
        return
    try:
        os.write(file, b"1000")
    except OSError:
        pass
    finally:
        os.close(file)


def _limit_allocations(memory: int) -> None:
    """A second line of defence, and generous: memory asked for is not yet memory used."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = 2 * memory + ROOM
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


def _outcomes(content: memoryview, answers: int, threads: int | None = None) -> list[Outcome]:
    header, rest = unpacked(content)
    lessons = pickle.loads(rest[header["method"] :])
    try:
        method = pickle.loads(rest[: header["method"]])
    except Exception as error:
        return [Outcome("failed", message=f"the method can't be loaded in a cell: {described(error)}")]
    os.write(answers, STARTED)
    try:
        if len(lessons) > 1:
            return work_together(method, lessons, threads)
        (one,) = lessons
        return [work(method, one.training, one.inputs, one.seed, threads)]
    except KeyboardInterrupt as error:  # its own: nobody interrupts a cell
        return [Outcome("failed", message=described(error))]


def _report(outcomes: list[Outcome]) -> bytes:
    """What is told of the first is true of all of a batch but for their answers."""
    outcome, costs = outcomes[0], outcomes[0].costs
    answers = [dump_answer(one.answer) for one in outcomes if one.answer is not None]
    header: dict[str, Any] = {
        "status": outcome.status,
        "message": outcome.message,
        "costs": [costs.training_seconds, costs.prediction_seconds, costs.cpu_seconds, costs.peak_memory],
        "sizes": [len(answer) for answer in answers],
        "told": [dict(one.told) for one in outcomes],
    }
    return packed(header, b"".join(answers))


def _flush() -> None:
    """Everything printed is on its way before the report is: by Python and by C."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # closed or replaced by the method
            continue
    this_process().fflush(None)
