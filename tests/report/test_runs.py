"""Runs with different seeds in a report."""

from dataclasses import replace
from pathlib import Path

import pytest

from redelve.findings import Findings, find
from redelve.report.page import render_html, render_latex, render_markdown, write_report
from redelve.report.sections import panels
from redelve.report.sections.one_prototask import runs_tables
from redelve.report.sections.overview import MOST_PAIRS, runs_text, summarise
from redelve.report.uncertainty_and_costs import variance_shares
from tests.report.made import made_findings, made_results, task_facts


def on_proben1(runs: int = 10, methods: int = 2, usage: str = "historical") -> Findings:
    facts = task_facts("/glass1/class/std.161", 161, instances=1, usage=usage)
    means = {f"net-{number}": 0.3 + 0.1 * number for number in range(methods)}
    return find(made_results(means, tasks=[facts], runs=runs))


class TestTables:
    def test_statistics_come_in_the_order_of_section_2_8(self) -> None:
        found = on_proben1()
        statistics, comparisons = runs_tables(found, panels(found)[0])
        assert [column.title for column in statistics.columns][2:6] == [
            "Runs",
            "Mean",
            "SD (n − 1)",
            "Best run",
        ]
        assert [row[1].text for row in statistics.rows] == ["net-0", "net-1"]
        low, *_, high = (cell.numbers[0] for cell in statistics.rows[0][6:])
        assert low is not None
        assert high is not None
        assert low < high
        assert [cell.text for cell in comparisons.rows[0][1:3]] == ["net-0", "net-1"]
        assert "neither training sets nor test cases" in comparisons.caption
        assert any("nothing of other training sets" in text for text in comparisons.notes)

    def test_p_values_of_samples_that_are_not_normal_are_in_parentheses(self) -> None:
        found = on_proben1(runs=30)
        records = [
            replace(one, losses={"S": one.losses["S"] * 9}) if one.job.run < 12 else one
            for one in found.results.records
        ]
        odd = find(replace(found.results, records=tuple(records)))
        cells = [table.rows[0][5].text for table in (runs_tables(f, panels(f)[0])[1] for f in (found, odd))]
        assert [text.startswith("(") for text in cells] == [False, True]

    def test_several_training_sets_have_no_such_tables(self) -> None:
        found = made_findings(runs=2)
        assert runs_tables(found, panels(found)[0]) == ()
        assert runs_text(found, panels(found)[0], 100) == ""

    @pytest.mark.parametrize("render", [render_html, render_markdown, render_latex])
    def test_every_format_has_them(self, render: object) -> None:
        text = render(on_proben1())  # type: ignore[operator]
        assert "Runs with different seeds" in text
        assert "nothing of other training sets" in text

    def test_a_folder_has_them_as_files(self, tmp_path: Path) -> None:
        write_report(on_proben1(), tmp_path / "out")
        head = (tmp_path / "out/tables/runs-glass1-class.csv").read_text().splitlines()[0]
        assert head.startswith("training_set_size,Method,runs,mean,sd,best,minimum")


class TestText:
    def test_a_terminal_shows_runs_and_both_p_values(self) -> None:
        text = summarise(on_proben1())
        assert "net-0  10 runs; mean " in text
        assert "over runs (new seeds on these sets)" in text

    def test_many_pairs_are_left_to_the_report(self) -> None:
        found = on_proben1(runs=3, methods=5)
        text = runs_text(found, panels(found)[0], 100)
        assert text.count("over runs") == MOST_PAIRS
        assert "The report has 4 more such comparisons." in text

    def test_one_partition_has_seeds_where_others_have_training_sets(self) -> None:
        (task,) = on_proben1().tasks
        assert set(variance_shares(task.methods[0])) == {"seeds", "test cases", "residual"}
        assert "training sets would make" not in summarise(on_proben1())
