"""The eight points of PROBEN1's checklist in sentences."""

import pytest

from redelve.stats.many_runs import summarise_runs
from redelve.stats.output_errors import STRICT
from redelve.studies.proben1.checklist_phrases import TITLES, Benchmark, Network, phrases_for

# Table 7: hidden layers of the pivot architectures, and their connections
TABLE_7 = [
    ((14, 16, 3), 333), ((14, 16, 8, 3), 605), ((9, 4, 2, 2), 100), ((51, 32, 2), 1832), ((8, 32, 2), 370),
    ((24, 32, 3), 971), ((120, 4, 2, 3), 1115), ((9, 16, 8, 6), 572), ((35, 32, 2), 1288), ((35, 2, 1), 110),
    ((35, 8, 4, 1), 512), ((58, 32, 3), 2161), ((82, 16, 8, 19), 4153), ((21, 16, 8, 3), 794),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "connections"), TABLE_7)
def test_connections_are_counted_as_in_table_7(nodes: tuple[int, ...], connections: int) -> None:
    assert Network(nodes, shortcuts=True).connections == connections


def test_connections_between_adjacent_layers() -> None:
    assert Network((5, 4, 6), shortcuts=False).connections == (5 + 1) * 4 + (4 + 1) * 6


def full() -> Benchmark:
    summary = summarise_runs([2.0, 2.34, 3.0] * 10, [1.0, 0.5, 2.0] * 10)
    return Benchmark(
        ("cancer1", "glass1d"),
        network=Network((9, 4, 2, 2), shortcuts=True, hidden="x/(1 + |x|)"),
        initial_weights=(-0.1, 0.1),
        algorithm="RPROP (Riedmiller and Braun 1993)",
        parameters={"η⁺": 1.2, "η⁻": 0.5},
        parameters_found="educated guesses, no search",
        termination="GL5, or training progress below 0.1 per thousand, or 3000 epochs",
        runs=30,
        results={"test set classification error": summary},
    )


def test_all_eight_points_are_filled_in() -> None:
    phrases = phrases_for(full())
    assert [phrase.number for phrase in phrases] == list(range(1, 9))
    assert tuple(phrase.title for phrase in phrases) == TITLES
    assert all(phrase.text and not phrase.missing for phrase in phrases)


def test_the_phrases_are_those_the_report_suggests() -> None:
    text = {phrase.number: phrase.text for phrase in phrases_for(full())}
    assert "All benchmark problems were taken from the PROBEN1 benchmark set" in text[1]
    assert "William H. Wolberg" in text[1]
    assert (
        "A 9-4-2-2 network with all feed forward connections, including all shortcut connections" in text[3]
    )
    assert "random weights from range -0.1…0.1" in text[4]
    assert "winner-takes-all" in text[7]
    assert (
        "The network with lowest validation set error in 30 runs had a test set classification error of 2.34."
        in text[8]
    )


def test_what_is_not_known_is_left_to_the_author() -> None:
    phrases = phrases_for(Benchmark(("my data",)))
    assert [phrase.number for phrase in phrases if phrase.missing] == [1, 2, 3, 4, 5, 6, 8]


def test_other_sizes_rules_and_numbers_of_runs_are_said() -> None:
    known = Benchmark(
        ("glass1",),
        sizes=(107, 0, 107),
        classification=STRICT,
        runs=24,
        half_left_out=True,
        outliers=2,
        representation="using only one output",
    )
    text = {phrase.number: phrase for phrase in phrases_for(known)}
    assert "107 examples used for the training set and 107 examples used for the test set" in text[2].text
    assert "below 0.3 being accepted as 0 and those above 0.7 as 1" in text[7].text
    assert "Exactly half of them" in text[8].text
    assert "glass1, using only one output" in text[1].text
    assert text[8].missing == ("10, 30, 20 or 60 runs, or ten times these, are easier to compare",)
