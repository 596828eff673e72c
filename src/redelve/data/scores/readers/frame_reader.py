"""What readers of tables share: a tool's tables are known by their columns, in files and as frames."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redelve.data.scores.frame_files import column_names, frame_of_file
from redelve.data.scores.readers.reader_tools import any_below, gathered, model_by_place
from redelve.data.scores.score_readers import ScoreReader, ScoreWish
from redelve.data.scores.score_table import ScoreTable, apart, joined
from redelve.errors import SpecError, kind_told

if TYPE_CHECKING:
    import pandas as pd


class FrameReader(ScoreReader):
    """Reads tables; a table without models holds the scores of one, called like its file."""

    plain_names: tuple[str, ...] = ()
    """Names of files that tell nothing: the model is then called like the folder."""
    in_folders: tuple[str, ...] = ()
    """How the names of the files end that are looked for in folders; none where files must be named."""

    @abstractmethod
    def knows(self, columns: Sequence[str]) -> bool:
        """Whether a table with these columns is the tool's."""

    @abstractmethod
    def scores(self, frame: pd.DataFrame, wish: ScoreWish, source: str) -> ScoreTable:
        """The scores in a table."""

    def recognises(self, path: Path) -> bool:
        """A file whose columns are known, or a folder with such files."""
        return any_below(path, self._is_in_folder) if path.is_dir() else self.recognises_file(path)

    def recognises_file(self, path: Path) -> bool:
        """A file whose columns are known."""
        return path.is_file() and self.knows(column_names(path))

    def _is_in_folder(self, path: Path) -> bool:
        return path.name.endswith(self.in_folders) and self.recognises_file(path)

    def read(self, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
        """The scores in these files and folders, one below the other."""
        if self.in_folders:
            paths = gathered(paths, self._is_in_folder, self.title)
        names = apart([self.model(path) for path in paths], paths)
        tables = [self._of_file(path, wish, name) for path, name in zip(paths, names, strict=True)]
        return joined(tables, names)

    def _of_file(self, path: Path, wish: ScoreWish, name: str) -> ScoreTable:
        """The scores in a file, of the model with this name where the file does not say so."""
        return _with_model(self._scores(self.frame(path), wish, path.name), name)

    def frame(self, path: Path) -> pd.DataFrame:
        """The table in a file."""
        return frame_of_file(path)

    def _scores(self, frame: pd.DataFrame, wish: ScoreWish, source: str) -> ScoreTable:
        """The scores in a table, which must be the tool's."""
        columns = [str(name) for name in frame.columns]
        if not self.knows(columns):
            raise SpecError(
                f"{source} has not the columns of {self.title}: it has {', '.join(columns[:12]) or 'none'}"
            )
        return self.scores(frame.set_axis(columns, axis=1), wish, source)

    def model(self, path: Path) -> str:
        """The model whose scores a file holds that does not say so."""
        return model_by_place(path, self.plain_names)

    def takes(self, scores: Any) -> bool:
        """A frame whose columns are known."""
        is_frame = hasattr(scores, "columns") and not isinstance(scores, type)
        return is_frame and self.knows([str(name) for name in scores.columns])

    def read_object(self, scores: Any, wish: ScoreWish) -> ScoreTable:
        """The scores in a frame."""
        import pandas as pd

        if not hasattr(scores, "columns"):
            raise SpecError(
                f"{self.title} are read from files and frames, not from {kind_told(scores, 'a ')}"
            )
        frame = scores if isinstance(scores, pd.DataFrame) else scores.to_pandas()
        table = self._scores(frame, wish, "the frame")
        if "model" not in table.frame.columns:
            raise SpecError(
                f"the frame has {self.title} of one model: give several, as in "
                '{"forest": frame, "tree": other}, or a column model'
            )
        return table


def _with_model(table: ScoreTable, name: str) -> ScoreTable:
    if "model" in table.frame.columns:
        return table
    return replace(table, frame=table.frame.assign(model=name))
