"""What is checked: a dataset as far as it can be understood, and the files around it."""

from __future__ import annotations

from dataclasses import dataclass

from redelve.data.delve.check.check_reports import noted
from redelve.data.delve.reading import Library
from redelve.data.files import TEXT_LIMIT, read_text
from redelve.data.problems import Problems
from redelve.model import Cases, DatasetSpec


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
