"""What is checked, a dataset as far as it can be understood, and what a check finds in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from redelve.data.delve.reading import Library
from redelve.data.files import TEXT_LIMIT, read_text
from redelve.data.problems import Problem, Problems
from redelve.errors import FormatError, RedelveError
from redelve.model import Cases, DatasetSpec

MOST_SHOWN = 100


def first_of(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """As many as are shown, in the order of their lines; what concerns the whole file comes first."""
    return tuple(sorted(problems, key=lambda problem: problem.line or 0)[:MOST_SHOWN])


@dataclass(frozen=True)
class FileReport:
    """The first problems of a file, and how many it has in all."""

    path: str
    problems: tuple[Problem, ...] = ()
    count: int = 0

    @staticmethod
    def of(problems: Problems) -> FileReport:
        """The report that says what was collected."""
        return FileReport(problems.path, first_of(problems), len(problems))

    def __str__(self) -> str:
        lines = [" ".join(str(problem).splitlines()) for problem in self.problems]
        if self.count > len(lines):
            more = self.count - len(lines)
            lines.append(f"{self.path}: {more} more problem{'s' * (more > 1)} in this file")
        return "".join(f"{line}\n" for line in lines)


@contextmanager
def noted(problems: Problems) -> Iterator[None]:
    """Turn an error that is raised into a problem of the file."""
    try:
        yield
    except FormatError as error:
        problems.add(error.line, error.message)
    except RedelveError as error:
        problems.add(None, str(error))


@dataclass(frozen=True)
class CheckedSource:
    """A dataset; `cases` is None where they cannot be read, `is_clean` says that no value is out of range."""

    library: Library
    spec: DatasetSpec
    cases: Cases | None = None
    is_clean: bool = True

    def opened(self, place: str, what: str, limit: int = TEXT_LIMIT) -> tuple[Problems, str | None]:
        """A file's text, and an empty list of problems for its true path; or else why it cannot be read."""
        cpath = f"/{self.spec.name}/{place}"
        problems = Problems(cpath)
        with noted(problems):
            path = self.library.overlay.locate(cpath, what=what)
            problems = Problems(path)
            with noted(problems):
                return problems, read_text(path, limit=limit)
        return problems, None
