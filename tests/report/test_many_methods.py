"""Reports of many methods: what nobody can read is left out by name, and a folder has all of it."""

import csv
import io
from functools import cache, partial

import pytest

from redelve.findings import Findings, find, tasks_together
from redelve.report.formatting import ReportTable, to_csv
from redelve.report.loss_figures import digits_table, rasmussen_picture
from redelve.report.page import all_tables
from redelve.report.sections import MOST_COMPARED, ReportContext, panels
from redelve.report.sections.across_tasks import across_tables
from redelve.report.sections.one_prototask import matrix_table, pairs_table
from redelve.report.sections.records import PaperSection
from redelve.stats.bayesian_tests import signed_rank_all
from tests.report.made import made_results, task_facts

MANY = 40
PAIRS = MANY * (MANY - 1) // 2
SHOWN = MOST_COMPARED * (MOST_COMPARED - 1) // 2 + MANY - MOST_COMPARED


@cache
def found(methods: int, tasks: int = 1) -> Findings:
    means = {f"method{number}": 1 + 0.05 * number for number in range(methods)}
    every = [task_facts(f"/data{number}/y/std.64", 64, instances=3, cases=6) for number in range(tasks)]
    return find(made_results(means, tasks=every))


def rows_of(table: ReportTable) -> list[list[str]]:
    return list(csv.reader(io.StringIO(to_csv(table))))[1:]


def test_as_many_methods_as_people_can_read_are_shown_whole() -> None:
    for table in all_tables(found(MOST_COMPARED)):
        assert table.whole is None, table.name
        assert "are shown" not in table.caption


def test_pairs_are_those_of_the_first_methods_and_everybody_with_the_very_first() -> None:
    (panel,) = panels(found(MANY))
    table = pairs_table(panel)
    assert len(table.rows) == SHOWN
    assert f"Of {PAIRS} comparisons {SHOWN} are shown" in table.caption
    assert table.title.startswith("Comparisons on")
    pairs = [{row[1].text, row[2].text} for row in table.rows]
    assert {name for pair in pairs if panel.methods[0] in pair for name in pair} == set(panel.methods)
    assert table.whole is not None
    assert len(rows_of(table.whole())) == PAIRS
    assert table.whole().title.startswith("All comparisons on")


def test_squares_have_the_first_methods_and_their_files_all() -> None:
    (panel,) = panels(found(MANY))
    for table in (matrix_table(panel.largest), digits_table(panel)):
        assert len(table.rows) == MOST_COMPARED
        assert f"Of {MANY} methods the {MOST_COMPARED} that come first are shown" in table.caption
        assert f"tables/{table.name}.csv" in table.caption
        assert table.whole is not None
        assert len(rows_of(table.whole())) == MANY
        assert "are shown" not in table.whole().caption
    assert f"Of {MANY} methods the {MOST_COMPARED}" in rasmussen_picture(panel).caption


def test_sentences_for_a_paper_say_which_are_left_out() -> None:
    values = PaperSection().values(found(MANY), ReportContext())
    (((_, with_leader, others),),) = values["prototasks"]
    assert len(with_leader) == MANY - 1
    assert len(with_leader) + len(others) == SHOWN
    assert f"the {MOST_COMPARED} methods that come first" in values["lacking"]
    assert PaperSection().values(found(MOST_COMPARED), ReportContext())["lacking"] == ""


def test_tables_over_tasks_are_shortened_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks_together, "signed_rank_all", partial(signed_rank_all, draws=10))
    across = found(MANY, tasks=5).across
    assert across is not None
    shortened = {table.name: table for table in across_tables(across) if table.whole is not None}
    assert shortened.keys() == {"across-pairs", "across-wins", "across-wilcoxon", "across-rope"}
    for name, table in shortened.items():
        assert table.whole is not None
        assert len(rows_of(table.whole())) == (MANY if name == "across-wins" else PAIRS)
        assert len(table.rows) == (MOST_COMPARED if name == "across-wins" else SHOWN)


@pytest.mark.parametrize("suffix", [".csv", ".md"])
def test_a_folder_has_every_comparison_in_its_csv_files(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from redelve.report import page

    monkeypatch.setattr(page, "pictures_of", lambda findings: ())
    monkeypatch.setattr(page, "_one_file", lambda *_: b"")
    files = page._folder(found(MANY), None, None)
    lines = files[f"tables/pairs-data0-y{suffix}"].decode().splitlines()
    assert (len(lines) > PAIRS) == (suffix == ".csv")
