from __future__ import annotations

import pytest

from redelve.data.catalogue import CATALOGUE, FAMILIES
from redelve.data.catalogue.arrays import PROTOTASKS, STANDARD_SIZES, array_factors, task_array
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import active
from redelve.errors import SpecError
from tests.data.catalogue.simulated import folder


def test_an_array_has_every_member_at_every_size() -> None:
    array = task_array("kin", sizes=(64, 1024))
    assert len(array) == len(set(array)) == 16
    assert array[:3] == ("/kin-8fm/dist/std.64", "/kin-8fm/dist/std.1024", "/kin-8fh/dist/std.64")
    assert len(task_array("bank")) == 8 * len(STANDARD_SIZES)


def test_kinds_are_taken_in_the_order_given() -> None:
    assert task_array("pumadyn", (64,), ["32nh", "8fm"]) == (
        "/pumadyn-32nh/accel/std.64",
        "/pumadyn-8fm/accel/std.64",
    )


@pytest.mark.parametrize("family", ["kin", "pumadyn"])
def test_the_addresses_are_those_of_standard_tasks(
    family: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    overlay = Library(active(str(tmp_path_factory.mktemp("work")))).overlay
    tasks = task_array(family, kinds=["8fm"])
    prototask = PROTOTASKS[family]
    assert [address.split("/")[-1] for address in tasks] == overlay.tasks(f"{family}-8fm", prototask)


def test_every_family_has_a_prototask() -> None:
    assert set(PROTOTASKS) == set(FAMILIES)
    assert all(member in CATALOGUE for members in FAMILIES.values() for member in members)
    assert f"{PROTOTASKS['kin']}/Prototask.spec" in folder("kin-8fm")


def test_factors_make_a_table() -> None:
    table = array_factors(task_array("bank", sizes=(64, 128)))
    assert table[0] == ("/bank-8fm/rej/std.64", "bank", 8, "fairly linear", "medium", 64)
    for factor, levels in (("inputs", 2), ("linearity", 2), ("noise", 2), ("size", 2)):
        counts = [
            [getattr(row, factor) for row in table].count(v) for v in {getattr(row, factor) for row in table}
        ]
        assert counts == [len(table) // levels] * levels  # balanced


@pytest.mark.parametrize(
    ("family", "sizes", "kinds", "message"),
    [
        ("demo", (64,), None, 'unknown family "demo": known are bank, kin, pumadyn'),
        ("kin", (64,), ["8xm"], 'unknown kind "8xm": known are 8fm, 8fh'),
        ("kin", (4096,), None, "there are no two training sets of 4096 cases"),
        ("kin", (0,), None, "there are no two training sets of 0 cases"),
        ("kin", (64, 64), None, 'size "64" is given twice'),
        ("kin", (64,), ["8fm", "8fm"], 'kind "8fm" is given twice'),
    ],
)
def test_what_cannot_be_is_refused(
    family: str, sizes: tuple[int, ...], kinds: list[str] | None, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        task_array(family, sizes, kinds)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "address", ["/demo/age/std.64", "kin-8nm/dist/std.64", "/kin-8nm/dist", "/kin-8nm/dist/std"]
)
def test_factors_are_known_of_families_only(address: str) -> None:
    with pytest.raises(SpecError, match="is no task of a family"):
        array_factors([address])
