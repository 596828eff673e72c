"""The figures that PROBEN1 printed, and the rule for pivot architectures held against its appendix D."""

import pytest

from redelve.data.proben1 import DATASETS, parse_name
from redelve.errors import SpecError
from redelve.studies.proben1 import printed
from redelve.studies.proben1.topologies import TRIED, Topology, candidates, pivot

ROWS = {3: 31, 4: 12, 5: 30, 6: 12, 7: 42, 8: 30, 9: 12, 10: 30, 11: 12, 12: 42}


@pytest.mark.parametrize("table", ROWS)
def test_every_table_has_its_datasets_once(table: int) -> None:
    names = [row["dataset"] for row in printed.rows(table)]
    assert len(names) == len(set(names)) == ROWS[table]
    kinds = {parse_name(name).dataset.kind for name in names}
    if table not in (7, 12):
        assert kinds == {"approximation" if table in (4, 6, 9, 11) else "classification"}


def test_numbers_are_the_printed_ones() -> None:
    row = printed.figures(8)["glass1"]
    assert row.correlation == 0.33
    assert row.measures["test"] == printed.PrintedTables(9.75, 0.41, 60)
    assert row.measures["test"].error == pytest.approx(0.41 / 60**0.5)
    assert printed.figures(3)["mushroom1"].measures["epochs"] == printed.PrintedTables(3000, None, 1)
    assert "class" not in printed.figures(9)["flare1"].measures
    assert printed.searches()["cancer1"].numbers["epochs_range_high"] == 205
    assert printed.searches()["cancer2"].numbers["epochs_range_low"] == 95
    assert "test_range_low" not in printed.searches()["cancer2"].numbers
    assert printed.verdicts()["gene2"] == printed.PrintedVerdict("gene2", "no-shortcut", 0.0, False)
    assert sum(verdict.better is not None for verdict in printed.verdicts().values()) == 32


def test_other_tables_are_refused() -> None:
    with pytest.raises(SpecError, match="tables 3 to 12"):
        printed.rows(2)


def test_our_networks_have_the_printed_numbers_of_connections() -> None:
    for name, (topology, connections) in printed.pivots().items():
        facts = DATASETS[parse_name(name).dataset.name]
        assert topology.connections(facts.inputs, facts.outputs) == connections, name


def test_thirty_six_networks_were_tried() -> None:
    assert len(TRIED) == 36
    assert sum(one.output == "sigmoid" for one in TRIED) == 12
    assert all(one.shortcuts for one in TRIED)


def test_appendix_d_has_as_many_candidates_as_tables_5_and_6_count() -> None:
    wrong = {
        name: len(shortlist) - 1
        for name, shortlist in printed.shortlists().items()
        if len(shortlist) - 1 != printed.searches()[name].numbers["within_5pct"]
    }
    assert wrong == {"heart3": 17}  # table 5 counts 18
    assert all(
        shortlist[0] == printed.searches()[name].best for name, shortlist in printed.shortlists().items()
    )


def test_the_pivot_rule_gives_table_7_but_for_four_datasets() -> None:
    differing = []
    for name, shortlist in printed.shortlists().items():
        facts = parse_name(name).dataset
        if pivot(shortlist, facts.inputs, facts.outputs) != printed.pivots()[name][0]:
            differing.append(name)
    assert len(printed.shortlists()) == 41
    assert differing == ["building2", "building3", "card2", "diabetes1"]


def test_the_pivot_prefers_linear_outputs_only_if_they_appear_twice() -> None:
    linear, sigmoid, small = Topology((8,)), Topology((8,), "sigmoid"), Topology((4,))
    assert pivot([sigmoid, small, linear], 5, 2) == sigmoid
    assert pivot([linear, sigmoid], 5, 2) == linear
    assert pivot([sigmoid, linear, small, linear], 5, 2) == linear


def test_candidates_are_within_five_per_cent_of_the_best() -> None:
    assert candidates([2.2, 2.0, 2.1, 2.11, 2.05]) == [1, 4, 2]
