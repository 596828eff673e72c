"""PROBEN1's words and errors in a report of results on its own problems."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from redelve.findings import Findings, find
from redelve.report.page import all_tables, render_html
from redelve.report.sections.card import benchmark_card
from redelve.studies.proben1.checklist import errors_table, suggested_words, variants
from tests.report.made import made_findings, made_results, method_facts, task_facts
from tests.report.test_runs import on_proben1


def told(identity: Mapping[str, object]) -> Findings:
    """Results of a method with this identity and of another that tells nothing."""
    found = on_proben1()
    facts = method_facts("net-0", **identity)
    return find(replace(found.results, methods={**found.results.methods, "net-0": facts}))


class TestCard:
    def test_points_have_proben1_s_words_where_they_follow_from_the_records(self) -> None:
        card = benchmark_card(on_proben1())
        assert [point.number for point in card.points if point.words] == [1, 2, 7, 8]
        words = {point.number: point.words for point in card.points}
        assert "All benchmark problems were taken from the PROBEN1 benchmark set" in words[1]
        assert "squared error percentages" in words[7]
        assert "10 runs were made. All of them are included." in words[8]
        assert "test set squared error percentage of net-0 had mean" in words[8]
        assert not card.points[0].missing
        for text in (card.markdown(), card.latex(), render_html(on_proben1())):
            assert "10 runs were made" in text

    def test_who_must_be_named_is_named(self) -> None:
        facts = task_facts("/cancer1/class/std.525", 525, instances=1, usage="historical")
        found = find(made_results({"net": 0.3}, tasks=[facts]))
        assert "Wolberg" in suggested_words(found)[1]

    def test_other_tasks_and_files_of_the_same_name_have_none(self) -> None:
        assert suggested_words(made_findings()) == {}
        assert suggested_words(on_proben1(usage="assessment")) == {}
        assert errors_table(on_proben1(usage="assessment")) is None
        assert variants(task_facts("/kin/dist/std.64", 64, usage="historical")) == ()

    def test_other_problems_beside_are_not_said_to_be_proben1_s(self) -> None:
        tasks = [
            task_facts("/glass1/class/std.161", 161, instances=1, usage="historical"),
            task_facts("/mine/class/std.100", 100),
        ]
        words = suggested_words(find(made_results({"net": 0.3}, tasks=tasks)))
        assert words[1] == "Problems: glass1, mine."
        assert 2 not in words

    def test_failures_leave_the_eighth_point_to_the_author(self) -> None:
        found = on_proben1()
        first, *rest = found.results.records
        lost = replace(first, status="failed", losses={})
        assert 8 not in suggested_words(find(replace(found.results, records=(lost, *rest))))

    def test_networks_that_tell_of_themselves_are_described(self) -> None:
        identity = {
            "network": {"hidden": [16, 8], "shortcuts": True, "activation": "x/(1 + |x|)"},
            "initial_weights": [-0.1, 0.1],
            "algorithm": "RPROP",
            "parameters": {"eta_plus": 1.2},
            "termination": "GL_5",
        }
        words = suggested_words(told(identity))
        # three inputs, one output: 4·16 + 20·8 + 28·1 weights with biases
        assert words[3].startswith(
            "net-0: A 3-16-8-1 network with all feed forward connections, including all"
        )
        assert "252 free parameters" in words[3]
        assert words[4] == "net-0: Initialization: random weights from range -0.1…0.1."
        assert words[5] == "net-0: Training algorithm: RPROP. Parameters: eta_plus = 1.2."
        assert words[6] == "net-0: Termination: GL_5."

    def test_scikit_learn_s_networks_are_described(self) -> None:
        identity = {
            "estimator": {
                "class": "sklearn.neural_network.MLPRegressor",
                "parameters": {"hidden_layer_sizes": [8], "activation": "relu"},
            }
        }
        words = suggested_words(told(identity))
        assert words[3].startswith(
            "net-0: A 3-8-1 network with all feed forward connections between adjacent"
        )
        assert "hidden nodes: max(0, x). Activation function of the output nodes: identity." in words[3]
        assert not {4, 5, 6} & set(words)

    def test_errors_are_a_table(self) -> None:
        found = on_proben1()
        table = errors_table(found)
        assert table is not None
        assert table in all_tables(found)
        mean = found.tasks[0].methods[0].mean
        assert mean is not None
        assert table.rows[0][3].numbers[0] == pytest.approx(100 * mean)
        assert table.rows[0][4].text == "–"
