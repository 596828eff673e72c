"""Learning objects written as the paper writes them."""

from pathlib import Path

import pytest

from redelve.errors import SpecError
from redelve.methods.clop import OBJECTS, UnsuitedError, parse_object
from redelve.methods.clop.notation import objects_by_name


def test_every_object_can_be_written() -> None:
    assert set(objects_by_name()) == {each.called for each in OBJECTS} | {"stacked"}


def test_the_examples_of_the_paper_are_read() -> None:
    cm = parse_object("chain({standardize, neural})")
    assert [each.called for each in cm.objects] == ["standardize", "neural"]
    em = parse_object("ensemble({neural, kridge, naive})")
    assert [each.called for each in em.objects] == ["neural", "kridge", "naive"]
    assert parse_object("cv(chain({standardize, neural}), folds=5)").folds == 5


def test_commas_make_a_chain_and_hyperparameters_are_set() -> None:
    made = parse_object("s2n(w_min=-0.5), ensemble([rf(units=5), kridge(balance=True)], weights=stacked)")
    assert made.called == "chain"
    assert made.get_params()["s2n__w_min"] == -0.5
    assert made.get_params()["ensemble__rf__units"] == 5
    assert callable(made.objects[1].weights)
    values = parse_object("grid(kridge, {'shrinkage': [0.1, 1]})").values
    assert values == {"shrinkage": [0.1, 1]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("krigde", 'did you mean "kridge"'),
        ("", "is no learning object: write one as kridge"),
        ("kridge(", "write one as kridge"),
        ("knn-cv-1", "is neither a learning object"),
        ("rf(5)", "rf takes units, mtry, balance, random_state"),
        ("rf(trees=5)", "rf takes units"),
        ("kridge(**{'balance': 1})", "cannot be made"),
        ("chain", "chain takes objects"),
        ("stacked", "is no learning object"),
        ("7", "is no learning object"),
        ("[" * 1500, "is no learning object"),
        ("kridge" * 1000, "is no learning object"),
    ],
)
def test_what_is_no_object_is_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message.replace("(", r"\(")):
        parse_object(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('pathlib').Path('made').touch()",
        "open('made', 'w')",
        "kridge.__class__",
        "(lambda: open('made', 'w'))()",
        "kridge(shrinkage=open('made', 'w'))",
        "[open('made', 'w') for _ in [1]]",
        "f'{open(chr(109), chr(119))}'",
    ],
)
def test_nothing_that_is_written_is_run(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError):
        parse_object(text)
    assert list(tmp_path.iterdir()) == []


def test_values_out_of_range_are_refused_when_training_begins() -> None:
    with pytest.raises(UnsuitedError, match="units is 0"):
        parse_object("rf(units=0)").fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
