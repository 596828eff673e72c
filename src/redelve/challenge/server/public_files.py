"""The files that participants may have now, one by one or as one zip."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from fastapi.responses import FileResponse

from redelve.challenge.packing import MOMENT
from redelve.challenge.server.refusals import not_found
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import Stage


def downloads(services: Services) -> dict[str, dict[str, Path]]:
    """The files that may be downloaded now, by dataset and name."""
    stage = services.stage()
    if stage is Stage.BEFORE:
        return {}
    found = {}
    for name in services.challenge.names:
        paths = list(services.challenge.public_files(name))
        if stage >= Stage.LABELS:
            paths.append(services.challenge.labels_path(name, "valid"))
        if stage is Stage.ENDED and services.challenge.rules.test_labels == "published":
            paths.append(services.challenge.labels_path(name, "test"))
        found[name] = {path.name: path for path in paths if path.is_file()}
    return found


def one_file(services: Services, dataset: str, file: str) -> FileResponse:
    """One of the files; names are looked up, never put together."""
    path = downloads(services).get(dataset, {}).get(file)
    if path is None:
        raise not_found("such file")
    return FileResponse(path, media_type="text/plain; charset=utf-8", filename=file)


def all_files(services: Services) -> FileResponse:
    """All of them as a zip, which is made when it is first asked for and kept."""
    paths = [path for files in downloads(services).values() for path in files.values()]
    if not paths:
        raise not_found("such file")
    folder = services.settings.data / "downloads"
    path = folder / f"{_digest(paths)}.zip"
    if not path.is_file():
        folder.mkdir(exist_ok=True, mode=0o700)
        _make(path, paths)
    return FileResponse(path, media_type="application/zip", filename="data.zip")


def _digest(paths: Sequence[Path]) -> str:
    """What the zip depends on: the files there are, and when they were written."""
    facts = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


def _make(path: Path, paths: Sequence[Path]) -> None:
    """Write the zip; it appears whole or not at all, and those made before it go."""
    part = path.with_name(f"{uuid4().hex}.part")
    try:
        with zipfile.ZipFile(part, "w", compresslevel=1) as archive:
            for each in paths:
                member = zipfile.ZipInfo(each.name, MOMENT)
                member.compress_type = zipfile.ZIP_DEFLATED
                with each.open("rb") as source, archive.open(member, "w") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
        newest = max(each.stat().st_mtime_ns for each in paths)
        os.utime(part, ns=(newest, newest))  # caches compare times; that of the first request tells nothing
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    for older in path.parent.glob("*.zip"):
        if older != path:
            older.unlink(missing_ok=True)
