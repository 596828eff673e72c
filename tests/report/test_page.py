"""The page: parses, needs nothing from outside, says everything, believes no name it is given."""

import re
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from redelve.answers.answer import Answer
from redelve.answers.distributions import Normal
from redelve.answers.predictions import TargetDistributions
from redelve.errors import SpecError
from redelve.findings import Findings, find
from redelve.findings.validity import rules_for
from redelve.model.prototask import AttributeRow, DataDescription
from redelve.report.page import all_tables, render_html, render_latex, render_markdown, write_report
from redelve.report.sections import ReportContext
from redelve.report.sections.records import coverage_table
from redelve.run.results import Job, Results

from .made import TARGET, made_findings, made_results, many_tasks, method_facts, record, task_facts

VOID = {"meta", "link", "br", "hr", "img", "input", "use", "path", "stop"}
HOSTILE = '<script>alert("x")</script> & $x^2$ | =1+1 \x00 \ud800 \u202e'
ABOUT = ReportContext(
    command="redelve run <data>",
    data=(
        DataDescription("data", "Made up.", "nowhere", (AttributeRow("x & y", "input", "real", "-1..1"),)),
    ),
    archive="results.redelve",
    version="0.1.0",
    elapsed=12.0,
)


class Reader(HTMLParser):
    """Checks that tags are closed in order; collects anchors, links and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.attributes.append((tag, found))
        if "id" in found:
            self.ids.append(found["id"] or "")
        self.links += [found[name] or "" for name in ("href", "src", "action", "data") if name in found]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def findings() -> Findings:
    return made_findings()


@pytest.fixture(scope="module")
def page(findings: Findings) -> str:
    return render_html(findings, about=ABOUT)


def with_failures(results: Results) -> Results:
    """Two jobs that failed, one of them with a stand-in."""
    kept = results.records[2:]
    first, second = results.records[:2]
    failed = replace(first, status="failed", losses={}, message=f"ValueError: {HOSTILE}")
    stood_in = replace(second, status="out of time", message="after 10 s", fallback="constant")
    return replace(results, records=(*kept, failed, stood_in))


def test_the_page_is_well_formed(page: str) -> None:
    reader = read(page)
    assert page.startswith("<!DOCTYPE html>")
    assert len(reader.ids) == len(set(reader.ids))
    assert reader.tags.count("h1") == reader.tags.count("main") == 1
    assert ("html", {"lang": "en"}) in reader.attributes


def test_the_page_needs_nothing_from_outside(page: str) -> None:
    reader = read(page)
    assert all(link.startswith("#") for link in reader.links)
    assert not re.search(
        r"https?:|//[a-z]|@import|url\((?!#)", re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    )
    assert "fetch(" not in page
    assert {tag for tag in reader.tags if tag in ("link", "img", "iframe", "object")} == set()


def test_links_lead_to_anchors(page: str) -> None:
    reader = read(page)
    assert {link[1:] for link in reader.links} <= set(reader.ids)


def test_the_page_names_every_method_task_rule_and_section(findings: Findings, page: str) -> None:
    reader = read(page)
    every_rule = [one.code for one in rules_for(findings.results)]
    for name in (*findings.results.methods, *findings.results.tasks, *every_rule):
        assert name in reader.text
    assert {"summary", "validity", "card", "paper", "methods", "data", "provenance", "rules"} <= set(
        reader.ids
    )
    for part in (ABOUT.command, ABOUT.archive, "x & y", "How knn learns."):
        assert part in reader.text


def test_tables_and_figures_can_be_heard(page: str) -> None:
    reader = read(page)
    assert reader.tags.count("caption") == reader.tags.count("table")
    images = [found for tag, found in reader.attributes if tag == "svg" and found.get("role") == "img"]
    assert images
    for found in images:
        assert set((found["aria-labelledby"] or "").split()) <= set(reader.ids)
    hidden = [found for tag, found in reader.attributes if tag == "svg" and "role" not in found]
    assert all(found.get("aria-hidden") == "true" for found in hidden)


def test_a_cell_says_better_or_worse_whichever_way_its_score_goes(page: str) -> None:
    """A higher accuracy was read out as lower: what the arrow means is that the method loses less."""
    assert '<span class="hidden">better: </span>' in page
    assert '<span class="hidden">worse: </span>' in page
    assert not re.search(r'<span class="hidden">(better|worse): </span>[^<]*(is better|loses less)', page)


def test_the_same_findings_make_the_same_bytes(findings: Findings, page: str) -> None:
    assert render_html(findings, about=ABOUT) == page


def test_hostile_names_and_messages_are_only_text() -> None:
    results = with_failures(made_results({HOSTILE: 0.3, "b": 0.4, "=c|": 0.9}))
    found = find(results)
    html = render_html(found, title=HOSTILE, about=ReportContext(command=HOSTILE, archive=HOSTILE))
    reader = read(html)
    assert reader.tags.count("script") == 1
    assert "alert" in reader.text
    html.encode()
    assert "<script>alert" not in render_markdown(found, title=HOSTILE)
    assert r"\$x\textasciicircum{}2\$" in render_latex(found, title=HOSTILE)


def test_scripts_run_only_if_they_are_ours(page: str) -> None:
    import base64
    import hashlib

    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page


def test_failures_are_shown_with_what_stood_in() -> None:
    reader = read(render_html(find(with_failures(made_results({"a": 0.3, "b": 0.4})))))
    assert "failures" in reader.ids
    assert "out of time, constant stood in" in reader.text


def test_many_tasks_have_a_section_of_their_own() -> None:
    found = find(made_results({"a": 0.3, "b": 0.4, "c": 0.9}, tasks=many_tasks()))
    reader = read(render_html(found))
    assert {
        "across",
        "table-across-averages",
        "table-across-pairs",
        "table-across-wins",
        "table-across-wilcoxon",
        "table-across-rope",
    } <= set(reader.ids)
    assert "figure-ranks" in reader.ids


def test_predictive_distributions_have_their_coverage_shown() -> None:
    results = made_results({"a": 0.3, "b": 0.4})
    normal = Normal(np.zeros(30), np.ones(30))  # the truth is always 0
    answer = Answer(distributions=TargetDistributions((TARGET,), (normal,)))
    answered = [replace(one, answer=answer) if one.job.method == "a" else one for one in results.records]
    table = coverage_table(find(replace(results, records=tuple(answered))))
    assert table is not None
    assert [row[1].text for row in table.rows] == ["a"] * 3
    assert {row[2].key for row in table.rows} == {100.0}
    assert coverage_table(find(results)) is None


@pytest.mark.parametrize("scheme", ["common", "cross-validation"])
def test_other_designs_make_a_page(scheme: str) -> None:
    tasks = [task_facts("/data/proto/std.16", 16, scheme=scheme)]
    read(render_html(find(made_results({"a": 0.3, "b": 0.4}, tasks=tasks))))


def test_a_single_method_on_a_single_training_set_makes_a_page() -> None:
    tasks = [task_facts("/data/proto/std.16", 16, instances=1)]
    reader = read(render_html(find(made_results({"a": 0.3}, tasks=tasks))))
    assert "Only a has results here." in reader.text
    assert "V001" in reader.text


def test_infinite_losses_and_losses_that_do_not_vary_make_a_page() -> None:
    facts = task_facts("/data/proto/std.16", 16)
    losses = {"a": np.full(30, np.inf), "b": np.ones(30), "c": np.zeros(30)}
    records = [
        record(Job(facts.address, name, k), {"S": each}) for name, each in losses.items() for k in range(4)
    ]
    results = Results({facts.address: facts}, {name: method_facts(name) for name in losses}, tuple(records))
    reader = read(render_html(find(results)))
    assert "∞" in reader.text
    write_everything = [render_markdown, render_latex]
    assert all(render(find(results)) for render in write_everything)


def test_no_standardised_losses_make_a_page() -> None:
    tasks = [task_facts(f"/data/proto/std.{n}", n, baselines={"S": None}) for n in (16, 32)]
    read(render_html(find(made_results({"a": 0.3, "b": 0.4}, tasks=tasks))))


def test_thirty_methods_make_a_page() -> None:
    tasks = [task_facts("/data/proto/std.16", 16)]
    read(render_html(find(made_results({f"method {k}": 0.1 + k / 30 for k in range(30)}, tasks=tasks))))


def test_a_report_of_six_methods_at_five_sizes_is_small_and_quick() -> None:
    tasks = [task_facts(f"/data/proto/std.{size}", size) for size in (64, 128, 256, 512, 1024)]
    found = find(made_results({f"method-{k}": 0.2 + 0.05 * k for k in range(6)}, tasks=tasks))
    start = time.process_time()
    html = render_html(found)
    assert time.process_time() - start < 5
    assert len(html.encode()) < 2_000_000


def test_every_table_has_a_name_of_its_own(findings: Findings) -> None:
    names = [table.name for table in all_tables(findings, ABOUT)]
    assert len(names) == len(set(names))
    assert {"overview", "losses-data-proto", "pairs-data-proto", "validity", "methods", "provenance"} <= set(
        names
    )


def test_a_report_is_written_by_its_suffix(findings: Findings, tmp_path: Path) -> None:
    for name, start in {
        "r.html": b"<!DOCTYPE",
        "r.md": b"# ",
        "r.tex": b"\\documentclass",
        "r.pdf": b"%PDF",
    }.items():
        path = write_report(findings, tmp_path / "new" / name)
        assert path.read_bytes().startswith(start)


def test_a_folder_holds_everything(findings: Findings, tmp_path: Path) -> None:
    write_report(findings, tmp_path / "report")
    names = {str(path.relative_to(tmp_path / "report")) for path in (tmp_path / "report").rglob("*.*")}
    assert {"index.html", "index.md", "index.tex", "card.md"} <= names
    assert {f"tables/losses-data-proto.{suffix}" for suffix in ("md", "tex", "csv")} <= names
    assert {f"figures/rasmussen-data-proto.{suffix}" for suffix in ("svg", "pdf")} <= names


def test_an_unknown_suffix_tells_the_way_out(findings: Findings, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"must end in \.html, \.md, \.tex, \.pdf, or have no suffix"):
        write_report(findings, tmp_path / "report.docx")
