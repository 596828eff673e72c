"""Specification files: what is read is what was written, the manual's figures, and every violation found."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redelve.data.delve.case_lists import (
    read_case_numbers,
    read_instances,
    write_case_numbers,
    write_instances,
)
from redelve.data.delve.coding_files import read_codings, write_codings
from redelve.data.delve.dataset_spec import parse_dataset_spec, read_dataset_spec, write_dataset_spec
from redelve.data.delve.figure_files import (
    parse_losses,
    read_normalization,
    read_test_set_stats,
    write_losses,
    write_normalization,
    write_test_set_stats,
)
from redelve.data.delve.prior_files import parse_prior, read_prior, write_prior
from redelve.data.delve.prototask_spec import (
    parse_prototask_spec,
    read_prototask_spec,
    write_prototask_spec,
)
from redelve.data.problems import Problems
from redelve.errors import FormatError, RedelveError
from redelve.model import DatasetSpec
from redelve.model.coding import Coding
from tests import strategies

# figure 3.3 of the manual
DEMO = """\
Origin: artificial
Usage: development
Order: uninformative
Attributes:
 1 SEX      u male female # Sex of the person
 2 AGE      u [0,Inf)    # Age of the person in years
 3 SIBLINGS u 0..Inf     # Number of siblings the person has
 4 INCOME   u [0,Inf)    # The person's annual income (dollars)
 5 COLOUR   u pink blue red green purple # The person's favourite colour
"""
# figure 4.4 of the manual
AGE = """\
Cases: all
Inputs: 1 3 4 5
Order: retain
Origin: artificial
Targets: 2
Test-Set-Size: 1024
Training-Set-Sizes: 32 64 128 256 512
Test-Set-Selection: hierarchical
Maximum-Number-Of-Instances: 8
"""
PRIOR = "1 NLMH binary\n3 NLMH integer\n4 NLMH real\n5 NLMH nominal\n2 NLMH real\n"


def demo() -> DatasetSpec:
    return read_dataset_spec(DEMO, "demo", "Dataset.spec")


def test_the_manuals_figures_are_read() -> None:
    spec = demo()
    assert [attribute.name for attribute in spec.attributes] == ["SEX", "AGE", "SIBLINGS", "INCOME", "COLOUR"]
    assert str(spec.attributes[4].range) == "pink blue red green purple"
    prototask = read_prototask_spec(AGE, "age", spec, "Prototask.spec")
    assert (prototask.inputs, prototask.targets, prototask.training_set_sizes) == (
        (1, 3, 4, 5),
        (2,),
        (32, 64, 128, 256, 512),
    )
    prior = read_prior(PRIOR, "std", spec, "std.prior")
    assert prior.attribute(5).type == "nominal"


@given(strategies.dataset_specs())
def test_dataset_specifications_round_trip(spec: DatasetSpec) -> None:
    assert read_dataset_spec(write_dataset_spec(spec), spec.name, "x") == spec


@given(st.data())
def test_prototask_specifications_round_trip(data: st.DataObject) -> None:
    spec = data.draw(strategies.dataset_specs())
    prototask = data.draw(strategies.prototasks(spec))
    assert read_prototask_spec(write_prototask_spec(prototask), prototask.name, spec, "x") == prototask


@given(st.data())
def test_priors_round_trip(data: st.DataObject) -> None:
    spec = data.draw(strategies.dataset_specs())
    prior = data.draw(strategies.priors(spec))
    assert read_prior(write_prior(prior), prior.name, spec, "x") == prior


@given(st.data())
def test_codings_round_trip(data: st.DataObject) -> None:
    spec = data.draw(strategies.dataset_specs())
    codings = {attribute.number: data.draw(strategies.codings) for attribute in spec.attributes}
    defaults = {number: Coding("copy") for number in codings}
    assert read_codings(write_codings(codings, spec), "x", spec, defaults) == codings


def test_coding_used_looks_as_delve_wrote_it() -> None:
    codings = {2: Coding("nm-abs"), 1: Coding("0/1", passive="male"), 4: Coding("nm-sqr", center=0.5)}
    assert write_codings(codings, demo()) == (
        "AGE nm-abs  scale=sqrt\nINCOME nm-sqr  center=0.5 scale=sqrt\nSEX 0/1  passive=male scale=sqrt\n"
    )


@given(st.dictionaries(st.integers(0, 99), strategies.normalizations))
def test_normalization_files_round_trip(statistics: dict[int, object]) -> None:
    text = write_normalization(statistics)  # type: ignore[arg-type]
    assert read_normalization(text, "x") == statistics


@given(
    st.integers(1, 3).flatmap(
        lambda n: st.lists(st.tuples(*[st.none() | strategies.numbers] * n), min_size=5, max_size=5)
    )
)
def test_test_set_stats_round_trip(rows: list[tuple[float | None, ...]]) -> None:
    stats = dict(zip("LQAZS", rows, strict=True))
    assert read_test_set_stats(write_test_set_stats(stats), "x", len(rows[0])) == stats


def test_the_surplus_undefined_of_delve_is_dropped() -> None:
    text = "L -4.5 undefined\nQ undefined\nA 17.2\nZ undefined\nS 488.8\n"
    assert read_test_set_stats(text, "x", 1)["L"] == (-4.5,)


@given(st.lists(strategies.numbers | st.just(float("inf"))))
def test_loss_files_round_trip(losses: list[float]) -> None:
    assert parse_losses(write_losses(losses).split(), "x").tolist() == losses


@given(st.permutations(range(1, 30)))
def test_orders_round_trip(order: list[int]) -> None:
    assert read_case_numbers(write_case_numbers(order), "x") == list(order)


@given(
    st.lists(st.tuples(*[st.lists(st.integers(1, 50), min_size=1, unique=True).map(tuple)] * 2), min_size=1)
)
def test_explicit_instances_round_trip(lists: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    assert read_instances(write_instances(lists), "x") == tuple(lists)


READERS: dict[str, Callable[[str], object]] = {
    "Dataset.spec": lambda text: read_dataset_spec(text, "d", "x"),
    "Prototask.spec": lambda text: read_prototask_spec(text, "p", demo(), "x"),
    "prior": lambda text: read_prior(text, "std", demo(), "x"),
    "encoding": lambda text: read_codings(text, "x", demo(), {1: Coding("copy")}),
    "normalize": lambda text: read_normalization(text, "x"),
    "Test-set-stats": lambda text: read_test_set_stats(text, "x", 1),
    "loss": lambda text: parse_losses(text.split(), "x"),
    "order": lambda text: read_case_numbers(text, "x"),
    "instances": lambda text: read_instances(text, "x"),
}
FRAGMENTS = [*DEMO.split(), *AGE.split(), *PRIOR.split(), "normalization", "options", "train 0:"]
FRAGMENTS += ["\n", " ", ":", "#", "=", "?", "Inf", "nan"]
GIBBERISH = st.lists(st.sampled_from(FRAGMENTS))


@pytest.mark.parametrize("kind", READERS)
@given(
    text=st.text()
    | st.lists(st.sampled_from(FRAGMENTS)).map(" ".join)
    | st.lists(st.sampled_from(FRAGMENTS)).map("".join)
)
def test_no_text_gives_a_traceback(kind: str, text: str) -> None:
    try:
        READERS[kind](text)
    except RedelveError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("kind", ["Dataset.spec", "Prototask.spec", "prior"])
@given(st.data())
def test_no_damaged_line_gives_a_traceback(kind: str, data: st.DataObject) -> None:
    source = {"Dataset.spec": DEMO, "Prototask.spec": AGE, "prior": PRIOR}[kind]
    place = data.draw(st.integers(0, len(source) - 1))
    damage = data.draw(st.text(max_size=5))
    try:
        READERS[kind](source[:place] + damage + source[place + data.draw(st.integers(0, 20)) :])
    except RedelveError as error:
        assert "\n" not in str(error)


def test_all_violations_are_found_in_one_reading() -> None:
    text = (
        DEMO.replace("artificial", "invented")
        .replace("3 SIB", "7 SIB")
        .replace("0..Inf", "0..x")
        .replace("2 AGE      u", "2 AGE      z")
    )
    problems = Problems("Dataset.spec")
    parse_dataset_spec(text, "demo", problems)
    found = [(problem.line, problem.rule.split(":")[0]) for problem in problems]
    assert found == [
        (6, 'bad control "z"'),
        (7, 'expected index 3 but got "7"'),
        (7, 'expected integer limits in range "0..x"'),
        (1, 'bad origin "invented"'),
    ]


def test_violations_of_prototasks_and_priors() -> None:
    problems = Problems("x")
    parse_prototask_spec(
        AGE.replace("1 3 4 5", "1 3 9 2").replace("1024", "many").replace("retain", "../order"),
        "age",
        demo(),
        problems,
    )
    rules = "; ".join(problem.message for problem in problems)
    for rule in (
        'no attribute "9"',
        'got "many"',
        "AGE can't be both",
        "file name in the prototask directory",
    ):
        assert rule in rules
    problems = Problems("x")
    parse_prior(
        "1 X binary\n2 NLMH funny\n5 NLMH nominal passive=black\n5 NLMH nominal\n", "std", demo(), problems
    )
    rules = "; ".join(problem.message for problem in problems)
    for rule in ('bad level "X"', 'unknown type "funny"', 'bad passive value "black"', "has two lines"):
        assert rule in rules


def test_keys_may_stand_in_any_order_and_case_with_comments() -> None:
    lines = AGE.lower().replace("cases: all", "CASES : all   # every one").splitlines()
    shuffled = "\n".join(reversed(lines)) + "\n\n# done\n"
    assert read_prototask_spec(shuffled, "age", demo(), "x") == read_prototask_spec(AGE, "age", demo(), "x")


def test_duplicate_keys_name_both_lines() -> None:
    with pytest.raises(FormatError, match='line 10: "cases" is specified twice, first on line 1'):
        read_prototask_spec(AGE + "Cases: all\n", "age", demo(), "x")


def test_losses_must_be_numbers() -> None:
    with pytest.raises(FormatError, match='line 2: expected a loss but got "nan"'):
        parse_losses(["1", "nan"], "x")
    assert np.isinf(parse_losses(["Inf"], "x")[0])
