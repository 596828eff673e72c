"""An executor of the user's, or one that another package makes, as loky does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

from redelve.errors import OptionalPackageError, SpecError
from redelve.run.workers.child import thread_variables
from redelve.run.workers.processes import usable_cores


def _shut_down(executor: Executor) -> None:
    executor.shutdown(wait=False, cancel_futures=True)


class Lent:
    """Any `concurrent.futures.Executor` of the user's, or a function that makes one, and makes another when
    it breaks. An executor given as such is not shut down.
    """

    def __init__(
        self,
        executor: Executor | Callable[[], Executor],
        *,
        at_once: int,
        shut_down: Callable[[Executor], None] = _shut_down,
    ) -> None:
        if at_once < 1:
            raise SpecError(f"at_once must be 1 or more, not {at_once}")
        self.at_once = at_once
        self._given = executor
        self._made: Executor | None = None
        self._shut_down = shut_down
        self._asked = False

    def executor(self) -> Executor:
        """The executor given, or a new one from the function given."""
        if isinstance(self._given, Executor):
            if self._asked:
                raise SpecError(
                    "the executor given has broken, so the rest can't be done by it: give a function that "
                    "makes one, such as `lambda: ProcessPoolExecutor(8)`, and a new one will take over"
                )
            self._asked = True
            return self._given
        self._end_made()
        self._made = self._given()
        return self._made

    def close(self) -> None:
        """Shut down what was made here."""
        self._asked = False
        self._end_made()

    def _end_made(self) -> None:
        if self._made is not None:
            self._shut_down(self._made)
            self._made = None


def loky_workers(count: int | None = None, *, threads: int = 1) -> Lent:
    """Processes managed by loky: a worker that dies costs all jobs under way, which are done again."""
    many = usable_cores() if count is None else count
    if many < 1:
        raise SpecError(f"the number of processes must be 1 or more, not {count}")

    def make() -> Executor:
        return _pool(many, threads)

    def end(executor: Executor) -> None:
        executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]

    return Lent(make, at_once=2 * many, shut_down=end)


def _pool(count: int, threads: int) -> Executor:
    try:
        from loky import ProcessPoolExecutor
    except ImportError:
        raise OptionalPackageError('loky is not installed: pip install "redelve[loky]"') from None
    made: Executor = ProcessPoolExecutor(count, env={**thread_variables(threads), "PYTHONHASHSEED": "0"})
    return made
