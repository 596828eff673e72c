"""Damage never becomes a number: a flipped bit or a cut-off end of any file is refused or changes nothing."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from redelve.errors import FormatError, RedelveError
from redelve.store import Archive, snapshot
from redelve.store.record_rows import RecordTable
from tests.store.made import half_compacted

LOCKS = ("lock", "at-work")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return half_compacted(tmp_path_factory.mktemp("damage") / "a")


def everything(root: Path) -> bytes:
    """All that can be shown of an archive: losses, answers, truths, costs, messages, machines."""
    return pickle.dumps(Archive.open(root).load(answers=True))


def compacted(root: Path) -> bytes:
    Archive.open(root).compact()
    return everything(root)


def merged(root: Path) -> bytes:
    other = root.parent / "merged"
    Archive.open(other, create=True).merge(Archive.open(root))
    return everything(other)


def verified(root: Path) -> bytes:
    found = Archive.open(root).verify()
    if found.problems:
        raise FormatError(root, None, str(found.problems[0]))
    return everything(root)


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file() and path.name not in LOCKS)


@contextmanager
def damaged(path: Path, rng: np.random.Generator) -> Iterator[str]:
    """One bit of a file flipped, or its end cut off, and mended afterwards."""
    sound = path.read_bytes()
    place = int(rng.integers(len(sound)))
    if rng.random() < 0.7:
        path.write_bytes(
            sound[:place] + bytes([sound[place] ^ (1 << int(rng.integers(8)))]) + sound[place + 1 :]
        )
    else:
        path.write_bytes(sound[:place])
    yield f"{path.name} at byte {place} of {len(sound)}"
    path.write_bytes(sound)


def shown_wrongly(root: Path, times: int, seed: int) -> tuple[list[str], int]:
    """The damages that were read as something else, and how many were refused."""
    rng, sound = np.random.default_rng(seed), everything(root)
    wrong, refused = [], 0
    for _ in range(times):
        with damaged(rng.choice(np.array(files(root), dtype=object)), rng) as what:
            try:
                if everything(root) != sound:
                    wrong.append(what)
            except RedelveError:
                refused += 1
    return wrong, refused


@pytest.mark.parametrize("times", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_damage_is_refused_or_changes_nothing(root: Path, times: int) -> None:
    wrong, refused = shown_wrongly(root, times, seed=times)
    assert wrong == []
    assert refused > 0.8 * times


def test_files_read_ahead_give_the_same_and_their_damage_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead: list[Path] = []
    read = RecordTable.read_ahead

    def noted(table: RecordTable, names: Iterable[str], starts: Sequence[int]) -> None:
        ahead.append(table.path)
        read(table, names, starts)

    monkeypatch.setattr(RecordTable, "read_ahead", noted)
    sound = everything(root)
    assert ahead == []
    monkeypatch.setattr(snapshot, "MANY_CASES", 1)
    assert everything(root) == sound
    assert len(ahead) > 1
    for path in sorted(ahead):
        held = path.read_bytes()
        path.write_bytes(held[:-1] + bytes([held[-1] ^ 1]))
        with pytest.raises(FormatError, match=re.escape(str(path))):
            everything(root)
        path.write_bytes(held)


@pytest.mark.parametrize("use", [compacted, merged])
def test_damage_is_not_handed_on(root: Path, tmp_path: Path, use: Callable[[Path], bytes]) -> None:
    rng = np.random.default_rng(5)
    sound = use(shutil.copytree(root, tmp_path / "sound" / "a"))
    for number in range(20):
        copy = shutil.copytree(root, tmp_path / str(number) / "a")
        with damaged(rng.choice(np.array(files(copy), dtype=object)), rng) as what:
            try:
                assert use(copy) == sound, what
            except RedelveError:
                continue


@pytest.mark.parametrize("place", ["jobs", "losses", "fresh", "losses/method=lin"])
def test_links_inside_an_archive_are_refused(root: Path, tmp_path: Path, place: str) -> None:
    copy, elsewhere = shutil.copytree(root, tmp_path / "a"), tmp_path / "elsewhere"
    (copy / place).rename(elsewhere)
    (copy / place).symlink_to(elsewhere)
    before = files(elsewhere)
    with pytest.raises(FormatError, match="symbolic link leads out of the archive"):
        Archive.open(copy).compact()
    assert files(elsewhere) == before


@pytest.mark.parametrize(
    "instead",
    [lambda _: None, lambda path: path.mkdir(), lambda path: path.symlink_to("nowhere")],
    ids=["nothing", "a folder", "a dead link"],
)
def test_an_archive_without_the_list_of_its_files_is_not_an_empty_one(
    tmp_path: Path, instead: Callable[[Path], None]
) -> None:
    folder = half_compacted(tmp_path / "a")
    Archive.open(folder).compact()
    (folder / "manifest.json").unlink()
    instead(folder / "manifest.json")
    for use in (everything, compacted, merged):
        with pytest.raises(RedelveError, match=r"manifest\.json"):
            use(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("use", [everything, compacted, merged, verified], ids=lambda one: one.__name__)
def test_a_pipe_in_the_place_of_any_file_is_refused_and_not_waited_for(
    root: Path, tmp_path: Path, use: Callable[[Path], bytes]
) -> None:
    sound = use(shutil.copytree(root, tmp_path / "sound" / "a"))
    refused = 0
    for number, name in enumerate(path.relative_to(root) for path in files(root)):
        copy = shutil.copytree(root, tmp_path / str(number) / "a")
        (copy / name).unlink()
        os.mkfifo(copy / name)
        try:
            assert use(copy) == sound, name
        except RedelveError:
            refused += 1
    assert refused


def test_a_zip_with_a_member_without_a_name_is_refused(tmp_path: Path) -> None:
    """Found by mutated archives: Python's own ZipInfo.is_dir fails with an IndexError."""
    member = zipfile.ZipInfo("x")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        member.filename = ""
        made.writestr(member, b"no name")
    with pytest.raises(FormatError, match="a member has no name"):
        Archive.open(tmp_path / "a.zip")
