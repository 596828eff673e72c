"""Datasets that have the name of one in the DELVE archive say what they are."""

from pathlib import Path

import pytest

import redelve
from redelve.data.catalogue import CATALOGUE, provenance
from redelve.data.catalogue.dataset_folder import AttributeLine, PrototaskPlan, attribute_lines, dataset_files
from tests.conftest import RunCommand, make_root, write_tree


def test_replicas_are_labelled(delve_home: Path, run_command: RunCommand) -> None:
    for path in ("/kin-8nm", "/kin-8nm/dist"):
        shown = run_command("dinfo", [path]).out
        assert shown.endswith("Provenance: redelve's replica of kin-8nm, not the original data\n")
    assert "Provenance" not in run_command("dinfo", ["/iris"]).out
    assert str(redelve.task("kin-8nm/dist", sizes=1024)) == (
        "/kin-8nm/dist/std.1024: 8 inputs, 4 instances of 1024 training cases\n"
        "  redelve's replica of kin-8nm, not the original data"
    )


@pytest.mark.parametrize("name", ["kin-8nm", "pumadyn-8fm"])
def test_the_files_of_a_replica_say_what_it_is(name: str) -> None:
    files = CATALOGUE[name]()
    assert "(redelve's replica, not the original)" in files["Dataset.spec"].splitlines()[0]
    assert "redelve's replica, not the original data" in files["Summary"]


def test_datasets_of_other_packages_say_whose_prototasks_they_have() -> None:
    assert provenance("boston") == "redelve's own prototasks of boston, not those of the DELVE archive"
    assert provenance("abalone") == (
        "the cases and prototask age of the DELVE archive; prototask rings is redelve's own"
    )


def test_a_report_says_that_its_data_are_a_replica() -> None:
    done = redelve.assess(["constant"], "kin-8nm/dist", sizes=1024, losses=["S"])
    assert "redelve's replica of kin-8nm, not the original data" in str(done)


def test_the_original_in_a_directory_of_ones_own_is_used(
    delve_home: Path, tmp_path: Path, run_command: RunCommand
) -> None:
    own = make_root(tmp_path / "delve", {f"data/bank-32nm/{name}": text for name, text in plant().items()})
    work = write_tree(own / "methods", {"mine/bank-32nm/rej/std.4/": ""}) / "mine/bank-32nm/rej/std.4"
    done = run_command("mgendata", [], cwd=work)
    said = "a dataset of your own, in place of the bank-32nm that comes with redelve"
    assert done.code == 0
    assert f"note: {said}" in done.err
    assert run_command("dinfo", ["/bank-32nm"], cwd=work).out.endswith(f"Provenance: {said}\n")
    assert len((work / "train.0").read_text().splitlines()) == 4
    assert not delve_home.exists()


def plant() -> dict[str, str]:
    """A small dataset with one prototask."""
    rows = [[f"{n / 7:.3f}", f"{n % 5}.5"] for n in range(20)]
    attributes = [AttributeLine("x", "[0,Inf)", ""), AttributeLine("y", "[0,Inf)", "")]
    plan = PrototaskPlan((1,), (2,), {1: "real", 2: "real"}, 8, (4,), "simulated")
    head = "Origin: simulated\nUsage: development\nOrder: uninformative\nAttributes:\n"
    return dataset_files(rows, head + attribute_lines(attributes), {"rej": plan}, {})
