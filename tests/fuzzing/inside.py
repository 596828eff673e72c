"""Ways to spoil what is inside of compressed files, tables and documents; checksums are right again."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

Spoil = Callable[[Random, bytes], bytes]

VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 1e308, 1 << 70, 2.5, "", "x", "../../x", "é\0", [], {}, [None], {"x": []}, "nan"),
    *("a" * 500, [[[[[[]]]]]], "1979-05-27T07:32:00Z", "0" * 64, "/demo/age/std.32", "x\ud800", "a\nb"),
    *(10**400, -1e308, 1e-320, float("nan"), float("inf"), -(1 << 63), 1 << 31, "\x1b[31m", False, "1e999"),
)
NAMES = (
    "../evil",
    "/etc/evil",
    "C:\\evil",
    "a/b/c",
    "anna.guess",
    "é.resu",
    "__MACOSX/x",
    "x" * 300,
    "",
    "a\\b",
    ".",
)


def inner_json(chance: Random, data: bytes) -> bytes:
    """A document with another value somewhere, one less or one more; its checksum is right."""
    document = json.loads(data)
    place = document
    while isinstance(place, dict | list) and place:
        key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if not isinstance(place[key], dict | list) or not place[key] or chance.random() < 0.2:
            break
        place = place[key]
    if isinstance(place, dict | list) and place:
        if chance.random() < 0.3:
            del place[key]
        else:
            place[key] = chance.choice(VALUES)
    if isinstance(document, dict) and "checksum" in document:
        document = sealed(document)
    return json.dumps(document).encode()


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """With the checksum that it should have."""
    bare = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"))
    return {**bare, "checksum": hashlib.sha256(text.encode()).hexdigest()}


def inner_zip(spoil: Spoil) -> Spoil:
    """A zip with a member spoilt, left out, doubled or under another name."""

    def rezipped(chance: Random, data: bytes) -> bytes:
        with zipfile.ZipFile(io.BytesIO(data)) as old:
            members = [(one.filename, old.read(one)) for one in old.infolist()]
        spot = chance.randrange(len(members))
        name, content = members[spot]
        how = chance.choice(("content", "content", "content", "lost", "doubled", "name", "folder", "large"))
        members[spot : spot + 1] = {
            "content": [(name, spoil(chance, content))],
            "lost": [],
            "doubled": [(name, content), (name, content)],
            "name": [(chance.choice(NAMES), content)],
            "folder": [(f"{name}/", b"")],
            "large": [(name, bytes(50_000_000))],
        }[how]
        return _zipped(members)

    return rezipped


def _zipped(members: list[tuple[str, bytes]]) -> bytes:
    import warnings

    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        warnings.simplefilter("ignore")  # doubled on purpose
        for name, content in members:
            new.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def inner_lines(chance: Random, data: bytes) -> bytes:
    """JSON lines of which one has another value."""
    lines = data.splitlines()
    spot = chance.randrange(len(lines))
    return b"\n".join([*lines[:spot], inner_json(chance, lines[spot]), *lines[spot + 1 :]]) + b"\n"


def inner_gzip(spoil: Spoil) -> Spoil:
    """Good compression of something spoilt."""
    return lambda chance, data: gzip.compress(spoil(chance, gzip.decompress(data)))


def changed_table(chance: Random, table: Any) -> Any:
    """A table with a column lost, renamed, of another type, or with other values; or other rows."""
    import pyarrow

    names, rows = table.column_names, table.num_rows
    spot = chance.randrange(len(names))
    columns = {
        "nulls": pyarrow.nulls(rows),
        "texts": pyarrow.array([chance.choice(("x", "", "1", "é\0")) for _ in range(rows)]),
        "numbers": pyarrow.array(
            [chance.choice((1e308, float("nan"), float("-inf"), 0.0)) for _ in range(rows)]
        ),
        "large": pyarrow.array([1 << 62] * rows),
        "lists": pyarrow.array([[1, 2]] * rows),
        "structures": pyarrow.array([{"a": 1}] * rows),
        "bytes": pyarrow.array([b"\xff\0"] * rows),
        "truths": pyarrow.array([True] * rows),
        "moments": pyarrow.array([0] * rows, pyarrow.timestamp("ns", "UTC")),
        "decimals": pyarrow.array([None] * rows, pyarrow.decimal128(30, 5)),
    }
    how = chance.choice((*columns, "lost", "renamed", "named twice", "no rows", "half", "twice"))
    if how in columns:
        return table.set_column(spot, names[spot], columns[how])
    others = [*names[:spot], chance.choice(("", "é\0", "a.b", "x" * 5000)), *names[spot + 1 :]]
    again = [*names[:spot], names[spot - 1], *names[spot + 1 :]]
    ways: dict[str, Callable[[], Any]] = {
        "lost": lambda: table.remove_column(spot),
        "renamed": lambda: table.rename_columns(others),
        "named twice": lambda: table.rename_columns(again),
        "no rows": lambda: table.slice(0, 0),
        "half": lambda: table.slice(rows // 2),
        "twice": lambda: pyarrow.concat_tables([table, table]),
    }
    return ways[how]()


def inner_parquet(chance: Random, data: bytes) -> bytes:
    """A sound Parquet file of another table."""
    from pyarrow import parquet

    made = io.BytesIO()
    parquet.write_table(changed_table(chance, parquet.read_table(io.BytesIO(data))), made)
    return made.getvalue()


def inner_arrow(chance: Random, data: bytes) -> bytes:
    """A sound Arrow file of another table."""
    from pyarrow import ipc

    table = changed_table(chance, ipc.open_file(io.BytesIO(data)).read_all())
    made = io.BytesIO()
    with ipc.new_file(made, table.schema) as writer:
        writer.write_table(table)
    return made.getvalue()


def inner(spoil: Spoil) -> dict[str, Spoil]:
    """By the ending of the file's name."""
    return {
        ".json": inner_json,
        ".jsonl": inner_lines,
        ".zip": inner_zip(spoil),
        ".npz": inner_zip(spoil),
        ".gz": inner_gzip(spoil),
        ".parquet": inner_parquet,
        ".arrow": inner_arrow,
    }


def seal(path: Path, data: bytes) -> None:
    """Put a spoilt file of an archive in its place, where its names and the manifest tell its checksum."""
    checksum = hashlib.sha256(data).hexdigest()
    path.unlink()
    if path.suffix == ".arrow":
        head, status, _, _ = path.name.split(".")
        path = path.with_name(f"{head}.{status}.{checksum}.arrow")
    path.write_bytes(data)
    listing = (one / "manifest.json" for one in path.parents if (one / "manifest.json").is_file())
    for manifest in (one for one in listing if one != path):
        document = json.loads(manifest.read_bytes())
        name = path.relative_to(manifest.parent).as_posix()
        if name in document.get("files", {}):
            document["files"][name] = {"sha256": checksum, "bytes": len(data)}
            document.pop("checksum")
            text = json.dumps(document, sort_keys=True, separators=(",", ":"))
            manifest.write_text(
                json.dumps({**document, "checksum": hashlib.sha256(text.encode()).hexdigest()})
            )
