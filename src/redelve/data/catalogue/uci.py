"""The UCI repository: a dataset by its name or number (`uci:iris`, `uci:53`), as its API offers it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from redelve.data.catalogue.depot import Depot
from redelve.data.catalogue.downloads import Download, DownloadSource
from redelve.errors import LocationError, SpecError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ()+,.'_-]{0,120}", re.ASCII)
NOMINAL = ("categorical", "binary")


def load(name: str, depot: Depot, checksum: str | None) -> Download:
    """The table, and what the repository tells of its columns."""
    if not NAME.fullmatch(name):
        raise SpecError(f'bad UCI reference "{name}": expected a name or number like uci:iris or uci:53')
    query = f"id={name}" if name.isdigit() else f"name={quote(name)}"
    folder = f"uci/{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}"
    described = depot.description(f"{depot.server}/api/dataset?{query}", f"{folder}/description.json", "data")
    url = described.get("data_url")
    if not url:
        page = described.get("repository_url", depot.server)
        raise LocationError(f'the UCI repository offers no table of "{name}": look at {page}')
    stored = depot.file(str(url), f"{folder}/data.csv", checksum=checksum)
    return Download(
        reference=f"uci:{name}",
        name=str(described.get("name", name)),
        kind="table",
        path=stored.path,
        url=stored.url,
        sha256=stored.sha256,
        targets=_columns(described, "Target") or tuple(described.get("target_col") or ()),
        nominal=tuple(one["name"] for one in _variables(described) if _type(one) in NOMINAL),
        unused=_columns(described, "ID") + _columns(described, "Other"),
        licence=described.get("license") or described.get("licence"),
        citation=_citation(described),
    )


SOURCE = DownloadSource("https://archive.ics.uci.edu", load)


def _variables(described: Mapping[str, Any]) -> list[dict[str, Any]]:
    variables = described.get("variables") or []
    return [one for one in variables if isinstance(one, dict) and isinstance(one.get("name"), str)]


def _columns(described: Mapping[str, Any], role: str) -> tuple[str, ...]:
    return tuple(one["name"] for one in _variables(described) if str(one.get("role")) == role)


def _type(variable: Mapping[str, Any]) -> str:
    return str(variable.get("type")).lower()


def _citation(described: Mapping[str, Any]) -> str | None:
    doi = described.get("dataset_doi")
    if not doi:
        return None
    people = ", ".join(str(one) for one in described.get("creators") or ())
    year = described.get("year_of_dataset_creation")
    dated = f" ({year})" if year else ""
    return f"{people}{dated}, {described.get('name')}, UCI Machine Learning Repository, doi:{doi}"
