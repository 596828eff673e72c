"""A section of one's own appears everywhere; for each check there is one that fails it and no other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from redelve.errors import SpecError
from redelve.findings import Findings
from redelve.report.drawing import Picture, new_figure
from redelve.report.formatting import METHOD, Cell, ReportColumn, ReportTable, name_cell
from redelve.report.page import all_tables, render_html, render_latex, render_markdown, write_report
from redelve.report.section_checks import CHECKS, HOSTILE, check_section
from redelve.report.sections import SECTIONS, PagePart, ReportContext, Section, sections
from tests.report.made import made_findings
from tests.test_registry import install

sections()  # registers redelve's own
OWN = list(SECTIONS)


THEIRS = """
from redelve.report.sections import Section

class Far(Section):
    place = 450
    title = "From afar"

    def words(self, findings, about):
        return ["Hello."]
"""


def _draw() -> Figure:
    figure = new_figure(1, 1)
    figure.add_axes((0, 0, 1, 1))
    return figure


class WorstLosses(Section):
    """The largest loss of each method: all that a section needs."""

    place = 350
    title = "Largest losses"

    def words(self, findings: Findings, about: ReportContext) -> Iterable[str]:
        return (f"The largest losses of {len(findings.results.methods)} methods & all tasks.",)

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[ReportTable]:
        largest: dict[str, float] = {}
        for record in findings.results.records:
            for values in record.losses.values():
                largest[record.job.method] = max(largest.get(record.job.method, 0.0), float(values.max()))
        rows = tuple((name_cell(name), Cell(f"{loss:.3g}", (loss,))) for name, loss in largest.items())
        return (ReportTable("largest", "Largest losses", (METHOD, ReportColumn("Loss", ("loss",))), rows),)

    def pictures(self, findings: Findings, about: ReportContext) -> Iterable[Picture]:
        return (Picture("empty", "Nothing", "An empty figure.", "Nothing is drawn.", _draw),)

    def notes(self, findings: Findings, about: ReportContext) -> Iterable[str]:
        return ("A largest loss says little of the others.",)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SECTIONS, "_items", {**SECTIONS._items})
    SECTIONS.add("largest", WorstLosses)


class TestOnesOwn:
    def test_stands_in_its_place_on_the_page(self, registered: None) -> None:
        page = render_html(made_findings())
        anchors = [
            page.index(f'<section id="{name}"') for name in ("other-losses", "largest-losses", "validity")
        ]
        assert anchors == sorted(anchors)
        assert '<li><a href="#largest-losses">Largest losses</a></li>' in page
        assert "3 methods &amp; all tasks" in page
        assert 'id="table-largest"' in page
        assert 'id="figure-empty"' in page
        assert "<li>A largest loss says little of the others.</li>" in page

    def test_is_in_markdown_and_latex(self, registered: None) -> None:
        headings = {render_markdown: "## Largest losses", render_latex: r"\section*{Largest losses}"}
        for render, heading in headings.items():
            text = render(made_findings())
            start = text.index(heading)
            assert (
                start < text.index("largest losses of 3 methods") < text.index("A largest loss says little")
            )

    def test_has_its_files_in_the_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(SECTIONS, "_items", {"largest": WorstLosses})  # test_page.py has all the others
        write_report(made_findings(), tmp_path / "out")
        assert (tmp_path / "out/tables/largest.csv").read_text().startswith("Method,loss\nconstant,2.11")
        assert (tmp_path / "out/figures/empty.svg").exists()

    def test_that_has_nothing_to_say_vanishes(
        self, registered: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("words", "tables", "pictures", "notes"):
            monkeypatch.setattr(WorstLosses, name, lambda *_: ())
        assert "largest" not in render_html(made_findings())
        assert "largest" not in {table.name for table in all_tables(made_findings())}

    def test_may_be_an_appendix(self, registered: None, monkeypatch: pytest.MonkeyPatch) -> None:
        before = render_markdown(made_findings())
        monkeypatch.setattr(WorstLosses, "is_appendix", True)
        after = render_markdown(made_findings())
        assert (
            before.index("largest losses of 3")
            < before.index("## Methods")
            < after.index("largest losses of 3")
        )

    def test_comes_from_an_installed_package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        install(tmp_path, "theirs", "[redelve.sections]\nfar = theirs:Far\n", THEIRS)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(SECTIONS, "_items", {**SECTIONS._items})
        monkeypatch.setattr(SECTIONS, "_installed", None)
        assert '<section id="from-afar"' in render_html(made_findings())
        assert check_section("far").passed

    def test_that_is_no_section_is_named(self, registered: None) -> None:
        with pytest.raises(SpecError, match=r'section "wrong" is .*dict.*subclass of'):
            SECTIONS.add("wrong", dict)  # type: ignore[arg-type]

    @pytest.mark.parametrize("way", ["words", "pictures", "parts", "markdown", "template"])
    def test_that_fails_leaves_a_note_in_its_place(
        self, registered: None, monkeypatch: pytest.MonkeyPatch, way: str
    ) -> None:
        def fail(*_: object) -> None:
            raise ValueError("no <b>such</b> loss")

        monkeypatch.setattr(WorstLosses, way, "{{ part.nothing }}" if way == "template" else fail)
        page = render_html(made_findings())
        told = "The section tests.report.test_sections.WorstLosses could not be made: "
        assert '<section id="largest-losses"' in page
        assert told in page
        assert '<section id="validity"' in page
        if way != "template":
            assert f"{told}ValueError: no &lt;b&gt;such&lt;/b&gt; loss. It is not redelve" in page
            assert "could not be made" in render_markdown(made_findings())

    def test_only_of_other_packages_fails_quietly(
        self, registered: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(SECTIONS["failures"], "words", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            render_html(made_findings())


# --- check_section -----------------------------------------------------------------------------------------


class Placeless(WorstLosses):
    place = "last"  # type: ignore[assignment]


class Crowding(WorstLosses):
    place = 400


class Proud(WorstLosses):
    """Takes for granted that there are several methods."""

    def words(self, findings: Findings, about: ReportContext) -> Iterable[str]:
        return (list(findings.results.methods)[1],)


class Hasty(WorstLosses):
    """Takes for granted that training was timed."""

    def words(self, findings: Findings, about: ReportContext) -> Iterable[str]:
        return (f"{one.costs.training_seconds:.2g} s" for one in findings.results.records if one.costs)


class Counting(WorstLosses):
    seen = itertools.count()

    def words(self, findings: Findings, about: ReportContext) -> Iterable[str]:
        return (f"Shown {next(self.seen)} times.",)


class Borrowing(WorstLosses):
    def tables(self, findings: Findings, about: ReportContext) -> Iterable[ReportTable]:
        (table,) = super().tables(findings, about)
        return (ReportTable("methods", table.title, table.columns, table.rows),)


class Unclosed(WorstLosses):
    template = "<p>{{ part.words[0] }}"


class Distant(WorstLosses):
    template = '<p><a href="https://example.org">more</a></p>'


class Trusting(WorstLosses):
    template = "{% for row in part.tables[0].rows %}<p>{{ row[0].text | safe }}</p>{% endfor %}"


class Unescaped(WorstLosses):
    def latex(self, part: PagePart) -> list[str]:
        return [cell.text for row in part.tables[0].rows for cell in row]


class Wordless(WorstLosses):
    def pictures(self, findings: Findings, about: ReportContext) -> Iterable[Picture]:
        return (Picture("empty", "Nothing", "", "", _draw),)


BROKEN: dict[type[Section], str] = {
    Placeless: "R001",
    Proud: "R003",
    Hasty: "R003",
    Counting: "R004",
    Borrowing: "R005",
    Unclosed: "R006",
    Distant: "R006",
    Trusting: "R007",
    Unescaped: "R007",
    Wordless: "R008",
}


class TestCheckSection:
    @pytest.mark.parametrize("name", OWN)
    def test_redelve_s_own_sections_pass(self, name: str) -> None:
        report = check_section(name)
        assert report.passed, report
        assert not any(finding.status == "warned" for finding in report.findings)

    def test_a_good_section_passes_every_check(self) -> None:
        assert {finding.status for finding in check_section(WorstLosses).findings} == {"passed"}

    @pytest.mark.parametrize("section", BROKEN, ids=lambda section: str(section.__name__))
    def test_each_check_fails_a_section_that_breaks_it(self, section: type[Section]) -> None:
        report = check_section(section)
        failed = [finding.number for finding in report.findings if finding.status == "failed"]
        assert failed == [BROKEN[section]], report

    def test_a_place_that_is_taken_is_warned_of(self) -> None:
        found = check_section(Crowding()).of("R002")
        assert found.status == "warned"
        assert "ValiditySection has the place 400 as well" in found.message

    def test_every_check_has_a_section_that_it_finds_wanting(self) -> None:
        assert set(CHECKS) == {*BROKEN.values(), "R002"}

    def test_what_is_no_section_is_refused(self) -> None:
        with pytest.raises(SpecError, match="is no section: make it a subclass of"):
            check_section(dict)  # type: ignore[arg-type]

    def test_the_name_full_of_signs_is_one_in_no_format(self) -> None:
        assert {"<", "&", "|", "$", "%", "_", "{"} <= set(HOSTILE)
