"""A reader of scores: ledgers, whose lines are a name, a question and the points."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from redelve.data.files import read_text
from redelve.data.scores.score_readers import ScoreReader, ScoreWish
from redelve.data.scores.score_table import ScoreTable
from redelve.errors import FormatError


class Ledgers(ScoreReader):
    title = "ledgers"

    def recognises(self, path: Path) -> bool:
        return path.suffix == ".ledger"

    def read(self, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
        rows = []
        for path in paths:
            for number, line in enumerate(read_text(path).splitlines(), start=1):
                name, *rest = line.split("|")
                if len(rest) != 2:
                    raise FormatError(path, number, "expected a name, a question and points, with | between")
                rows.append({"model": name, "case": rest[0], "score": rest[1]})
        return ScoreTable("the ledgers", pd.DataFrame(rows), "points", higher_is_better=True)
