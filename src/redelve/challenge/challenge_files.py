"""The files of a prediction challenge, as in NIPS 2003 and WCCI 2006: data, labels, answers, guesses.

`name_train.data` has a line for each pattern: its values (dense), or `feature:value` for what is not zero,
features counted from 1 (sparse), or the features that are 1 (sparse binary). `name_train.labels` and
`name_valid.resu` have 1 or −1 on each line, `.conf` a number, larger for what is rather positive, and
`name.guess` the expected balanced error rate. `name.param` tells sizes and kind. Everything is read strictly,
with the line and the way out; blank lines at the end are allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from redelve.data.delve.keyed_lines import shown
from redelve.data.files import StrPath, open_bytes
from redelve.data.problems import Problems
from redelve.errors import FormatError, SpecError
from redelve.model.dataset import Numbers
from redelve.text_numbers import parse_number

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Int8Array = NDArray[np.int8]
Kind = Literal["dense", "sparse", "sparse-binary"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PARTS = ("train", "valid", "test")

MOST_PROBLEMS = 5
"""After so many bad lines no further ones are looked for."""
LIMIT = 2 << 30
LABELS = (b"1", b"-1", b"+1")
ONES = re.compile(rb"(?:[+-]?1(?:\.0*)?(?:[eE][+-]?0{1,3})?\n)+")
"""Lines that are 1 or −1, however many zeros follow."""
UTF_8_MARK, UTF_16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,39}", re.ASCII)
PARAM_LINE = re.compile(r"\s*([a-z_]+)\s*=\s*(\S+)\s*", re.ASCII)


def check_name(name: str) -> str:
    """The name if it may be a dataset's: it is part of file names, so little is allowed."""
    if not NAME.fullmatch(name):
        raise SpecError(
            f'"{shown(name, 40)}" is no name for a dataset: use a letter, then up to 39 letters, digits or -'
        )
    return name


def parse_labels(data: bytes, problems: Problems, expected: int | None = None) -> Int8Array | None:
    """1 or −1 on each line, for labels and answers alike; None and problems if anything is wrong."""
    if (body := _text_body(data, problems)) is None:
        return None
    values = np.frombuffer(body, dtype=np.uint8)
    ends = np.flatnonzero(values == 10)
    lengths = np.diff(ends, prepend=-1) - 1
    if not _count_agrees(ends.size, expected, problems, "1 or -1"):
        _name_bad_labels(body, problems)
        return None
    long = lengths == 2
    signs = values[ends[long] - 2]
    plain = (long | (lengths == 1)).all() and (values[ends - 1] == 49).all()
    if not plain or not np.isin(signs, (43, 45)).all():
        return _written_out(body, problems)
    labels = np.ones(ends.size, dtype=np.int8)
    labels[np.flatnonzero(long)[signs == 45]] = -1
    return labels


def _written_out(body: bytes, problems: Problems) -> Int8Array | None:
    """Labels written as 1.0 or 1.000e+00, as NumPy's savetxt and pandas do; problems where they are not."""
    if not ONES.fullmatch(body):
        _name_bad_labels(body, problems)
        return None
    values = np.frombuffer(body, dtype=np.uint8)
    starts = np.concatenate(([0], np.flatnonzero(values == 10)[:-1] + 1))
    return np.where(values[starts] == 45, -1, 1).astype(np.int8)


def parse_confidences(data: bytes, problems: Problems, expected: int | None = None) -> Numbers | None:
    """A finite number on each line; None and problems if anything is wrong."""
    if (body := _text_body(data, problems)) is None:
        return None
    count = body.count(b"\n")
    if not _count_agrees(count, expected, problems, "a number"):
        _name_bad_numbers(body, problems)
        return None
    values = _column(body) if count else np.empty(0)
    if values is None or values.size != count or not np.isfinite(values).all():
        _name_bad_numbers(body, problems)
        return None
    return values


def parse_guess(data: bytes, problems: Problems) -> float | None:
    """The one number of a .guess file, between 0 and 1."""
    if (body := _text_body(data, problems)) is None:
        return None
    text = body.decode("ascii", "replace").strip()
    value = parse_number(text)
    if value is None:
        share = parse_number(text.rstrip("% ").replace(",", "."))
        meant = "" if share is None else f": write {share / 100 if text.endswith('%') else share:g}"
        problems.add(
            1, f'expected one number, the guessed balanced error rate, but got "{shown(text, 40)}"{meant}'
        )
    elif not 0 <= value <= 1:
        hint = f": write {value / 100:g} if you mean {value:g} %" if 1 < value <= 100 else ""
        problems.add(1, f"a guess lies between 0 and 1, got {value:g}{hint}")
    else:
        return value
    return None


def read_labels(path: StrPath, expected: int | None = None) -> Int8Array:
    """The labels of a file, 1 and −1."""
    problems = Problems(path)
    found = parse_labels(_read(path), problems, expected)
    problems.raise_first()
    assert found is not None
    return found


def read_confidences(path: StrPath, expected: int | None = None) -> Numbers:
    """The numbers of a .conf file."""
    problems = Problems(path)
    found = parse_confidences(_read(path), problems, expected)
    problems.raise_first()
    assert found is not None
    return found


def read_guess(path: StrPath) -> float:
    """The number of a .guess file."""
    problems = Problems(path)
    found = parse_guess(_read(path), problems)
    problems.raise_first()
    assert found is not None
    return found


def labels_bytes(labels: Any) -> bytes:
    """Labels or answers as they are written, a line each."""
    values = np.asarray(labels)
    if values.ndim != 1 or not np.isin(values, (-1, 1)).all():
        wrong = values[~np.isin(values, (-1, 1))][:1].tolist() if values.ndim == 1 else values.shape
        raise SpecError(f"labels are a vector of 1 and -1: got {wrong}")
    return b"".join(np.where(values > 0, b"1\n", b"-1\n").tolist())


def confidences_bytes(confidences: Any) -> bytes:
    """Confidences with the shortest digits that stand for the same numbers."""
    values = np.asarray(confidences, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise SpecError(f"confidences are a vector of finite numbers: got shape {values.shape}")
    return "".join(f"{value!r}\n" for value in values.tolist()).encode()


def guess_bytes(guess: float) -> bytes:
    """A guess as it is written."""
    if not 0 <= guess <= 1:
        raise SpecError(f"a guess of the balanced error rate lies between 0 and 1: got {guess}")
    return f"{float(guess)!r}\n".encode()


@dataclass(frozen=True)
class Parameters:
    """What `name.param` tells of a dataset."""

    name: str
    kind: Kind
    features: int
    train: int
    valid: int
    test: int

    @property
    def sizes(self) -> dict[str, int]:
        """Patterns by part."""
        return {"train": self.train, "valid": self.valid, "test": self.test}


NUMBERS = ("features", "train", "valid", "test")


def parameters_text(parameters: Parameters) -> str:
    """The file `name.param`."""
    keys = ("name", "kind", *NUMBERS)
    return "".join(f"{key} = {getattr(parameters, key)}\n" for key in keys)


def read_parameters(path: StrPath) -> Parameters:
    """What a .param file tells."""
    problems = Problems(path)
    found: dict[str, str] = {}
    text = _read(path, 1 << 16).decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), start=1):
        match = PARAM_LINE.fullmatch(line)
        if match is None or match[1] not in ("name", "kind", *NUMBERS):
            problems.add(number, f'expected a line such as "train = 100" but got "{shown(line, 40)}"')
        elif match[1] in NUMBERS and not (match[2].isascii() and match[2].isdigit() and len(match[2]) < 10):
            problems.add(number, f'{match[1]} is a whole number, not "{shown(match[2], 40)}"')
        elif match[1] in found:
            problems.add(number, f"{match[1]} is given twice: leave one out")
        else:
            found[match[1]] = match[2]
    problems.raise_first()
    if missing := [key for key in ("name", "kind", *NUMBERS) if key not in found]:
        raise FormatError(path, None, f"there is no line for {', '.join(missing)}")
    kind = next((kind for kind in KINDS if kind == found["kind"]), None)
    if kind is None:
        raise FormatError(path, None, f'kind is one of {", ".join(KINDS)}, not "{shown(found["kind"], 40)}"')
    return Parameters(check_name(found["name"]), kind, *(int(found[key]) for key in NUMBERS))


def dense_lines(values: NDArray[Any], block: int = 4096) -> Iterator[str]:
    """The lines of a dense .data file, many at a time; whole numbers are written without a point."""
    for start in range(0, len(values), block):
        rows = np.asarray(values[start : start + block])
        whole = rows.dtype.kind in "iub" or bool((rows == np.rint(rows)).all())
        listed = (rows.astype(np.int64) if whole else rows).tolist()
        yield "".join(" ".join(map(repr, row)) + "\n" for row in listed)


def sparse_lines(values: csr_array, *, binary: bool) -> Iterator[str]:
    """The lines of a sparse .data file; features count from 1."""
    columns, numbers = (values.indices + 1).tolist(), values.data.tolist()
    bounds = values.indptr.tolist()
    for start, end in pairwise(bounds):
        if binary:
            yield " ".join(map(str, columns[start:end])) + "\n"
        else:
            pairs = zip(columns[start:end], numbers[start:end], strict=True)
            yield " ".join(f"{column}:{number:g}" for column, number in pairs) + "\n"


def read_data(path: StrPath, parameters: Parameters, part: str) -> Numbers | csr_array:
    """The patterns of a part: an array if dense, a sparse matrix else."""
    expected = parameters.sizes[part]
    if parameters.kind == "dense":
        return read_dense(path, (expected, parameters.features))
    return read_sparse(path, (expected, parameters.features), binary=parameters.kind == "sparse-binary")


def read_dense(path: StrPath, shape: tuple[int, int]) -> Numbers:
    """A dense .data file of so many patterns and features."""
    problems = Problems(path)
    body = _body(_read(path))
    if not _count_agrees(body.count(b"\n"), shape[0], problems, "a pattern"):
        problems.raise_first()
    values = _table(body, shape[1]) if shape[0] else np.empty(shape)
    if values is None or values.shape != shape or not np.isfinite(values).all():
        _name_bad_rows(body, problems, shape[1])
        problems.raise_first()
        raise FormatError(path, None, f"expected {shape[0]} lines of {shape[1]} numbers divided by blanks")
    return values


def read_sparse(path: StrPath, shape: tuple[int, int], *, binary: bool) -> csr_array:
    """A sparse .data file; within a line features ascend."""
    from scipy.sparse import csr_array

    problems = Problems(path)
    body = _sparse_body(_read(path))
    if not _count_agrees(body.count(b"\n"), shape[0], problems, "a pattern"):
        problems.raise_first()
    rows = [line.split() for line in body.split(b"\n")[:-1]]
    bounds = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
    words = [word for row in rows for word in row]
    features, values = _sparse_words(words, binary)
    wrong = (features < 1) | (features > shape[1]) | ~np.isfinite(values)
    wrong |= _not_ascending(features, bounds)
    if wrong.any():
        place = int(np.argmax(wrong))
        line = int(np.searchsorted(bounds, place, side="right"))
        raise FormatError(path, line, _sparse_trouble(words[place], shape[1], binary))
    # Half of scikit-learn takes 32-bit indices only.
    indices = np.int32 if max(int(bounds[-1]), shape[1]) < 2**31 else np.int64
    return csr_array((values, (features - 1).astype(indices), bounds.astype(indices)), shape=shape)


def _sparse_words(words: Sequence[bytes], binary: bool) -> tuple[NDArray[np.int64], Numbers]:
    """Feature numbers and values; 0 and NaN for what cannot be read."""
    known: dict[bytes, tuple[int, float]] = {}
    for word in set(words):
        feature, colon, value = word.partition(b":")
        number = 1.0 if binary else parse_number(value.decode("ascii", "replace"))
        good = feature.isdigit() and len(feature) < 10 and bool(colon) != binary
        known[word] = (int(feature), number if number is not None else np.nan) if good else (0, np.nan)
    features = np.fromiter((known[word][0] for word in words), np.int64, len(words))
    return features, np.fromiter((known[word][1] for word in words), np.float64, len(words))


def _not_ascending(features: NDArray[np.int64], bounds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a feature is not above the one before it on its line."""
    late = np.concatenate(([False], np.diff(features) <= 0)) if features.size else np.zeros(0, dtype=np.bool_)
    starts = bounds[:-1]
    late[starts[starts < features.size]] = False
    return np.asarray(late)


def _sparse_trouble(word: bytes, features: int, binary: bool) -> str:
    like = "feature numbers such as 17" if binary else "feature:value such as 17:250"
    text = shown(word.decode("ascii", "replace"), 40)
    return f'"{text}": expected {like}, features ascending from 1 to {features}, divided by blanks'


def _read(path: StrPath, limit: int = LIMIT) -> bytes:
    with open_bytes(path) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise FormatError(path, None, f"larger than {limit} bytes, too large for a file of this kind")
    return data


def _body(data: bytes) -> bytes:
    r"""The lines with `\n` at each one's end, without blank ones at the end of the file."""
    bare = _plain_ends(data).rstrip(b" \t\n")
    return bare + b"\n" if bare else b""


def _text_body(data: bytes, problems: Problems) -> bytes | None:
    """The lines of what a participant wrote, if it is plain text."""
    if data.startswith(UTF_16):
        problems.add(None, "this is written in UTF-16: save it as plain text (ASCII or UTF-8)")
        return None
    return _body(data)


def _plain_ends(data: bytes) -> bytes:
    """Line ends of all systems as `\\n`; the mark that some editors put before UTF-8 is left out."""
    data = data.removeprefix(UTF_8_MARK)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _sparse_body(data: bytes) -> bytes:
    r"""The lines with `\n` at each one's end: a pattern without any feature is a blank line."""
    body = _plain_ends(data)
    return body if body.endswith(b"\n") or not body else body + b"\n"


def _count_agrees(count: int, expected: int | None, problems: Problems, what: str) -> bool:
    if expected is None or count == expected:
        return True
    verb = "lack" if count < expected else "are too many"
    problems.add(
        None,
        f"expected {expected} lines, {what} on each, but got {count}: {abs(expected - count)} {verb}",
    )
    return False


def _name_bad_labels(body: bytes, problems: Problems) -> None:
    for number, line in enumerate(body.split(b"\n")[:-1], start=1):
        if not ONES.fullmatch(line + b"\n"):
            text = shown(line.decode("ascii", "replace"), 40)
            problems.add(number, f'expected 1 or -1 but got "{text}"{_label_meant(line)}')
            if len(problems) >= MOST_PROBLEMS:
                return


def _label_meant(line: bytes) -> str:
    """What to write instead, where that is clear."""
    if not line.strip():
        return ": leave out blank lines"
    if line.strip() in LABELS:
        return ": leave out the blanks"
    number = parse_number(line.decode("ascii", "replace"))
    return f": write {1 if number == 1 else -1}" if number in (0, 1, -1) else ""


def _name_bad_numbers(body: bytes, problems: Problems) -> None:
    for number, line in enumerate(body.split(b"\n")[:-1], start=1):
        text = line.decode("ascii", "replace")
        if parse_number(text) is None:
            problems.add(number, f'expected a finite number but got "{shown(text, 40)}"')
            if len(problems) >= MOST_PROBLEMS:
                return


def _name_bad_rows(body: bytes, problems: Problems, features: int) -> None:
    for number, line in enumerate(body.split(b"\n")[:-1], start=1):
        words = line.decode("ascii", "replace").split()
        if len(words) != features:
            problems.add(number, f"expected {features} numbers but got {len(words)}")
        elif bad := [word for word in words if parse_number(word) is None]:
            problems.add(number, f'expected finite numbers but got "{shown(bad[0], 40)}"')
        if len(problems) >= MOST_PROBLEMS:
            return


def _column(body: bytes) -> Numbers | None:
    """A column of numbers; None if any line is none."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(body),
            arrow_csv.ReadOptions(column_names=["x"], use_threads=False),
            arrow_csv.ParseOptions(delimiter="\x01", quote_char=False, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(column_types={"x": pa.float64()}, null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    values: Numbers = table["x"].to_numpy()
    return values


def _table(body: bytes, width: int) -> Numbers | None:
    """A table of numbers divided by single blanks; None if that fails in any way."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    names = [f"c{number}" for number in range(width)]
    clean = re.sub(rb"[ \t]+\n", b"\n", re.sub(rb"[ \t]{2,}|\t", b" ", body))
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(clean),
            arrow_csv.ReadOptions(column_names=names, use_threads=False, block_size=max(1 << 20, 64 * width)),
            arrow_csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.float64()), null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    return np.column_stack([column.to_numpy() for column in table.columns])
