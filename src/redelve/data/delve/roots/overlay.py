"""The active delve directories as one hierarchy, which is asked by address (manual 1.2, C)."""
# ruff: noqa: PTH112, PTH118

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple

from redelve.data.catalogue import provenance, require_carrier
from redelve.data.delve.roots.addresses import TaskName, join_address, split_address
from redelve.data.delve.roots.one_root import Part, Root, within_root
from redelve.errors import LocationError, hint

PRIOR = ".prior"


class Overlay(NamedTuple):
    """The active roots in search order, seen as one hierarchy from the directory `cwd`."""

    roots: tuple[Root, ...]
    cwd: str

    # From what the user writes to addresses

    def true_path(self, path: str) -> str:
        """The absolute form of a path that is relative to the current directory."""
        if not path or "\0" in path:
            raise LocationError('bad path: it may neither be empty (write ".") nor hold a NUL')
        return os.path.normpath(os.path.join(self.cwd, path))

    def dpath(self, path: str) -> str:
        """The canonical data path of `path`; the method in front is dropped from a method path."""
        if path.startswith("/"):
            names = split_address(path)
            is_mpath = names and not self._has("data", names[:1]) and self._has("methods", names[:1])
            return join_address(names[1:] if is_mpath else names)
        true_path = self.true_path(path)
        match within_root(true_path):
            case ("data", names):
                return join_address(names)
            case ("methods", names):
                return join_address(names[1:])
        raise LocationError(f'"{true_path}" is not in a delve "data" hierarchy')

    def mpath(self, path: str) -> str:
        """The canonical method path of `path`."""
        if path.startswith("/"):
            return join_address(split_address(path))
        return join_address(self.method_names(self.true_path(path)))

    @staticmethod
    def method_names(path: str) -> tuple[str, ...]:
        """The names that follow `methods` in an absolute true path."""
        match within_root(path):
            case ("methods", names):
                return names
        raise LocationError(f'"{path}" is not in a delve "methods" hierarchy')

    # What there is

    def locate_all(self, cpath: str, part: Part = "data") -> list[str]:
        """The true paths that an address has, in search order; a compressed file goes by its plain name."""
        names = split_address(cpath)
        return [root.folder(part, names) for root in self._holders(part, names)]

    def locate(self, cpath: str, part: Part = "data", *, what: str = "file") -> str:
        """The true path of a file that may exist only once, named by `what` in messages."""
        places = self.locate_all(cpath, part)
        if not places:
            self._require_carrier(cpath, part)
            raise LocationError(f'{what} "{cpath}" not found in delve path')
        if self.kind(cpath, part) == "directory":
            raise LocationError(f'"{cpath}" is a directory, not a {what}')
        if len(places) > 1:
            raise LocationError(f"multiple copies of {what} found in delve path: {' '.join(places)}")
        return places[0]

    def kind(self, cpath: str, part: Part = "data") -> Literal["file", "directory"] | None:
        """What an address names; all active roots must agree."""
        names = split_address(cpath)
        found = [
            (root.is_builtin and not names) or os.path.isdir(root.folder(part, names))
            for root in self._holders(part, names)
        ]
        if len(set(found)) > 1:
            values = " ".join(str(int(value)) for value in found)
            raise LocationError(f'conflicting results for "file isdirectory {cpath}": {values}')
        return None if not found else "directory" if found[0] else "file"

    def listings(self, cpath: str, part: Part = "data") -> list[tuple[str, list[str]]]:
        """The true directories that an address has, each with the names in it."""
        if (kind := self.kind(cpath, part)) != "directory":
            if kind is None:
                self._require_carrier(cpath, part)
            problem = "not found in delve path" if kind is None else "is not a directory"
            raise LocationError(f'file "{cpath}" {problem}')
        names = split_address(cpath)
        return [(root.folder(part, names), root.listdir(part, names)) for root in self._holders(part, names)]

    def listdir(self, cpath: str, part: Part = "data") -> list[str]:
        """All names in an address's directories, each once, in ASCII order."""
        return sorted({name for _, names in self.listings(cpath, part) for name in names})

    def directories(self, cpath: str, part: Part = "data") -> list[str]:
        """The names in an address's directories that are directories themselves."""
        names = split_address(cpath)
        return [name for name in self.listdir(cpath, part) if self._is_directory(part, (*names, name))]

    # The data part

    def is_dataset(self, dataset: str) -> bool:
        """Whether a directory with this name has a Dataset.spec, or the catalogue generates it."""
        names = split_address(f"/{dataset}")
        return len(names) == 1 and bool(self._defining(names, "Dataset.spec"))

    def datasets(self) -> list[str]:
        """The names of all datasets."""
        return [name for name in self.listdir("/") if self.is_dataset(name)]

    def require_dataset(self, dataset: str) -> None:
        """Raise an error unless there is such a dataset."""
        if self.kind(f"/{dataset}") is None:
            self._require_carrier(f"/{dataset}")
            raise self._not_found("dataset", (), dataset)
        if not self.is_dataset(dataset):
            raise LocationError(f'"/{dataset}" is not a dataset')

    def _not_found(self, what: str, above: Sequence[str], name: str) -> LocationError:
        """That a name is not there, and how to find those that are."""
        place = join_address(above)
        meant = hint(name, self.listdir(place))
        path = join_address((*above, name))
        return LocationError(f'{what} "{path}" not found{meant}: `dls {place}` lists those there are')

    def provenance(self, dataset: str) -> str:
        """What must be said of where a dataset comes from, if others have its name; else nothing."""
        names = split_address(f"/{dataset}")
        if any(root.is_builtin for root in self._defining(names, "Dataset.spec")):
            return provenance(dataset)
        if self._hides_ours(names):
            return f"a dataset of your own, in place of the {dataset} that comes with redelve"
        return ""

    def is_prototask(self, dataset: str, prototask: str) -> bool:
        """Whether the dataset has a directory with this name that has a Prototask.spec."""
        return self.kind(f"/{dataset}/{prototask}/Prototask.spec") == "file"

    def prototasks(self, dataset: str) -> list[str]:
        """The names of a dataset's prototasks."""
        self.require_dataset(dataset)
        return [name for name in self.directories(f"/{dataset}") if self.is_prototask(dataset, name)]

    def require_prototask(self, dataset: str, prototask: str) -> None:
        """Raise an error unless there is such a prototask."""
        self.require_dataset(dataset)
        if self.kind(f"/{dataset}/{prototask}") is None:
            raise self._not_found("prototask", (dataset,), prototask)
        if not self.is_prototask(dataset, prototask):
            raise LocationError(f"/{dataset}/{prototask} is not a DELVE prototask")

    def priors(self, dataset: str, prototask: str) -> list[str]:
        """The names of the prior specifications that a prototask has."""
        self.require_prototask(dataset, prototask)
        names = [name for name in self.listdir(f"/{dataset}/{prototask}") if name.endswith(PRIOR)]
        return sorted(name.removesuffix(PRIOR) for name in names if name != PRIOR)

    def training_set_sizes(self, dataset: str, prototask: str) -> tuple[int, ...]:
        """The standard sizes of training sets, as Prototask.spec lists them."""
        from redelve.data.delve.keyed_lines import KeyedFields, numbered_lines, parse_entries
        from redelve.data.files import read_text
        from redelve.data.problems import Problems

        self.require_prototask(dataset, prototask)
        path = self.locate(f"/{dataset}/{prototask}/Prototask.spec", what="specification file")
        problems = Problems(path)
        entries = parse_entries(numbered_lines(read_text(path)), problems)
        sizes = KeyedFields(entries, problems).positives("training-set-sizes")
        problems.raise_first()
        return sizes

    def tasks(self, dataset: str, prototask: str) -> list[str]:
        """The names of the standard tasks: for each size, every prior."""
        priors = self.priors(dataset, prototask)
        return [f"{prior}.{size}" for size in self.training_set_sizes(dataset, prototask) for prior in priors]

    def require_task(self, dataset: str, prototask: str, task: str) -> TaskName:
        """The task's prior and training-set size, which need not be a standard one."""
        self.require_prototask(dataset, prototask)
        name = TaskName.parse(task)
        if name is None:
            raise LocationError(f"/{dataset}/{prototask}/{task} does not specify a task training set size")
        if name.prior not in self.priors(dataset, prototask):
            raise LocationError(f'prior file "/{dataset}/{prototask}/{name.prior}{PRIOR}" not found')
        return name

    # The methods part

    def methods(self) -> list[str]:
        """The names of all methods."""
        return self.directories("/", "methods")

    def method_datasets(self, method: str) -> list[str]:
        """The datasets that a method has been applied to."""
        return [name for name in self.directories(f"/{method}", "methods") if self.is_dataset(name)]

    def method_prototasks(self, method: str, dataset: str) -> list[str]:
        """The prototasks of a dataset that a method has been applied to."""
        return self.directories(f"/{method}/{dataset}", "methods")

    def method_tasks(self, method: str, dataset: str, prototask: str) -> list[str]:
        """The tasks of a prototask that a method has been applied to, by size, then by prior."""
        named = {
            name: TaskName.parse(name)
            for name in self.directories(f"/{method}/{dataset}/{prototask}", "methods")
        }
        return sorted(named, key=lambda name: _task_order(name, named[name]))

    # Behind the scenes

    def _require_carrier(self, cpath: str, part: Part = "data") -> None:
        """Tell the install line if what is missing is a dataset that another package carries."""
        names = split_address(cpath)
        if part == "data" and names and any(root.is_builtin for root in self.roots):
            require_carrier(names[0])

    def _has(self, part: Part, names: Sequence[str]) -> bool:
        return any(root.has(part, names) for root in self.roots)

    def _is_directory(self, part: Part, names: Sequence[str]) -> bool:
        if len(names) == 1 and any(names[0] in root.waiting(part) for root in self.roots):
            return True
        return any(os.path.isdir(root.folder(part, names)) for root in self._counting(part, names))

    def _hides_ours(self, names: Sequence[str]) -> bool:
        """Whether a dataset is in redelve's own directory, and also, whole, in one of the user's."""
        own = (root for root in self.roots if not root.is_builtin)
        ours = (root for root in self.roots if root.is_builtin)
        return any(one.defines(names[:1], "Dataset.spec") for one in own) and any(
            one.defines(names[:1], "Dataset.spec") for one in ours
        )

    def _counting(self, part: Part, names: Sequence[str]) -> tuple[Root, ...]:
        """The roots to look into: a dataset of the user's own hides redelve's of the same name."""
        if part == "data" and names and self._hides_ours(names):
            return tuple(root for root in self.roots if not root.is_builtin)
        return self.roots

    def _defining(self, names: Sequence[str], specification: str) -> list[Root]:
        """The roots that count in which a dataset or prototask is specified."""
        return [root for root in self._counting("data", names) if root.defines(names, specification)]

    def _holders(self, part: Part, names: Sequence[str]) -> list[Root]:
        """The roots that have something under these names, which is generated now if it was waiting."""
        if part == "data" and names:
            self._refuse_clash("dataset", names[:1], "Dataset.spec")
        counting = self._counting(part, names)
        for root in counting:
            root.generate(part, names)
        if part == "data" and len(names) > 1:
            self._refuse_clash("prototask", names[:2], "Prototask.spec")
        return [root for root in counting if root.has(part, names)]

    def _refuse_clash(self, what: str, names: Sequence[str], specification: str) -> None:
        found = self._defining(names, specification)
        if len(found) > 1:
            listed = " and ".join(f'"{root.folder("data", names)}"' for root in found)
            way_out = "rename one of them, or name only one of the delve directories in DELVE_PATH"
            if any(root.is_builtin for root in found):
                way_out = "rename yours, or put the whole dataset (Dataset.spec, Dataset.data) beside it"
            raise LocationError(f'{what} "{join_address(names)}" is defined in {listed}: {way_out}')


def _task_order(name: str, parsed: TaskName | None) -> tuple[float, str]:
    return (float("inf"), name) if parsed is None else (parsed.training_set_size, parsed.prior)
