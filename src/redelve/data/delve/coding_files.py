"""Encoding files: what `mgendata -c` takes and what Coding-used records (manual, appendix C)."""

from __future__ import annotations

from collections.abc import Mapping

from redelve.data.delve.keyed_lines import numbered_lines, strip_comment
from redelve.data.delve.option_words import parse_options, write_option
from redelve.errors import FormatError, SpecError
from redelve.model.coding import Coding
from redelve.model.dataset import DatasetSpec


def read_codings(
    text: str, path: str, dataset: DatasetSpec, defaults: Mapping[int, Coding]
) -> dict[int, Coding]:
    """Codings by attribute number: the file's, else `defaults`, whose keys are the attributes in use."""
    codings = dict(defaults)
    seen: set[int] = set()
    for line, raw in numbered_lines(text):
        words = strip_comment(raw).split()
        if not words:
            continue
        number = _attribute(words[0], path, line, dataset, defaults)
        if number in seen:
            raise FormatError(path, line, f'attribute "{words[0]}" has two lines')
        seen.add(number)
        codings[number] = _coding(words, path, line, defaults[number])
    return codings


def _attribute(word: str, path: str, line: int, dataset: DatasetSpec, used: Mapping[int, Coding]) -> int:
    try:
        number = dataset.attribute(word).number
    except SpecError as error:
        raise FormatError(path, line, str(error)) from None
    if number not in used:
        raise FormatError(
            path, line, f'attribute "{word}" exists, but is neither input nor target of the task'
        )
    return number


def _coding(words: list[str], path: str, line: int, default: Coding) -> Coding:
    if len(words) < 2:
        raise FormatError(
            path, line, f'expected "attribute encoding [option=value ...]" but got "{words[0]}"'
        )

    def complain(rule: str) -> None:
        raise FormatError(path, line, rule)

    options = parse_options(words[2:], complain)
    if options.order is not None:
        complain("the order of values belongs into the prior, not into an encoding")
    return Coding(
        words[1],
        options.passive,
        options.center,
        options.unit,
        options.scale or default.scale,
        options.missing or default.missing,
    )


def write_codings(codings: Mapping[int, Coding], dataset: DatasetSpec) -> str:
    """One line per attribute, sorted by name, with two blanks before the options as DELVE wrote them.

    The case number, which no dataset lists among its attributes, goes by its number 0.
    """
    lines = []
    for number, coding in codings.items():
        options = "".join(
            " " + write_option(key, getattr(coding, key))
            for key in ("passive", "center", "unit", "scale", "missing")
            if getattr(coding, key) is not None
        )
        name = dataset.attribute(number).name if number else "0"
        lines.append(f"{name} {coding.method} {options}\n")
    return "".join(sorted(lines))
