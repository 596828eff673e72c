"""Names of PROBEN1's datasets, the six orders, and the files behind them."""

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from redelve.data.proben1 import all_names, download, locate, parse_name, partition, problem, variants_of
from redelve.data.proben1 import file_sources as sources_module
from redelve.data.proben1.dt_files import DtFile, DtHeader, dt_text
from redelve.data.proben1.file_digests import SHA256
from redelve.data.proben1.problem_names import SAME_WITHOUT_VALIDATION, is_name
from redelve.errors import LocationError, SpecError
from tests.conftest import RunCommand
from tests.data.catalogue.servers import Answers, serving
from tests.data.proben1.genuine import FOLDER, needs_genuine

FAKE = dt_text(
    DtFile(DtHeader(0, 1, 1, 0, 2, 1, 1), np.array([[0.0, 1, 0, 1]]).T, np.array([[0.0, 1, 1, 0]]).T)
).encode()


class TestNames:
    def test_a_name_is_problem_permutation_and_order(self) -> None:
        one = parse_name("glass1d")
        assert (one.dataset.name, one.permutation, one.order, one.file) == ("glass", 1, "d", "glass1")
        assert [parse_name(name).dataset.name for name in ("heart1a", "hearta1", "heartac2", "heartc3b")] == [
            "heart", "hearta", "heartac", "heartc",
        ]  # fmt: skip

    def test_the_letter_a_is_left_out_of_the_preferred_name(self) -> None:
        assert str(parse_name("glass1a")) == "glass1"
        assert str(parse_name("glass1b")) == "glass1b"

    def test_forty_five_files_have_checksums(self) -> None:
        assert len(all_names()) == 45
        assert set(all_names()) == set(SHA256)
        assert all(str(parse_name(name)) == name for name in all_names())

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("glas1", 'did you mean "glass1"'),
            ("glass", "a permutation 1 to 3"),
            ("glass4", "not 4"),
            ("glass1g", "the letters are a to f"),
            ("../glass1", "is no dataset of PROBEN1"),
            ("", "is no dataset of PROBEN1"),
        ],
    )
    def test_bad_names_are_refused(self, name: str, words: str) -> None:
        with pytest.raises(SpecError, match=words):
            parse_name(name)

    def test_datasets_of_addresses_stand_for_variants(self) -> None:
        assert variants_of("glass1") == ("glass1",)
        assert variants_of("glass2-quarters") == ("glass2", "glass2b", "glass2d", "glass2e")
        assert variants_of("heartc") == ("heartc1", "heartc2", "heartc3")
        for other in ("glass4", "glass1-halves", "kin-8nm", "demo"):
            assert variants_of(other) == ()

    def test_is_name(self) -> None:
        assert is_name("glass1")
        assert not is_name("glasses1")


class TestOrders:
    """Section 2.3: the same file, read in six orders."""

    file = DtFile(DtHeader(0, 1, 0, 1, 4, 2, 2), np.arange(8.0)[:, None], np.zeros((8, 1)))

    @pytest.mark.parametrize(
        ("order", "training", "validation", "test"),
        [
            ("a", [0, 1, 2, 3], [4, 5], [6, 7]),
            ("b", [0, 1, 2, 3], [6, 7], [4, 5]),
            ("c", [2, 3, 4, 5], [0, 1], [6, 7]),
            ("d", [4, 5, 6, 7], [0, 1], [2, 3]),
            ("e", [4, 5, 6, 7], [2, 3], [0, 1]),
            ("f", [2, 3, 4, 5], [6, 7], [0, 1]),
        ],
    )
    def test_each_order_takes_the_sets_from_other_places(
        self, order: str, training: list[int], validation: list[int], test: list[int]
    ) -> None:
        parts = partition(self.file, order)
        assert [part.inputs[:, 0].tolist() for part in parts] == [training, validation, test]
        assert [len(part) for part in parts] == [4, 2, 2]

    def test_without_validation_set_c_is_a_and_f_is_e(self) -> None:
        for order, same in SAME_WITHOUT_VALIDATION.items():
            one, two = (partition(self.file, letter) for letter in (order, same))
            assert set(one.training_data.rows.tolist()) == set(two.training_data.rows.tolist())
            assert one.test.rows.tolist() == two.test.rows.tolist()

    def test_the_four_other_orders_test_each_quarter_once(self) -> None:
        tested = [row for letter in "abde" for row in partition(self.file, letter).test.rows.tolist()]
        assert sorted(tested) == list(range(8))

    def test_a_letter_that_contradicts_the_name_is_refused(self) -> None:
        with pytest.raises(SpecError, match="contradict"):
            problem("glass1d", order="e")

    def test_a_file_of_one_s_own_may_have_an_order(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.dt"
        path.write_bytes(FAKE)
        assert problem(path, order="e").test.inputs.tolist() == [[0.0]]
        assert problem(path, order="e").name == "mine-e"
        assert problem(str(path)).name == "mine"


@pytest.fixture
def server(delve_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """A mirror with a small file that passes for glass1.dt."""
    monkeypatch.delenv(sources_module.FOLDER, raising=False)
    monkeypatch.setitem(SHA256, "glass1", hashlib.sha256(FAKE).hexdigest())
    with serving() as answers:
        answers.pages["/proben1/glass/glass1.dt"] = FAKE
        answers.pages["/flat/glass1.dt"] = FAKE
        answers.pages["/bad/glass/glass1.dt"] = FAKE + b"\n"
        yield answers


class TestSources:
    def test_without_files_the_error_tells_two_ways_out(self, server: Answers, tmp_path: Path) -> None:
        with pytest.raises(LocationError, match=r"set REDELVE_PROBEN1 .* redelve\.data\.proben1\.download"):
            locate("glass1d")
        with pytest.raises(LocationError, match="is not in"):
            locate("glass1", folder=tmp_path)

    def test_a_mirror_is_asked_once(self, server: Answers) -> None:
        path = download("glass1d", server=f"{server.url}/proben1/")
        assert path.read_bytes() == FAKE
        assert download("glass1", server=f"{server.url}/proben1", offline=True) == path
        assert locate("glass1b") == path
        assert server.asked == ["/proben1/glass/glass1.dt"]
        assert len(problem("glass1").training) == 2

    def test_the_command_line_downloads_too(self, server: Answers, run_command: RunCommand) -> None:
        done = run_command("proben1", ["download", "glass1", "-s", f"{server.url}/proben1"])
        assert (done.code, done.err) == (0, "")
        assert Path(done.out.strip()).read_bytes() == FAKE
        bad = run_command("proben1", ["download", "glass2", "-s", f"{server.url}/proben1"])
        assert bad.code == 1
        assert bad.err.startswith("redelve proben1: ")
        assert len(bad.err.splitlines()) == 1

    def test_other_layouts_are_given_as_a_pattern(self, server: Answers) -> None:
        assert download("glass1", server=f"{server.url}/flat/{{file}}.dt").read_bytes() == FAKE

    def test_another_content_is_refused(self, server: Answers, tmp_path: Path) -> None:
        with pytest.raises(LocationError, match="not kept"):
            download("glass1", server=f"{server.url}/bad")
        (tmp_path / "glass1.dt").write_bytes(FAKE + b"\n")
        with pytest.raises(LocationError, match="is not that of PROBEN1's"):
            locate("glass1", folder=tmp_path)

    def test_folders_of_both_layouts_and_compressed_files(
        self, server: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "glass").mkdir()
        path = tmp_path / "glass" / "glass1.dt.gz"
        path.write_bytes(gzip.compress(FAKE.replace(b"\n", b"\r\n")))
        monkeypatch.setenv(sources_module.FOLDER, str(tmp_path))
        assert locate("glass1f") == path


@needs_genuine
def test_the_genuine_files_have_the_pinned_checksums() -> None:
    for name in all_names():
        assert locate(name, folder=FOLDER) == FOLDER / f"{name}.dt"
