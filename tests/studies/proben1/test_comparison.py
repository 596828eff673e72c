"""Tables, sentences and pages made of runs that were never run."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from redelve.studies.proben1 import printed
from redelve.studies.proben1.comparison import (
    Compared,
    compare,
    correlation_error,
    deviation_error,
    search_results,
)
from redelve.studies.proben1.comparison_page import describe, page_of
from redelve.studies.proben1.comparison_tables import as_table, as_text, cells_csv
from redelve.studies.proben1.comparison_words import headlines, tally
from redelve.studies.proben1.plan import Proben1Plan, Sheet, make_plan
from redelve.studies.proben1.readings import BEST, SEARCH
from redelve.studies.proben1.sheet_runs import Runs
from redelve.studies.proben1.topologies import TRIED, Topology
from tests.studies.proben1.made import pretend


def as_printed(table: int, dataset: str, sheet: Sheet, shift: float = 0.0) -> Runs:
    """Runs with the printed means and deviations, test errors `shift` deviations too high."""
    random, count = np.random.default_rng(0), len(sheet.topologies)
    figures = {}
    for name, given in printed.figures(table)[dataset].measures.items():
        values = random.normal(size=count) if count > 1 else np.zeros(1)
        values = (values - values.mean()) / (values.std(ddof=1) if count > 1 else 1.0)
        figures[name] = given.mean + (given.deviation or 0.0) * (values + (shift if name == "test" else 0.0))
    return pretend(sheet, **figures)


def everything(table: int, shifted: str = "") -> tuple[Proben1Plan, dict[tuple[str, str], Runs]]:
    plan = make_plan([table], BEST)
    runs = {
        (sheet.part, sheet.dataset): as_printed(table, sheet.dataset, sheet, 3.0 * (sheet.dataset == shifted))
        for sheet in plan.sheets
    }
    return plan, runs


def made(table: int, shifted: str = "") -> Compared:
    (found,) = compare(*everything(table, shifted))
    return found


def test_runs_as_printed_agree_in_every_mean_and_deviation() -> None:
    table = made(8)
    for column in (*printed.MEASURES, *(f"{name} sd" for name in printed.MEASURES)):
        assert str(table.tally(column)) == "30 of 30", column
    cell = table.rows[0].cell("test")
    assert cell is not None
    assert cell.z == pytest.approx(0.0, abs=1e-9)
    assert cell.published_error == pytest.approx(0.41 / 60**0.5)


def test_a_shifted_dataset_is_named() -> None:
    table = made(8, "cancer1")
    assert [miss.row for miss in table.tally("test").misses] == ["cancer1"]
    (line,) = headlines([table])
    assert "test errors for 29 of 30 datasets (not cancer1)" in line
    assert "classification errors for 30 of 30 datasets" in line
    assert "✗" in as_text(table).splitlines()[2]


def test_mushroom_of_one_run_is_shown_but_not_counted() -> None:
    table = made(3)
    assert str(table.tally("test")) == "31 of 31"
    assert str(tally([table], "test")) == "30 of 30"


def test_every_cell_is_in_the_csv() -> None:
    table = made(9, "flare1")
    lines = list(csv.DictReader(io.StringIO(cells_csv([table]))))
    assert len(lines) == 12 * (2 * 6 + 1)
    wrong = [line["dataset"] for line in lines if line["column"] == "test" and line["agrees"] == "False"]
    assert wrong == ["flare1"]


def test_a_page_needs_nothing_else_and_has_every_table() -> None:
    tables = [made(3), made(4, "building1")]
    page = page_of(tables, ["<made> by hand"]).render()
    assert page.count("<table") == 2
    assert "http" not in page.replace("http-equiv", "")
    assert "&lt;made&gt; by hand" in page
    assert "✗" in page
    assert "mushroom1" in describe(tables)
    assert as_table(tables[0]).name == "table03"


def better(pivot: float, bare: float, dataset: str = "glass1") -> str:
    plan = make_plan([12], BEST, datasets=[dataset])
    random = np.random.default_rng(1)
    level = {"pivot": pivot, "no-shortcut": bare}
    runs = {
        (sheet.part, sheet.dataset): pretend(
            sheet, test=level[sheet.part] * np.exp(random.normal(0, 0.02, len(sheet.topologies)))
        )
        for sheet in plan.sheets
    }
    (table,) = compare(plan, runs)
    ((_, choice),) = table.choices("better")
    return f"{choice.ours}; {choice.agrees}"


def test_table_12_says_who_is_better() -> None:
    assert better(10.0, 9.0) == "no-shortcut 0.0; True"
    assert better(9.0, 10.0) == "pivot 0.0; False"
    assert better(10.0, 10.0).startswith("none: ")
    assert better(10.0, 10.0, "cancer2").endswith("; True")
    assert better(10.0, 9.0, "cancer2") == "no-shortcut 0.0; False"


def searched(valid: np.ndarray, dataset: str = "glass1") -> Runs:
    sheet = Sheet("search", dataset, TRIED * (len(valid) // 36), SEARCH)
    count = len(valid)
    return pretend(
        sheet, valid=valid, test=valid + 1, epochs=np.arange(count) + 5.0, **{"class": np.full(count, 30.0)}
    )


def test_a_search_finds_best_neighbours_and_pivot() -> None:
    valid = np.full(36, 20.0)
    valid[[3, 35, 5]] = 10.0, 10.4, 10.9  # 4+0 linear, 16+8 sigmoid, 4+0 sigmoid
    (found,) = search_results(searched(valid))
    assert (str(found.best), str(found.pivot)) == ("4+0 linear", "16+8 sigmoid")
    wanted = {
        "valid_err": 10.0, "test_err": 11.0, "test_class_err": 30.0, "within_5pct": 1, "within_10pct": 2,
        "epochs_range_low": 8, "epochs_range_high": 40, "test_range_low": 11.4, "test_range_high": 11.9,
    }  # fmt: skip
    assert {name: found.numbers[name] for name in wanted} == pytest.approx(wanted)


def test_several_searches_give_the_printed_one_an_error() -> None:
    one = np.full(36, 20.0)
    one[3] = 8.6
    two = one.copy()
    two[3] = 8.8
    runs = {("search", "glass1"): searched(np.concatenate([one, two]))}
    five, seven = compare(make_plan([5, 7], BEST, datasets=["glass1"]), runs)
    cell = five.rows[0].cell("valid_err")
    assert cell is not None
    assert cell.ours == pytest.approx(8.7)
    assert cell.published == 8.604
    assert cell.published_error == pytest.approx(0.1414, abs=1e-4)
    choice = seven.rows[0].choice("pivot")
    assert choice is not None
    assert (choice.ours, choice.agrees) == ("4+0 linear ×2", False)
    assert "the printed numbers of connections are ours for 1 of 1" in headlines([seven])[0]


def test_tables_without_runs_are_left_out() -> None:
    plan = make_plan([8, 9], BEST, datasets=["glass1"])
    runs = {("pivot", "glass1"): as_printed(8, "glass1", plan.sheets[0])}
    tables = compare(plan, runs)
    assert [len(table.rows) for table in tables] == [1, 0]
    assert "Table 9" not in describe(tables)


def test_a_linear_topology_has_no_shortcuts_to_speak_of() -> None:
    assert str(Topology()) == "0+0 linear"
    assert Topology().connections(9, 6) == 60


@pytest.mark.parametrize("shortcuts", [True, False])
@pytest.mark.parametrize("topology", [Topology(), *dict.fromkeys(TRIED)])
def test_connections_are_those_of_the_network(topology: Topology, shortcuts: bool) -> None:
    made = replace(topology, shortcuts=shortcuts)
    assert made.connections(9, 6) == made.network(9, 6).connection_count


def test_errors_of_deviations_and_correlations_are_those_of_repetition() -> None:
    random = np.random.default_rng(2)
    normal = random.normal(size=(4000, 2, 60))
    assert deviation_error(normal[0, 0], 60) == pytest.approx(1 / np.sqrt(2 * 59), rel=0.3)
    skewed = np.exp(0.5 * normal)
    second = skewed[:, 0] + skewed[:, 1]
    spread = skewed[:, 0].std(axis=1, ddof=1)
    told = np.mean([deviation_error(values) for values in skewed[:400, 0]])
    assert told == pytest.approx(spread.std() / spread.mean(), rel=0.35)
    correlations = [np.corrcoef(pair)[0, 1] for pair in zip(skewed[:, 0], second, strict=True)]
    told = np.mean([correlation_error(*pair) for pair in zip(skewed[:100, 0], second[:100], strict=True)])
    assert told == pytest.approx(np.std(correlations), rel=0.25)
