"""Two methods on one task or several, as `Assessment.compare` gives them: to print, to plot, to ask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redelve.findings import Contest, PairOverTasks
from redelve.findings.result_frames import contests_frame

if TYPE_CHECKING:
    import pandas as pd

PICKED = (
    "This allows for no other pair of the {}: right if you meant to compare these two before you saw "
    "results, too hopeful if you picked them by their results."
)


@dataclass(frozen=True)
class Contests:
    """Two methods compared on one or more tasks; printed, it reads like a paragraph of a paper."""

    tasks: tuple[str, ...]
    losses: tuple[str, ...]
    contests: tuple[Contest, ...]
    over_tasks: PairOverTasks | None = None
    """The two on average over these tasks, with three prototasks or more."""
    picked_from: str = ""
    """What the two are of, such as "5 methods"; empty where there are no others."""

    def __iter__(self) -> Iterator[Contest]:
        return iter(self.contests)

    def __len__(self) -> int:
        return len(self.contests)

    def __getitem__(self, position: int) -> Contest:
        return self.contests[position]

    def frame(self) -> pd.DataFrame:
        """A row for every task."""
        return contests_frame(list(zip(self.tasks, self.losses, self.contests, strict=True)))

    def __repr__(self) -> str:
        winners = [one.winner or "nobody" for one in self.contests]
        told = ", ".join(f"{name} on {winners.count(name)}" for name in dict.fromkeys(winners))
        return f"<Contests on {len(self)} tasks, won by {told}; print them for more>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        from redelve.report.notebook import contests_html

        over_tasks = "" if self.over_tasks is None else self.over_tasks.words
        return contests_html(self.tasks, self.losses, self.contests, over_tasks, self._picked)

    def __str__(self) -> str:
        lines = [
            f"{task} ({loss}): {contest}"
            for task, loss, contest in zip(self.tasks, self.losses, self.contests, strict=True)
        ]
        if self.over_tasks is not None:
            lines.append(self.over_tasks.words)
        return "\n".join([*lines, self._picked]).rstrip()

    @property
    def _picked(self) -> str:
        return PICKED.format(self.picked_from) if self.picked_from else ""
