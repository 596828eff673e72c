"""The study for readers: text, page, files, and the part of docs/study-neal.md that is made."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path

from redelve.data.files import AtomicFiles, read_text
from redelve.errors import LocationError
from redelve.report.drawing import save
from redelve.report.formatting import markdown
from redelve.report.study_page import StudyPage, write_folder
from redelve.studies.neal.must_hold import MustHold, must_hold
from redelve.studies.neal.neal_figures import pictures_of
from redelve.studies.neal.neal_tables import tables_of
from redelve.studies.neal.paper_findings import JudgedFinding
from redelve.studies.neal.printed_digits import UNREADABLE
from redelve.studies.neal.relevance_study import NealStudy
from redelve.studies.terminal_tables import WIDTH, table_as_text

BEGIN, END = "<!-- made by redelve study neal -->", "<!-- end of what is made -->"
IMAGES = "images"
MOST_NAMED = 6


def describe(study: NealStudy) -> str:
    """What was found, for a terminal."""
    held = must_hold(study)
    wrapped = [textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in headlines(study, held)]
    tables = [table_as_text(table) for table in tables_of(study, held)]
    return "\n\n".join(["\n".join(wrapped), *tables, textwrap.fill(about(study), WIDTH)])


def headlines(study: NealStudy, held: Sequence[MustHold]) -> tuple[str, ...]:
    """The verdicts in a line each, and what must hold."""
    said = [
        f"{one.finding.number}. {one.finding.words}: {one.verdict.upper()}{_contrary(one)}."
        for one in (*study.judged, *study.answered)
    ]
    broken = "; ".join(f"{one.words}: {one.found}" for one in held if not one.holds)
    sound = sum(one.holds for one in held)
    said.append(f"Of {len(held)} claims that must hold {sound} do{f'; not: {broken}' if broken else ''}.")
    return tuple(said)


def _contrary(judged: JudgedFinding) -> str:
    """Where it is the other way round."""
    shown, more = judged.contrary[:MOST_NAMED], len(judged.contrary) - MOST_NAMED
    if not shown:
        return ""
    return f" (the other way round: {'; '.join(shown)}{f'; and {more} more' if more > 0 else ''})"


def about(study: NealStudy) -> str:
    """How it was made."""
    effort, seed = study.plan.effort, study.plan.seed
    chains = "" if effort.chains is None else f", {effort.chains} chains of every method that samples"
    return (
        f"{effort.passes:,} passes{chains}, seed {seed}, on {study.device}. Not readable in the paper's text "
        f"at hand: {'; '.join(UNREADABLE)}."
    )


def write_study(folder: Path, study: NealStudy) -> Path:
    """Write page, text, tables and figures."""
    held = must_hold(study)
    page = StudyPage(
        "Does relevance determination help?",
        "After Neal, Assessing relevance determination methods using DELVE, 1998",
        describe(study),
        headlines=headlines(study, held),
        about=(about(study),),
        pictures=pictures_of(study),
        tables=tables_of(study, held),
    )
    return write_folder(folder, page, {"study.md": f"{made_part(study, folder='.')}\n"})


def made_part(study: NealStudy, folder: str = IMAGES) -> str:
    """Verdicts, tables and figures in Markdown."""
    held = must_hold(study)
    listed = "\n".join(f"* {line}" for line in headlines(study, held))
    tables = [f"### {table.title}\n\n{markdown(table).strip()}" for table in tables_of(study, held)]
    figures = [
        f"### Figure: {one.title}\n\n![{one.description}]({folder}/{one.name}.png)\n\n{one.caption}"
        for one in pictures_of(study)
    ]
    return "\n\n".join([listed, about(study), *tables, *figures])


def around_marks(path: Path) -> tuple[str, str]:
    """What a page has before and after its marks."""
    text = read_text(path) if os.path.exists(path) else ""  # noqa: PTH110  (a name may be too long for pathlib)
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise LocationError(f"{path} has no lines {BEGIN} and {END}: add them where the results should stand")
    return before, after


def write_documentation(path: Path, study: NealStudy) -> Path:
    """Put what is made between the marks of a page, and the figures into the folder images beside it."""
    before, after = around_marks(path)
    with AtomicFiles() as written:
        written.write(path, f"{before}{BEGIN}\n{made_part(study)}\n{END}{after}")
        for picture in pictures_of(study):
            written.write(path.parent / IMAGES / f"{picture.name}.png", save(picture, "png"))
    return path
