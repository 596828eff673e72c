from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import platformdirs
import pytest

from redelve.data.catalogue import CATALOGUE
from redelve.data.catalogue.materialise import write_folder
from redelve.data.delve import roots
from redelve.data.delve.roots import (
    DataAddress,
    MethodAddress,
    Overlay,
    TaskName,
    active,
    make_builtin_root,
    split_address,
)
from redelve.errors import FormatError, LocationError
from tests.conftest import make_root, write_tree

SPEC = "Origin: natural\nUsage: ?\nOrder: ?\nAttributes:\n1 X u [0,1]\n"
PROTOTASK = "Training-Set-Sizes: 64 32\n"


def activate(monkeypatch: pytest.MonkeyPatch, *paths: Path, cwd: Path) -> Overlay:
    monkeypatch.setenv("DELVE_PATH", os.pathsep.join(map(str, paths)))
    return active(str(cwd))


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Overlay:
    """An archive with a dataset, and an own root that adds to it."""
    archive = make_root(
        tmp_path / "delve-archive",
        {
            "data/kin/Dataset.spec": SPEC,
            "data/kin/dist/Prototask.spec": PROTOTASK,
            "data/kin/dist/std.prior": "1 NLMH real\n",
            "methods/lin/Summary": "least squares\n",
            "methods/lin/kin/dist/std.64/guess": "",
            "methods/lin/Source/lin.c": "",
        },
    )
    own = make_root(
        tmp_path / "delve",
        {
            "data/kin/dist/alt.prior.gz": "",
            "data/kin/near/Prototask.spec": PROTOTASK,
            "data/notes/read.me": "no dataset",
            "methods/lin/kin/dist/std.128/": "",
            "methods/lin/kin/dist/std.32/": "",
            "methods/own/": "",
        },
    )
    return activate(monkeypatch, archive, own, cwd=tmp_path)


def raises(message: str) -> AbstractContextManager[object]:
    """Expect a LocationError whose message begins so."""
    return pytest.raises(LocationError, match=f"^{re.escape(message)}")


class TestActiveRoots:
    def test_without_delve_path_the_builtin_root_is_active(self, delve_home: Path, tmp_path: Path) -> None:
        overlay = active(str(tmp_path))
        assert [root.path for root in overlay.roots] == [str(delve_home / "delve-2")]
        assert overlay.roots[0].is_builtin

    def test_an_empty_delve_path_counts_as_unset(
        self, delve_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DELVE_PATH", "")
        assert active(str(tmp_path)).roots[0].path == str(delve_home / "delve-2")

    def test_delve_path_is_taken_in_order_and_without_the_builtin_root(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second = make_root(tmp_path / "delve2"), make_root(tmp_path / "delve1")
        overlay = activate(monkeypatch, first, second, cwd=tmp_path)
        assert overlay.roots == (roots.Root(str(first)), roots.Root(str(second)))

    def test_the_containing_root_comes_first(
        self, delve_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        inside = make_root(tmp_path / "delve-mine", {"methods/lin/demo/": ""})
        overlay = active(str(inside / "methods" / "lin" / "demo"))
        assert [root.path for root in overlay.roots] == [str(inside), str(delve_home / "delve-2")]

    def test_a_containing_root_that_is_listed_keeps_its_place(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second = make_root(tmp_path / "delve1"), make_root(tmp_path / "delve2")
        overlay = activate(monkeypatch, first, second, cwd=second / "data")
        assert [root.path for root in overlay.roots] == [str(first), str(second)]

    def test_the_containing_root_is_the_nearest_complete_one(self, tmp_path: Path) -> None:
        outer = make_root(tmp_path / "delve", {"methods/delve-like/data/": ""})
        assert roots.containing_root(str(outer / "methods" / "delve-like" / "data")) == str(outer)
        assert roots.containing_root(str(tmp_path)) is None

    def test_a_root_listed_twice_counts_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        root = make_root(tmp_path / "delve")
        link = tmp_path / "delve-link"
        link.symlink_to(root)
        overlay = activate(monkeypatch, link, root, root / "." / "data" / "..", cwd=tmp_path)
        assert [entry.path for entry in overlay.roots] == [str(link)]

    def test_entries_may_be_relative_and_empty_ones_are_skipped(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = make_root(tmp_path / "delve")
        monkeypatch.setenv("DELVE_PATH", f"{os.pathsep}delve{os.pathsep}")
        assert active(str(tmp_path)).roots == (roots.Root(str(root)),)

    def test_an_entry_that_is_no_delve_directory_is_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make_root(tmp_path / "archive")
        (tmp_path / "delve").mkdir()
        for entry in (tmp_path / "archive", tmp_path / "delve", tmp_path / "nowhere"):
            with raises(f'"{entry}" in DELVE_PATH is not a delve directory: its name must start with'):
                activate(monkeypatch, entry, cwd=tmp_path)

    def test_the_builtin_root_may_be_listed_before_it_exists(
        self, delve_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        overlay = activate(monkeypatch, Path(roots.builtin_root()), cwd=tmp_path)
        assert overlay.datasets() == list(CATALOGUE)
        assert not delve_home.exists()

    def test_symbolic_links_are_kept_as_the_shell_shows_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = make_root(tmp_path / "store", {"methods/lin/": ""})
        link = tmp_path / "delve"
        link.symlink_to(store)
        monkeypatch.chdir(link / "methods" / "lin")
        monkeypatch.setenv("PWD", str(link / "methods" / "lin"))
        assert active().mpath(".") == "/lin"
        monkeypatch.setenv("PWD", str(tmp_path))
        assert roots.current_directory() == str(store / "methods" / "lin")

    def test_a_vanished_current_directory_is_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        with raises("the current directory no longer exists"):
            active()

    @pytest.mark.parametrize("shared", [None, "", "/srv/data", "not/absolute"])
    def test_the_users_folder_is_the_one_platformdirs_names(
        self, monkeypatch: pytest.MonkeyPatch, shared: str | None
    ) -> None:
        monkeypatch.delenv("REDELVE_HOME")
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        if shared is not None:
            monkeypatch.setenv("XDG_DATA_HOME", shared)
        expected = platformdirs.user_data_dir("redelve", appauthor=False)
        assert roots.builtin_root() == f"{expected}/delve-2"

    def test_the_builtin_root_can_be_made(self, delve_home: Path) -> None:
        root = roots.make_builtin_root()
        assert roots.is_delve_directory(root)
        assert roots.make_builtin_root() == root == str(delve_home / "delve-2")


class TestAddresses:
    def test_addresses_are_taken_apart(self) -> None:
        assert split_address("/") == ()
        assert split_address("/demo/age/") == ("demo", "age")
        assert DataAddress.parse("/demo/age") == DataAddress("demo", "age", None)
        assert str(MethodAddress.parse("/lin/demo/age/std.32")) == "/lin/demo/age/std.32"
        assert MethodAddress.parse("/lin/demo").data == DataAddress("demo")
        assert str(DataAddress()) == "/"
        assert DataAddress("demo").below("age").names == ("demo", "age")

    def test_too_many_names_are_refused(self) -> None:
        with raises('path contains too many directory names: "/a/b/c/d"'):
            DataAddress.parse("/a/b/c/d")
        with raises('path contains too many directory names: "/a/b/c/d/e"'):
            MethodAddress.parse("/a/b/c/d/e")

    @pytest.mark.parametrize("path", ["/..", "/demo/../..", "//", "/demo//age", "/./demo", "/de\0mo", "demo"])
    def test_names_that_could_lead_astray_are_refused(self, path: str) -> None:
        with pytest.raises(LocationError, match="bad path"):
            split_address(path)

    @pytest.mark.parametrize("path", ["", "a\0b"])
    def test_bad_relative_paths_are_refused(self, two: Overlay, path: str) -> None:
        for convert in (two.dpath, two.mpath):
            with pytest.raises(LocationError, match="bad path"):
                convert(path)

    @pytest.mark.parametrize(
        ("name", "parsed"),
        [
            ("std.32", TaskName("std", 32)),
            ("my.prior.7", TaskName("my.prior", 7)),
            ("std", None),
            ("std.", None),
            (".32", None),
            ("std.0", None),
            ("std.032", None),
            ("std.-3", None),
            ("std.٣", None),
        ],
    )
    def test_task_names_are_a_prior_and_a_size(self, name: str, parsed: TaskName | None) -> None:
        assert TaskName.parse(name) == parsed
        assert parsed is None or str(parsed) == name


class TestPaths:
    def test_a_path_that_starts_with_a_slash_is_an_address(self, two: Overlay) -> None:
        assert two.dpath("/kin/dist") == "/kin/dist"
        assert two.mpath("/lin/kin/") == "/lin/kin"
        assert two.dpath("/") == two.mpath("/") == "/"

    def test_the_method_is_dropped_from_a_method_path(self, two: Overlay) -> None:
        assert two.dpath("/lin/kin/dist/std.64") == "/kin/dist/std.64"
        assert two.dpath("/lin") == "/"
        assert two.dpath("/unknown/kin") == "/unknown/kin"

    def test_relative_paths_follow_the_current_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = make_root(tmp_path / "delve", {"methods/lin/kin/dist/std.64/": "", "data/kin/dist/": ""})
        in_data = activate(monkeypatch, root, cwd=root / "data" / "kin")
        assert [in_data.dpath(path) for path in (".", "dist", "..", "./dist/")] == [
            "/kin",
            "/kin/dist",
            "/",
            "/kin/dist",
        ]
        in_methods = activate(monkeypatch, root, cwd=root / "methods" / "lin" / "kin")
        assert in_methods.mpath("dist/std.64") == "/lin/kin/dist/std.64"
        assert in_methods.dpath("dist/std.64") == "/kin/dist/std.64"
        assert in_methods.dpath("../../../data/kin") == "/kin"
        assert in_methods.dpath("../..") == in_methods.mpath("../..") == "/"

    def test_only_the_parts_of_a_delve_directory_count(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = make_root(tmp_path / "data" / "methods" / "delve", {"methods/lin/data/": ""})
        overlay = activate(monkeypatch, root, cwd=root / "methods" / "lin" / "data")
        assert overlay.mpath(".") == "/lin/data"
        assert overlay.dpath(".") == "/data"

    def test_elsewhere_relative_paths_are_an_error(self, two: Overlay, tmp_path: Path) -> None:
        with raises(f'"{tmp_path}" is not in a delve "data" hierarchy'):
            two.dpath(".")
        with raises(f'"{tmp_path}/here" is not in a delve "methods" hierarchy'):
            two.mpath("here")
        with raises(f'"{tmp_path}/delve/data/kin" is not in a delve "methods" hierarchy'):
            two.mpath("delve/data/kin")


class TestOverlay:
    def test_all_places_of_an_address_are_found_in_search_order(self, two: Overlay, tmp_path: Path) -> None:
        assert two.locate_all("/kin") == [
            str(tmp_path / "delve-archive/data/kin"),
            str(tmp_path / "delve/data/kin"),
        ]
        assert two.locate_all("/kin/near") == [str(tmp_path / "delve/data/kin/near")]
        assert two.locate_all("/nothing") == []
        assert len(two.locate_all("/", "methods")) == 2

    def test_listings_are_merged_and_sorted(self, two: Overlay) -> None:
        assert two.listdir("/") == ["kin", "notes"]
        assert two.listdir("/kin") == ["Dataset.spec", "dist", "near"]
        assert two.listdir("/kin/dist") == ["Prototask.spec", "alt.prior", "std.prior"]
        assert two.listdir("/lin/kin/dist", "methods") == ["std.128", "std.32", "std.64"]
        assert [names for _, names in two.listings("/", "methods")] == [["lin"], ["lin", "own"]]

    def test_hidden_files_are_skipped_and_compressed_ones_shown_plain(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        names = [".hidden", "a", "a.gz", "b.Z", "c.zip", "d.gz/", "e.z", ".gz", "B"]
        root = make_root(tmp_path / "delve", {f"data/x/{name}": "" for name in names})
        overlay = activate(monkeypatch, root, cwd=tmp_path)
        assert overlay.listdir("/x") == ["B", "a", "b", "c", "d.gz", "e"]
        assert overlay.locate("/x/b") == str(root / "data/x/b")
        assert overlay.kind("/x/c") == "file"
        assert overlay.kind("/x/d") is None

    def test_a_single_file_is_located(self, two: Overlay, tmp_path: Path) -> None:
        assert two.locate("/kin/Dataset.spec") == str(tmp_path / "delve-archive/data/kin/Dataset.spec")
        assert two.locate("/lin/Summary", "methods").endswith("/delve-archive/methods/lin/Summary")

    def test_a_missing_file_is_named(self, two: Overlay) -> None:
        with raises('specification file "/foo/Dataset.spec" not found in delve path'):
            two.locate("/foo/Dataset.spec", what="specification file")
        with raises('file "/foo" not found in delve path'):
            two.listdir("/foo")

    def test_several_copies_of_a_file_are_listed(self, two: Overlay, tmp_path: Path) -> None:
        write_tree(tmp_path / "delve/data", {"kin/dist/std.prior": ""})
        places = " ".join(f"{tmp_path}/{root}/data/kin/dist/std.prior" for root in ("delve-archive", "delve"))
        with raises(f"multiple copies of prior file found in delve path: {places}"):
            two.locate("/kin/dist/std.prior", what="prior file")

    def test_a_directory_is_no_file_and_a_file_no_directory(self, two: Overlay) -> None:
        with raises('"/kin/dist" is a directory, not a file'):
            two.locate("/kin/dist")
        with raises('file "/kin/Dataset.spec" is not a directory'):
            two.listdir("/kin/Dataset.spec")

    def test_roots_that_disagree_about_the_kind_are_refused(self, two: Overlay, tmp_path: Path) -> None:
        write_tree(tmp_path / "delve-archive/data", {"kin/near": "a file here"})
        with raises('conflicting results for "file isdirectory /kin/near": 0 1'):
            two.kind("/kin/near")

    def test_an_unreadable_directory_is_named(
        self, two: Overlay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(path: str) -> list[str]:
            raise PermissionError(13, "Permission denied", path)

        monkeypatch.setattr(os, "listdir", refuse)
        with raises(f'can\'t read directory "{tmp_path}/delve-archive/data/kin": permission denied: ask'):
            two.listdir("/kin")


class TestKinds:
    def test_datasets_have_a_specification(self, two: Overlay) -> None:
        assert two.datasets() == ["kin"]
        assert not two.is_dataset("kin/dist")
        with raises('dataset "/foo" not found'):
            two.require_dataset("foo")
        with raises('"/notes" is not a dataset'):
            two.require_dataset("notes")

    def test_prototasks_of_all_roots_are_found(self, two: Overlay) -> None:
        assert two.prototasks("kin") == ["dist", "near"]
        with raises('prototask "/kin/far" not found'):
            two.require_prototask("kin", "far")

    def test_a_directory_without_specification_is_no_prototask(self, two: Overlay, tmp_path: Path) -> None:
        write_tree(tmp_path / "delve/data", {"kin/far/std.prior": ""})
        assert two.prototasks("kin") == ["dist", "near"]
        with raises("/kin/far is not a DELVE prototask"):
            two.require_prototask("kin", "far")

    def test_priors_of_all_roots_are_found_compressed_or_not(self, two: Overlay) -> None:
        assert two.priors("kin", "dist") == ["alt", "std"]

    def test_tasks_go_by_size_then_prior(self, two: Overlay) -> None:
        assert two.tasks("kin", "dist") == ["alt.64", "std.64", "alt.32", "std.32"]
        assert two.tasks("kin", "near") == []

    def test_a_task_needs_a_size_and_a_prior(self, two: Overlay) -> None:
        assert two.require_task("kin", "dist", "std.7") == TaskName("std", 7)
        with raises("/kin/dist/std does not specify a task training set size"):
            two.require_task("kin", "dist", "std")
        with raises('prior file "/kin/dist/odd.prior" not found'):
            two.require_task("kin", "dist", "odd.7")

    def test_a_specification_without_sizes_is_an_error(self, two: Overlay, tmp_path: Path) -> None:
        path = tmp_path / "delve-archive/data/kin/dist/Prototask.spec"
        path.write_text("Cases: all\n")
        with pytest.raises(FormatError, match="training-set-sizes"):
            two.tasks("kin", "dist")
        path.write_text("Training-Set-Sizes: 32 many\n")
        with pytest.raises(FormatError, match="many"):
            two.tasks("kin", "dist")

    def test_methods_and_what_they_were_applied_to(self, two: Overlay) -> None:
        assert two.methods() == ["lin", "own"]
        assert two.method_datasets("lin") == ["kin"]
        assert two.method_prototasks("lin", "kin") == ["dist"]
        assert two.method_tasks("lin", "kin", "dist") == ["std.32", "std.64", "std.128"]
        with raises('file "/foo" not found in delve path'):
            two.method_datasets("foo")

    def test_odd_directories_come_after_the_tasks(self, two: Overlay, tmp_path: Path) -> None:
        write_tree(tmp_path / "delve/methods", {"lin/kin/dist/attic/": ""})
        assert two.method_tasks("lin", "kin", "dist")[-1] == "attic"


class TestClashes:
    def test_a_dataset_in_two_roots_is_refused(self, two: Overlay, tmp_path: Path) -> None:
        write_tree(tmp_path / "delve/data", {"kin/Dataset.spec": SPEC})
        places = " and ".join(f'"{tmp_path}/{root}/data/kin"' for root in ("delve-archive", "delve"))
        for touch in (two.prototasks, two.require_dataset, lambda name: two.locate(f"/{name}/Summary")):
            with raises(f'dataset "/kin" is defined in {places}: rename one of them, or name only one'):
                touch("kin")
        assert two.datasets() == ["kin"]

    def test_stray_files_beside_the_datasets_do_not_clash(self, two: Overlay, tmp_path: Path) -> None:
        for root in ("delve-archive", "delve"):
            write_tree(tmp_path / root, {"data/Dataset.spec": SPEC, "data/kin/Prototask.spec": PROTOTASK})
        assert two.listdir("/") == ["Dataset.spec", "kin", "notes"]
        assert two.prototasks("kin") == ["dist", "near"]

    def test_a_prototask_in_two_roots_is_refused(self, two: Overlay, tmp_path: Path) -> None:
        write_tree(tmp_path / "delve/data", {"kin/dist/Prototask.spec.gz": ""})
        places = " and ".join(f'"{tmp_path}/{root}/data/kin/dist"' for root in ("delve-archive", "delve"))
        with raises(f'prototask "/kin/dist" is defined in {places}: rename one of them, or name only one'):
            two.tasks("kin", "dist")

    def test_a_dataset_of_ones_own_hides_that_of_the_catalogue(
        self, delve_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = make_root(
            tmp_path / "delve", {"data/demo/Dataset.spec": SPEC, "data/demo/mine/Prototask.spec": PROTOTASK}
        )
        overlay = active(str(own))
        assert overlay.prototasks("demo") == ["mine"]
        assert overlay.directories("/demo") == ["mine"]
        assert overlay.locate("/demo/Dataset.spec") == f"{own}/data/demo/Dataset.spec"
        assert overlay.provenance("demo").startswith("a dataset of your own, in place of")
        assert "demo" in overlay.datasets()
        assert not delve_home.exists()
        monkeypatch.setenv("DELVE_PATH", f"{make_builtin_root()}:{own}")
        assert active(str(tmp_path)).prototasks("demo") == ["mine"]

    def test_two_of_ones_own_clash_even_beside_that_of_the_catalogue(
        self, delve_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        roots = [
            make_root(tmp_path / name, {"data/demo/Dataset.spec": SPEC}) for name in ("delve", "delve-2")
        ]
        monkeypatch.setenv("DELVE_PATH", ":".join(map(str, (*roots, make_builtin_root()))))
        places = " and ".join(f'"{root}/data/demo"' for root in roots)
        with raises(f'dataset "/demo" is defined in {places}: rename one of them, or name only one'):
            active(str(tmp_path)).require_dataset("demo")

    def test_what_is_no_replica_needs_no_word(self, delve_home: Path, tmp_path: Path) -> None:
        overlay = active(str(tmp_path))
        assert overlay.provenance("kin-8nm") == "redelve's replica of kin-8nm, not the original data"
        assert overlay.provenance("iris") == overlay.provenance("nothing") == ""

    def test_a_prototask_of_the_catalogue_is_refused(self, delve_home: Path, tmp_path: Path) -> None:
        own = make_root(tmp_path / "delve", {"data/demo/age/Prototask.spec": PROTOTASK})
        with raises('prototask "/demo/age" is defined in'):
            active(str(own)).require_prototask("demo", "age")

    def test_new_prototasks_and_priors_may_be_added(self, delve_home: Path, tmp_path: Path) -> None:
        own = make_root(
            tmp_path / "delve",
            {"data/demo/mine/Prototask.spec": PROTOTASK, "data/demo/age/vague.prior": ""},
        )
        overlay = active(str(own))
        assert overlay.prototasks("demo") == ["age", "colour", "income", "mine", "sex", "siblings"]
        assert overlay.priors("demo", "age") == ["std", "vague"]


class TestGenerating:
    def test_looking_at_the_root_generates_nothing(self, delve_home: Path, tmp_path: Path) -> None:
        overlay = active(str(tmp_path))
        assert overlay.listdir("/") == overlay.datasets() == list(CATALOGUE)
        assert "lin-1" in overlay.listdir("/", "methods")
        assert "lin-1" in overlay.methods()
        assert overlay.is_dataset("demo")
        assert not delve_home.exists()

    def test_what_is_below_is_generated_when_first_touched(self, delve_home: Path, tmp_path: Path) -> None:
        overlay = active(str(tmp_path))
        assert overlay.locate("/demo/Summary") == str(delve_home / "delve-2/data/demo/Summary")
        assert (delve_home / "delve-2/data/demo/age/Prototask.data").is_file()
        assert roots.is_delve_directory(str(delve_home / "delve-2"))
        assert overlay.locate("/lin-1/Summary", "methods") == str(
            delve_home / "delve-2/methods/lin-1/Summary"
        )

    def test_what_is_there_is_left_alone(self, delve_home: Path, tmp_path: Path) -> None:
        summary = Path(active(str(tmp_path)).locate("/demo/Summary"))
        summary.write_text("mine")
        active(str(tmp_path)).prototasks("demo")
        assert summary.read_text() == "mine"

    def test_another_root_generates_nothing(self, two: Overlay) -> None:
        assert not two.is_dataset("demo")
        assert two.locate_all("/demo") == []

    def test_a_home_that_cannot_be_written_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("in the way")
        monkeypatch.setenv("REDELVE_HOME", str(tmp_path / "file"))
        message = f'can\'t create "{tmp_path}/file/delve-2/data/demo": Not a directory; set REDELVE_HOME to a'
        with raises(message):
            active(str(tmp_path)).locate("/demo/Summary")
        with raises(f'can\'t create "{tmp_path}/file/delve-2": Not a directory'):
            roots.make_builtin_root()

    def test_nothing_half_written_is_left_behind(self, tmp_path: Path) -> None:
        class Failing(dict[str, str]):
            def items(self) -> Iterator[tuple[str, str]]:  # type: ignore[override]
                yield "a", "text"
                raise RuntimeError("generator broke")

        with pytest.raises(RuntimeError):
            write_folder(Failing(), str(tmp_path / "data" / "demo"))
        assert list((tmp_path / "data").iterdir()) == []

    def test_the_first_of_two_writers_wins(self, tmp_path: Path) -> None:
        target = tmp_path / "demo"

        class Slow(dict[str, str]):
            def items(self) -> Iterator[tuple[str, str]]:  # type: ignore[override]
                yield "Summary", "late"
                write_folder({"Summary": "early"}, str(target))

        write_folder(Slow(), str(target))
        assert (target / "Summary").read_text() == "early"
        assert list(tmp_path.iterdir()) == [target]

    def test_processes_may_generate_at_the_same_time(self, delve_home: Path, tmp_path: Path) -> None:
        code = "import sys; from redelve.cli.showing import dls; sys.exit(dls(['/demo/age']))"
        environment = {**os.environ, "REDELVE_HOME": str(delve_home)}
        started = [
            subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        outputs = [process.communicate()[0] for process in started]
        assert outputs == ["Prototask.data  Prototask.spec  std.prior\n"] * 4
        assert [process.returncode for process in started] == [0] * 4
        assert [path.name for path in (delve_home / "delve-2" / "data").iterdir()] == ["demo"]
