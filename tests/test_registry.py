"""Names and what they stand for; other packages register through entry points."""

import builtins
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

from redelve.answers.losses import LOSSES
from redelve.errors import SpecError
from redelve.methods.contract import METHODS
from redelve.model.encodings import encodings
from redelve.model.encodings.encoder import encoding_called
from redelve.registry import Registry, ValueKind, installed


def install(folder: Path, name: str, entry_points: str, module: str = "") -> None:
    """What an installed package leaves behind: its description, its entry points, a module."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    (folder / f"{name}.py").write_text(module)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_an_installed_package_registers_by_entry_points(site: Path) -> None:
    install(site, "paints", "[redelve.colours]\nmauve = paints:MAUVE\n", "MAUVE = 7\n")
    colours = Registry[int]("colour", "redelve.colours")
    colours.add("red", 1)
    assert list(colours) == ["mauve", "red"]
    assert "mauve" in colours
    assert colours["mauve"] == 7
    assert installed("redelve.shapes") == []


def test_a_name_of_ones_own_is_found_without_looking_elsewhere(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    colours = Registry[int]("colour", "redelve.colours")
    colours.add("red", 1)
    monkeypatch.setattr("redelve.registry.installed", pytest.fail)
    assert colours["red"] == 1


def test_who_asks_while_another_thread_looks_for_packages_finds_the_same(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "paints", "[redelve.colours]\nmauve = paints:MAUVE\n", "MAUVE = 7\n")
    colours = Registry[int]("colour", "redelve.colours")
    colours.add("red", 1)
    looks, is_asked = Event(), Event()

    def slowly(group: str) -> list[tuple[str, str]]:
        if not looks.is_set():
            looks.set()
            is_asked.wait(60)
        return installed(group)

    monkeypatch.setattr("redelve.registry.installed", slowly)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(list, colours)
        assert looks.wait(60)
        second = threads.submit(lambda: ("mauve" in colours, colours["mauve"], list(colours)))
        try:
            assert second.result(60) == (True, 7, ["mauve", "red"])
        finally:
            is_asked.set()
        assert first.result(60) == ["mauve", "red"]


def test_a_name_that_is_taken_stays_whose_it_is(site: Path) -> None:
    install(site, "greys", "[redelve.colours]\nred = greys:RED\n")
    colours = Registry[int]("colour", "redelve.colours")
    colours.add("red", 1)
    told = 'colour "red" of greys:RED is left out: the name is taken; mend or uninstall the package greys'
    with pytest.warns(UserWarning, match=told):
        assert list(colours) == ["red"]
    assert colours["red"] == 1
    assert dict(colours.items()) == {"red": 1}


def test_two_packages_with_one_name_are_both_told(site: Path) -> None:
    install(site, "greys", "[redelve.colours]\nash = greys:ASH\n")
    install(site, "woods", "[redelve.colours]\nash = woods:ASH\n")
    colours = Registry[int]("colour", "redelve.colours")
    colours.add("red", 1)
    told = 'colour "ash" is registered twice, by greys:ASH and woods:ASH; mend or uninstall the package woods'
    with pytest.raises(SpecError, match=told):
        colours["ash"]
    assert list(colours) == ["ash", "red"]
    with pytest.warns(UserWarning, match=told):
        assert dict(colours.items()) == {"red": 1}


@pytest.mark.parametrize("place", ["nowhere_at_all:X", "empties:X"])
def test_what_cannot_be_loaded_is_told_with_its_place(site: Path, place: str) -> None:
    install(site, "empties", f"[redelve.colours]\nmauve = {place}\n")
    colours = Registry[int]("colour", "redelve.colours")
    with pytest.raises(SpecError, match=f'colour "mauve" cannot be loaded from {place}'):
        colours["mauve"]


def test_what_was_added_by_hand_is_tried_again_when_it_was_mended(site: Path) -> None:
    colours = Registry[int](
        "colour", "redelve.colours", of=ValueKind("a number", lambda one: isinstance(one, int))
    )
    colours.add("mauve", "pots:MAUVE")
    colours.add("red", 1)
    way_out = 'mend the module pots, or remove "mauve"'
    (site / "pots.py").write_text("1 / 0\n")
    told = f'colour "mauve" cannot be loaded from pots:MAUVE: ZeroDivisionError: division by zero; {way_out}'
    with pytest.raises(SpecError, match=f"^{told}$"):
        colours["mauve"]
    with pytest.warns(UserWarning, match=f"^{told}$"):
        assert dict(colours.items()) == {"red": 1}
    (site / "pots.py").write_text("MAUVE = 'dark'\n")
    with pytest.raises(SpecError, match=rf"\"mauve\" is 'dark', not a number \(pots:MAUVE\); {way_out}$"):
        colours["mauve"]
    sys.modules["pots"].MAUVE = 7  # type: ignore[attr-defined]
    assert colours["mauve"] == 7
    assert dict(colours.items()) == {"mauve": 7, "red": 1}


def test_a_package_that_cannot_be_loaded_is_tried_once(site: Path) -> None:
    counting = "import builtins\nbuiltins.tries = getattr(builtins, 'tries', 0) + 1\n1 / 0\n"
    install(site, "slow_paints", "[redelve.colours]\nmauve = slow_paints:MAUVE\n", counting)
    colours = Registry[int]("colour", "redelve.colours")
    for _ in range(3):
        with pytest.raises(SpecError, match=r"division by zero; mend or uninstall the package slow_paints$"):
            colours["mauve"]
    assert vars(builtins).pop("tries") == 1
    colours.remove("mauve")
    colours.add("mauve", 7)
    assert colours["mauve"] == 7


def test_without_a_group_nothing_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redelve.registry.installed", pytest.fail)
    assert list(Registry[int]("colour")) == []


def test_a_name_can_be_removed_and_given_anew(site: Path) -> None:
    colours = Registry[int]("colour", "redelve.colours")
    colours.add("red", 1)
    before = colours.changes
    colours.remove("red")
    assert "red" not in colours
    colours.add("red", 2)
    assert (colours["red"], colours.changes) == (2, before + 2)
    with pytest.raises(SpecError, match='unknown colour "blue"'):
        colours.remove("blue")


def test_a_thing_is_registered_under_its_own_name(site: Path) -> None:
    paint = "from types import SimpleNamespace\nMAUVE = SimpleNamespace(name='violet')\n"
    install(site, "dyes", "[redelve.colours]\nmauve = dyes:MAUVE\n", paint)
    colours = Registry[object]("colour", "redelve.colours", own_name="name")
    colours.add("red", SimpleNamespace(name="red"))
    colours.add("any", SimpleNamespace())
    told = 'colour "blue" calls itself "red": register it under that name, or give it this one'
    with pytest.raises(SpecError, match=told):
        colours.add("blue", SimpleNamespace(name="red"))
    assert "blue" not in colours
    with pytest.raises(SpecError, match='colour "mauve" calls itself "violet"') as caught:
        colours["mauve"]
    assert str(caught.value).endswith(" (dyes:MAUVE); mend or uninstall the package dyes")


ROTTEN = """\
[redelve.colours]
blue = rot.broken:BLUE
gone = rot:GONE
green = rot:GREEN
left = rot.leaves:LEFT
"""


def test_what_is_wrong_elsewhere_is_left_out_unless_it_is_asked_for(site: Path) -> None:
    install(site, "mouldy", ROTTEN)
    (site / "rot").mkdir()
    for name, text in {"__init__": "GREEN = 'g'", "broken": "1 / 0", "leaves": "exit()"}.items():
        (site / "rot" / f"{name}.py").write_text(text)
    colours = Registry[int](
        "colour", "redelve.colours", of=ValueKind("a number", lambda one: isinstance(one, int))
    )
    colours.add("red", 1)
    with pytest.raises(SpecError, match=r'colour "brown" is 0\.5, not a number'):
        colours.add("brown", 0.5)  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="colour") as told:
        assert [dict(colours.items()) for _ in range(2)] == [{"red": 1}] * 2
    assert [str(one.message) for one in told] == [
        f'colour "{fault}; mend or uninstall the package mouldy'
        for fault in (
            'blue" cannot be loaded from rot.broken:BLUE: ZeroDivisionError: division by zero',
            "gone\" cannot be loaded from rot:GONE: AttributeError: module 'rot' has no attribute 'GONE'",
            "green\" is 'g', not a number (rot:GREEN)",
            'left" cannot be loaded from rot.leaves:LEFT: SystemExit: None',
        )
    ]
    for name in ("blue", "gone", "green", "left"):
        with pytest.raises(SpecError, match=f'colour "{name}" .*package mouldy'):
            colours[name]


def test_only_a_method_with_a_name_is_registered_as_one() -> None:
    for name, item, told in (
        ("", METHODS["constant"], "'' is no name of a method: give a text that is not empty"),
        (3, METHODS["constant"], "3 is no name of a method"),
        ("okk", 3, 'method "okk" is 3, not a Method'),
    ):
        with pytest.raises(SpecError, match=told):
            METHODS.add(name, item)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match='unknown method "3": known are boosting'):
        METHODS[3]  # type: ignore[index]
    assert "okk" not in METHODS


def test_encodings_and_losses_have_one_name() -> None:
    with pytest.raises(SpecError, match='encoding "raw3" calls itself "copy"'):
        encodings.add("raw3", encoding_called("copy"))
    with pytest.raises(SpecError, match='loss "H" calls itself "S"'):
        LOSSES.add("H", LOSSES["S"])
