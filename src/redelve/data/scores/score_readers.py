"""The contract for readers of other tools' files, and the readers that are known by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from redelve.data.scores.score_table import ScoreTable
from redelve.errors import SpecError
from redelve.registry import Registry, ValueKind, is_subclass_of


@dataclass(frozen=True)
class ScoreWish:
    """What you ask a reader for, beyond its files."""

    score: str | None = None
    """Which of several scores: a scorer, a metric; None where there must be only one."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Which column or field is what, where you have said so."""
    unfinished: bool = False
    """Whether to take evaluations that did not end well, and note it."""


class ScoreReader(ABC):
    """Reads the files that one tool writes; known by `READERS` or an entry point of `redelve.readers`."""

    title: ClassVar[str]
    """The tool and its files, for messages."""
    columns: ClassVar[tuple[str, ...]] = ()
    """What you may say which column it is; the reader finds all else by itself."""

    @abstractmethod
    def recognises(self, path: Path) -> bool:
        """Whether a file or folder was written by the tool; a quick look that raises nothing."""

    @abstractmethod
    def read(self, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
        """The scores in these files or folders."""

    def takes(self, scores: Any) -> bool:
        """Whether a Python object, such as a frame or a dictionary, is what the tool hands out."""
        return False

    def read_object(self, scores: Any, wish: ScoreWish) -> ScoreTable:
        """The scores in an object that it takes."""
        raise SpecError(f"{self.title} are read from files: give their paths")


READERS = Registry[type[ScoreReader]](
    "reader of scores",
    "redelve.readers",
    of=ValueKind("a subclass of ScoreReader", is_subclass_of(ScoreReader)),
)


def check_columns(reader: ScoreReader, wish: ScoreWish) -> None:
    """Refuse names of columns that a reader does not ask for."""
    unused = [role for role in wish.columns if role not in ("score", *reader.columns)]
    if unused:
        told = f"may be told {', '.join(reader.columns)}" if reader.columns else "finds its columns by itself"
        raise SpecError(
            f'{unused[0]}="{wish.columns[unused[0]]}": the reader of {reader.title} {told}; leave this out'
        )


_HERE = "redelve.data.scores.readers"
READERS.add("inspect", f"{_HERE}.inspect_logs:InspectLogs")
READERS.add("lm-eval", f"{_HERE}.lm_eval_samples:LmEvalSamples")
READERS.add("every-eval-ever", f"{_HERE}.every_eval_ever:EveryEvalEver")
READERS.add("helm", f"{_HERE}.helm_statistics:HelmStatistics")
READERS.add("openml", f"{_HERE}.openml_predictions:OpenmlPredictions")
READERS.add("sklearn", f"{_HERE}.sklearn_results:SklearnResults")
READERS.add("predictions", f"{_HERE}.saved_predictions:SavedPredictions")
READERS.add("benchopt", f"{_HERE}.benchopt_results:BenchoptResults")
READERS.add("tsml", f"{_HERE}.tsml_results:TsmlResults")
READERS.add("tracked", f"{_HERE}.tracked_tables:TrackedTables")
