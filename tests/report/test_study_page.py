"""What a study leaves in its folder."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from redelve.report.drawing import Picture, new_figure
from redelve.report.study_page import StudyPage, write_folder


def test_a_figure_is_drawn_once_for_the_page_and_all_its_files(tmp_path: Path) -> None:
    drawn: list[str] = []

    def draw() -> Figure:
        drawn.append("line")
        figure = new_figure(2, 2)
        figure.subplots().plot([0, 1], [1, 0])
        return figure

    picture = Picture("line", "A line", "It falls from one to zero.", "A caption.", draw)
    write_folder(tmp_path, StudyPage("Title", "Scope", "Text", pictures=[picture]))
    assert drawn == ["line"]
    assert 'id="fig-line-title">A line' in (tmp_path / "study.html").read_text()
    assert all((tmp_path / f"line.{kind}").stat().st_size for kind in ("svg", "pdf", "png"))


def test_a_page_by_itself_draws_its_figures(tmp_path: Path) -> None:
    picture = Picture("empty", "Nothing", "There is nothing to see.", "", lambda: new_figure(1, 1))
    page = StudyPage("Title", "Scope", "Text", pictures=[picture])
    alone = page.render()
    write_folder(tmp_path, page)
    assert alone == (tmp_path / "study.html").read_text()
