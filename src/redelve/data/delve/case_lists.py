"""Lists of case numbers: Random-order, files of cases, and explicit instances (manual 4.4, 6.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from redelve.data.delve.keyed_lines import numbered_lines, shown, strip_comment
from redelve.data.problems import Problems
from redelve.errors import FormatError

CaseLists = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]

SPAN = re.compile(r"(\d{1,15})(?:\.\.(\d{1,15}))?", re.ASCII)
LIST_LINE = re.compile(r"(train|test)\s+(\d{1,9})\s*:(.*)", re.ASCII | re.IGNORECASE)
MOST_CASES = 10_000_000


def parse_case_numbers(text: str, problems: Problems) -> list[int]:
    """One case number a line, from 1."""
    numbers: list[int] = []
    seen: set[int] = set()
    for line, raw in numbered_lines(text):
        word = strip_comment(raw)
        if not word:
            continue
        if not (word.isascii() and word.isdigit() and len(word) < 16 and int(word) > 0):
            problems.add(line, f'expected a case number but got "{shown(word)}"', value=word)
            continue
        if int(word) in seen:
            problems.add(line, f"case {word} is listed twice", value=word)
        seen.add(int(word))
        numbers.append(int(word))
    return numbers


def read_case_numbers(text: str, path: str) -> list[int]:
    """One case number a line, from 1; the first violation is raised."""
    problems = Problems(path)
    numbers = parse_case_numbers(text, problems)
    problems.raise_first()
    return numbers


def write_case_numbers(numbers: Iterable[int]) -> str:
    """One number a line."""
    return "".join(f"{number}\n" for number in numbers)


def read_instances(text: str, path: str) -> CaseLists:
    """Explicit instances: lines `train 0: 1 5 7..20` and `test 0: 2 3`, instances from 0 without gaps."""
    lists: dict[tuple[str, int], tuple[int, ...]] = {}
    for line, raw in numbered_lines(text):
        bare = strip_comment(raw)
        if not bare:
            continue
        match = LIST_LINE.fullmatch(bare)
        if match is None:
            raise FormatError(
                path, line, f'expected "train 0: 1 5 7..20" or "test 0: ..." but got "{shown(bare)}"'
            )
        key = (match[1].lower(), int(match[2]))
        if key in lists:
            raise FormatError(path, line, f'the list "{key[0]} {key[1]}" is given twice')
        lists[key] = _case_list(match[3], path, line)
    return _paired(lists, path)


def _case_list(text: str, path: str, line: int) -> tuple[int, ...]:
    numbers: list[int] = []
    for word in text.split():
        span = SPAN.fullmatch(word)
        if span is None:
            raise FormatError(
                path, line, f'expected case numbers or spans like 7..20 but got "{shown(word)}"'
            )
        first, last = int(span[1]), int(span[2] or span[1])
        if first < 1 or last < first:
            raise FormatError(path, line, f'bad span of cases "{word}": should run upwards from at least 1')
        if len(numbers) + last - first >= MOST_CASES:
            raise FormatError(path, line, f'with "{word}" the list has more than {MOST_CASES} cases')
        numbers.extend(range(first, last + 1))
    return tuple(numbers)


def _paired(lists: dict[tuple[str, int], tuple[int, ...]], path: str) -> CaseLists:
    count = len({number for _, number in lists})
    if count == 0:
        raise FormatError(path, None, "there are no instances")
    for number in range(count):
        for role in ("train", "test"):
            if (role, number) not in lists:
                raise FormatError(
                    path, None, f'the list "{role} {number}" is missing: instances count from 0'
                )
    return tuple((lists["train", number], lists["test", number]) for number in range(count))


def write_instances(lists: Sequence[tuple[Sequence[int], Sequence[int]]]) -> str:
    """Explicit instances as text, runs of numbers written as spans."""
    lines = []
    for number, (training, testing) in enumerate(lists):
        lines.append(f"train {number}: {_spans(training)}\n")
        lines.append(f"test {number}: {_spans(testing)}\n")
    return "".join(lines)


def _spans(numbers: Sequence[int]) -> str:
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(str(first) if first == last else f"{first}..{last}" for first, last in spans)
