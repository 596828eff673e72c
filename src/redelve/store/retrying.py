"""Which jobs that failed are to be done again: those asked for, and those that may use more now than then."""

from __future__ import annotations

from collections.abc import Mapping

from redelve.errors import SpecError, hint
from redelve.run.cells import Limits
from redelve.run.results import MEMORY_ALLOWED, SECONDS_ALLOWED, UNLIMITED, Status
from redelve.store.heads import Head

RETRIES: Mapping[str, tuple[Status, ...]] = {
    "failed": ("failed",),
    "crashed": ("crashed",),
    "all": ("failed", "crashed", "out of time", "out of memory"),
    "none": (),
}
"""Which statuses each word means; "none" is for no job at all, whatever it may use now."""


def checked_retry(retry: str) -> None:
    """Refuse a word that means nothing."""
    if retry not in RETRIES:
        raise SpecError(f"retry is {retry!r}: choose {', '.join(RETRIES)}{hint(str(retry), RETRIES)}")


def is_to_be_retried(head: Head, retry: str | None, limits: Limits) -> bool:
    """Whether a job that failed is done again, by what was asked for or because it may use more now."""
    if retry == "none":
        return False
    if retry is not None and head.status in RETRIES[retry]:
        return True
    if head.status == "out of time":
        return _may_use_more(head.environment.get(SECONDS_ALLOWED), limits.seconds, is_endless=True)
    if head.status == "out of memory":
        return _may_use_more(head.environment.get(MEMORY_ALLOWED), limits.memory, is_endless=False)
    return False


def _may_use_more(then: str | None, now: float | None, *, is_endless: bool) -> bool:
    """Whether a job may use more now; records of before do not tell what it was then, and are tried again.

    Without a limit a job runs out of time only if it never began (`is_endless`).
    """
    if then is None:
        return True
    if then == UNLIMITED:
        return is_endless
    return now is None or now > float(then)
