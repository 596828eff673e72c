"""A challenge's folder and its phases: what is read, what is refused and on which line."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redelve.challenge import Challenge, Phases, challenge_text, instant_in, read_challenge
from redelve.errors import FormatError, LocationError, RedelveError, SpecError
from tests.challenge.small import PHASES, small_challenge

TEXT = """\
format = 1
title = "How well?"
description = "A test"

[phases]
opens = 2026-01-01T00:00:00+01:00
validation_labels = "2026-02-01T00:00:00"
ends = 2026-03-01T12:00:00
time_zone = "Europe/Zurich"

[limits]
submissions_per_day = 3

[[datasets]]
name = "ada"
kind = "dense"
features = 48
train = 4147
valid = 415
test = 41471

[[datasets]]
name = "nova"
kind = "sparse-binary"
features = 16969
train = 1754
valid = 175
test = 17537
about = "words"
"""


def read(folder: Path, text: str) -> Challenge:
    (folder / "challenge.toml").write_text(text, encoding="utf-8")
    return read_challenge(folder)


def test_a_challenge_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, TEXT)
    assert (found.title, found.names) == ("How well?", ("ada", "nova"))
    assert found.dataset("nova").sizes == {"train": 1754, "valid": 175, "test": 17537}
    assert found.dataset("nova").about == "words"
    assert (found.limits.submissions_per_day, found.limits.ranked_entries) == (3, 5)
    assert found.phases.opens == datetime(2025, 12, 31, 23, tzinfo=UTC)
    assert found.phases.validation_labels == datetime(2026, 1, 31, 23, tzinfo=UTC)
    assert found.phases.ends == datetime(2026, 3, 1, 11, tzinfo=UTC)


def test_a_challenge_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = read(tmp_path, TEXT)
    again = challenge_text(
        'a "title" \\', "with\nlines\t\x00\x7fé", found.datasets, found.phases, found.limits
    )
    other = read(tmp_path, again)
    assert (other.title, other.description) == ('a "title" \\', "with\nlines\t\x00\x7fé")
    assert (other.datasets, other.phases, other.limits) == (found.datasets, found.phases, found.limits)


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("format = 1", "format = 2"), 1, "expected format = 1"),
        (('title = "How well?"', "title = 7"), 2, 'expected title = "…"'),
        (("[limits]", "[bounds]"), 11, 'unknown key "bounds"'),
        (("submissions_per_day = 3", "submissions_per_day = 0"), 12, "from 1 to"),
        (("submissions_per_day = 3", "submissions_per_day = true"), 12, "from 1 to"),
        (('kind = "sparse-binary"', 'kind = "thin"'), 24, "kind is one of dense, sparse, sparse-binary"),
        (('name = "nova"', 'name = "ADA"'), 14, 'two datasets are called "ada"'),
        (('name = "nova"', 'name = "../nova"'), 23, "no name for a dataset"),
        (("valid = 175", "valid = -1"), 27, "expected valid to be a whole number"),
        (("train = 1754", ""), 22, "expected train to be a whole number"),
        (('time_zone = "Europe/Zurich"', 'time_zone = "Mars/Olympus"'), 9, "unknown time zone"),
        (('time_zone = "Europe/Zurich"\n', ""), 7, "has no offset"),
        (("ends = 2026-03-01T12:00:00", "ends = 2025-03-01T12:00:00"), 8, "not after it opens"),
        (('validation_labels = "2026-02-01T00:00:00"', 'validation_labels = "soon"'), 7, "no date and time"),
        (
            ('validation_labels = "2026-02-01T00:00:00"', "validation_labels = 2027-01-01T00:00:00Z"),
            8,
            "not between",
        ),
        (("ends = 2026-03-01T12:00:00", ""), 5, "needs ends ="),
        (("[phases]", "[phases"), 5, "this is no TOML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, change: tuple[str, str], line: int, message: str
) -> None:
    assert change[0] in TEXT
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, TEXT.replace(*change))
    if change[1]:
        assert caught.value.line == line


def test_a_folder_without_challenge_tells_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(LocationError, match="redelve challenge example"):
        read_challenge(tmp_path)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("challenge")
    (folder / "challenge.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(RedelveError):
        read_challenge(folder)


def test_phases_follow_the_clock() -> None:
    second = timedelta(seconds=1)
    told = {
        PHASES.opens - second: "before",
        PHASES.opens: "development",
        PHASES.validation_labels - second: "development",
        PHASES.validation_labels: "labels",
        PHASES.ends - second: "labels",
        PHASES.ends: "ended",
    }
    assert {instant: PHASES.at(instant) for instant in told} == told
    with pytest.raises(SpecError, match="no time zone"):
        PHASES.at(datetime(2026, 1, 1))


def test_phases_are_in_order() -> None:
    with pytest.raises(SpecError, match="not after it opens"):
        Phases(PHASES.ends, PHASES.ends, PHASES.opens)
    with pytest.raises(SpecError, match="no time zone"):
        Phases(datetime(2026, 1, 1), PHASES.ends, PHASES.ends)


def test_local_times_that_come_twice_or_never_are_refused() -> None:
    with pytest.raises(SpecError, match="twice in Europe/Zurich"):
        instant_in("2026-10-25T02:30:00", "Europe/Zurich")
    with pytest.raises(SpecError, match="not at all in Europe/Zurich"):
        instant_in("2026-03-29T02:30:00", "Europe/Zurich")
    assert instant_in("2026-10-25T02:30:00+02:00").hour == 0


@pytest.mark.parametrize("zone", ["../../etc/passwd", "", "/etc/localtime", "a\0b"])
def test_a_time_zone_is_no_path(zone: str) -> None:
    with pytest.raises(SpecError, match="unknown time zone"):
        instant_in("2026-01-01T00:00:00", zone)


def test_truths_are_read_by_part(tmp_path: Path) -> None:
    challenge = small_challenge(tmp_path / "c")
    assert {part: challenge.truths("anna", part).size for part in ("train", "valid", "test")} == {
        "train": 80,
        "valid": 8,
        "test": 800,
    }
    assert not challenge.truths("anna", "test").flags.writeable
    with pytest.raises(LocationError, match='no dataset "nora": the challenge has anna, berta'):
        challenge.truths("nora", "test")
    with pytest.raises(LocationError, match="no part"):
        challenge.truths("anna", "../secret")


def test_labels_of_the_wrong_number_or_of_one_class_are_refused(tmp_path: Path) -> None:
    challenge = small_challenge(tmp_path / "c")
    challenge.labels_path("anna", "test").write_text("1\n")
    with pytest.raises(FormatError, match="expected 800 lines"):
        challenge.truths("anna", "test")
    challenge.labels_path("anna", "test").write_text("1\n" * 800)
    with pytest.raises(SpecError, match="both classes"):
        challenge.truths("anna", "test")


def test_the_participants_side_needs_no_secrets(tmp_path: Path) -> None:
    from shutil import rmtree

    from redelve.challenge import read_public

    folder = small_challenge(tmp_path / "c").folder
    rmtree(folder / "secret")
    data = read_public(read_challenge(folder), "anna")
    assert data.patterns["test"].shape == (800, 5)
    assert data.labels.size == 80
