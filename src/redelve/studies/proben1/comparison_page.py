"""The comparison with the printed tables, for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from redelve.report.study_page import StudyPage, write_folder
from redelve.studies.proben1 import verdict_words
from redelve.studies.proben1.comparison import Compared
from redelve.studies.proben1.comparison_tables import as_table, as_text, cells_csv
from redelve.studies.proben1.comparison_words import RULE, headlines


def describe(tables: Sequence[Compared], about: Sequence[str] = (), told: Sequence[str] = ()) -> str:
    """The whole comparison as text; `about` tells how it was made, `told` what is said of it all."""
    parts = ["\n".join(about)] if about else []
    parts += [as_text(table) for table in tables if table.rows]
    parts += ["\n".join(headlines(tables)), *(["\n".join(told)] if told else [])]
    return "\n\n".join([*parts, _rules(told)])


def _rules(told: Sequence[str]) -> str:
    return f"{RULE} {verdict_words.RULE}" if told else RULE


def page_of(tables: Sequence[Compared], about: Sequence[str] = (), told: Sequence[str] = ()) -> StudyPage:
    """The comparison as a page; `about` tells how it was made, `told` what is said of it all."""
    return StudyPage(
        "PROBEN1's tables made anew",
        "Lutz Prechelt, PROBEN1, Technical Report 21/94, Universität Karlsruhe, 1994",
        describe(tables, about, told),
        headlines=[*headlines(tables), *told],
        caption=_rules(told),
        about=about,
        tables=[as_table(table) for table in tables if table.rows],
    )


def write_study(
    folder: Path,
    tables: Sequence[Compared],
    about: Sequence[str],
    further: Mapping[str, str],
    told: Sequence[str] = (),
) -> Path:
    """Write page, text, tables, cells and further files."""
    further = {"cells.csv": cells_csv(tables), **further}
    return write_folder(folder, page_of(tables, about, told), further)
