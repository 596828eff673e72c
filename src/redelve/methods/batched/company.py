"""Fits that are trained together: networks are collected, trained, and handed to their fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from redelve.methods.batched.members import MemberData, NetworkMember, TrainedMember, train_members

Made = TypeVar("Made")


@dataclass(eq=False)
class Company:
    """Networks of many fits: those that wait to be trained, and those that have been, by their keys."""

    collecting: bool = True
    waiting: dict[bytes, NetworkMember] = field(default_factory=dict)
    trained: dict[bytes, TrainedMember] = field(default_factory=dict)
    data: dict[bytes, MemberData] = field(default_factory=dict)

    def note(self, member: NetworkMember) -> None:
        """One more to train; data that are known already are not kept twice."""
        if member.key not in self.waiting:
            training = self.data.setdefault(member.training.digest, member.training)
            watched = member.validation
            if watched is not None:
                watched = self.data.setdefault(watched.digest, watched)
            self.waiting[member.key] = _with_data(member, training, watched)

    def train(self) -> None:
        """Train all that wait."""
        found = train_members(list(self.waiting.values()))
        self.trained.update(zip(self.waiting, found, strict=True))
        self.waiting, self.data, self.collecting = {}, {}, False


def _with_data(member: NetworkMember, training: MemberData, validation: MemberData | None) -> NetworkMember:
    return NetworkMember(
        member.settings, training, validation, member.seed, member.decay, member.rate, member.momentum
    )


_COMPANY: ContextVar[Company | None] = ContextVar("company", default=None)


def trained_alone_or_together(members: Sequence[NetworkMember]) -> list[TrainedMember]:
    """What a fit calls: its networks trained, now or by the company that the fit is in."""
    company = _COMPANY.get()
    if company is None:
        return train_members(members)
    if company.collecting:
        for member in members:
            company.note(member)
        return [_stand_in(member) for member in members]
    missing = [member for member in members if member.key not in company.trained]
    company.trained.update(zip((one.key for one in missing), train_members(missing), strict=True))
    return [company.trained[member.key] for member in members]


def _stand_in(member: NetworkMember) -> TrainedMember:
    weights = np.zeros(member.settings.architecture.connection_count)
    return TrainedMember(weights, 1, float("nan"), float("nan"))


@contextmanager
def _member_of(company: Company) -> Iterator[None]:
    token = _COMPANY.set(company)
    try:
        yield
    finally:
        _COMPANY.reset(token)


def trained_together(fits: Callable[[], Made], *, rehearsal: Callable[[], object] | None = None) -> Made:
    """Call a function whose fits of batched networks are trained as one batch.

    The function is called twice: first its networks are collected and their estimators predict nonsense, then
    they are trained, and the second call is the one that counts. Everything else in it is done twice, too.

    Parameters
    ----------
    fits
        A function without arguments that fits any number of `BatchedMLPRegressor` and
        `BatchedMLPClassifier`, in pipelines, cross-validations or loops, in this process.
    rehearsal
        What to call the first time instead: the same fits with less around them. What it raises is ignored.

    Returns
    -------
    object
        What the function returns. It is what it would return by itself: a network's training does not
        depend on the others in its batch. Fits that the first call did not have are trained when they come.

    Examples
    --------
    >>> import numpy as np
    >>> from redelve.methods.batched import BatchedMLPRegressor, trained_together
    >>> x = np.linspace(-2, 2, 60)[:, None]
    >>> y = np.sin(2 * x[:, 0])
    >>> seeds = range(3)
    >>> def fits():
    ...     return [BatchedMLPRegressor(random_state=seed).fit(x, y).predict(x[:1])[0] for seed in seeds]
    >>> together = trained_together(fits)
    >>> together == fits()
    True
    """
    company = Company()
    state = np.random.get_state()  # noqa: NPY002
    with _member_of(company):
        try:
            (rehearsal or fits)()
        except Exception:
            if rehearsal is None:
                raise
        np.random.set_state(state)  # noqa: NPY002
        company.train()
        return fits()
