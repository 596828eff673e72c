"""An executor: threads of this process; in each, methods work in cells, processes of their own."""

from concurrent.futures import ThreadPoolExecutor

from redelve.run.workers import Lent, Workers


def threads(count: int | None = None) -> Workers:
    number = count or 4
    return Lent(lambda: ThreadPoolExecutor(number), at_once=2 * number)
