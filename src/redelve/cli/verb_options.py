"""Options of the verbs: each has a type, is checked before anything is done, and is read by its long name.

DELVE's own commands read texts by letter (`options`), which is all that they need and starts faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, nextafter
from sys import float_info
from typing import Any, Generic, NamedTuple, TypeVar, overload

from redelve.cli.options import Command, Given, Meaning, Option, UsageError, run, write
from redelve.cli.progress_lines import QUIET

T = TypeVar("T")
N = TypeVar("N", int, float)
Verb = TypeVar("Verb", bound="VerbOptions")
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class TypedOption(Generic[T]):
    """An option of a verb; its long name is that of the attribute that holds it.

    `read` makes a value of the texts that were given; ValueError means that they are not what is `wanted`.
    """

    def __init__(
        self, option: Option, read: Callable[[Sequence[str]], T], default: T, wanted: str = ""
    ) -> None:
        self.option, self.read, self.default, self.wanted = option, read, default, wanted

    def __set_name__(self, owner: type, name: str) -> None:
        self.option = self.option._replace(long=name.strip("_").replace("_", "-"))

    @overload
    def __get__(self, given: None, owner: type) -> TypedOption[T]: ...
    @overload
    def __get__(self, given: VerbOptions, owner: type) -> T: ...
    def __get__(self, given: VerbOptions | None, owner: type) -> TypedOption[T] | T:
        """Reached by the class only: what was given stands in the instance under the same name."""
        return self

    def value(self, given: Given, complaint: str) -> T:
        """What was given for it, or its default."""
        letter = self.option.letter
        if not given.has(letter):
            return self.default
        texts = given.options[letter]
        try:
            return self.read(texts)
        except ValueError:
            told = complaint.format(letter=letter, wanted=self.wanted, text=texts[-1])
            raise UsageError(told) from None


class VerbOptions:
    """What a verb was given: a subclass has a typed option for each, and instances have their values.

    >>> from redelve.cli.options import parse
    >>> class Knitting(VerbOptions):
    ...     rows = whole("r", "how many rows", default=10)
    ...     colours = names("c", "colours, separated by commas")
    >>> knitting = Command("knit", "", "", Knitting.declared(), most=None)
    >>> given = Knitting(parse(knitting, ["scarf", "--rows", "12"]))
    >>> given.arguments, given.rows, given.colours
    (('scarf',), 12, ())
    >>> Knitting(parse(knitting, ["-r", "0"]))
    Traceback (most recent call last):
    redelve.cli.options.UsageError: option "-r" needs a whole number above 0, not "0"
    """

    complaint = 'option "-{letter}" needs {wanted}, not "{text}"'

    def __init__(self, given: Given) -> None:
        self.arguments = given.arguments
        for name, option in self._typed().items():
            self.__dict__[name] = option.value(given, self.complaint)

    @classmethod
    def _typed(cls) -> dict[str, TypedOption[object]]:
        return {name: one for name, one in vars(cls).items() if isinstance(one, TypedOption)}

    @classmethod
    def declared(cls) -> tuple[Option, ...]:
        """The options for the parser and the help, in the order of the class."""
        return tuple(one.option for one in cls._typed().values())


def run_verb(
    command: Command,
    options: type[Verb],
    action: Callable[[Verb], str | Iterable[str]],
    argv: Sequence[str] | None,
    *,
    show: Callable[[Iterable[str]], None] = write,
) -> int:
    """Parse, check, call `action`, show the text that it returns."""
    return run(command, lambda given: action(options(given)), argv, show=show)


# The kinds of options: what follows an option, and what is read from it.


def flag(letter: str, meaning: Meaning) -> TypedOption[bool]:
    """Nothing follows: given or not."""
    return TypedOption(Option(letter, meaning), lambda _: True, False)


def quiet() -> TypedOption[bool]:
    """The flag -q of every verb that tells what it does."""
    return flag(QUIET.letter, QUIET.meaning)


@overload
def text(letter: str, meaning: Meaning, argument: str) -> TypedOption[str | None]: ...
@overload
def text(letter: str, meaning: Meaning, argument: str, default: str) -> TypedOption[str]: ...
def text(letter: str, meaning: Meaning, argument: str, default: str | None = None) -> TypedOption[Any]:
    """Any text; an empty one counts as none."""
    return TypedOption(Option(letter, meaning, argument), lambda given: given[-1] or default, default)


def texts(letter: str, meaning: str, argument: str) -> TypedOption[tuple[str, ...]]:
    """Any text, each time that the option is given."""
    return TypedOption(Option(letter, meaning, argument), tuple, ())


def names(letter: str, meaning: str, argument: str = "names") -> TypedOption[tuple[str, ...]]:
    """Names separated by commas, each once."""
    return TypedOption(Option(letter, meaning, argument), _names, ())


def choice(letter: str, meaning: str, argument: str, choices: Mapping[str, T], usual: str) -> TypedOption[T]:
    """One of a few words, and what it stands for."""

    def chosen(given: Sequence[str]) -> T:
        if given[-1] not in choices:
            raise UsageError(f'unknown {argument} "{given[-1]}": choose {" or ".join(choices)}')
        return choices[given[-1]]

    return TypedOption(Option(letter, meaning, argument), chosen, choices[usual])


class Wanted(NamedTuple):
    """Which numbers will do, and how they are called in a complaint."""

    words: str
    least: float = -inf
    most: float = inf

    def whole(self, given: str) -> int:
        """The whole number that a text is."""
        if self.least >= 0 and not (given.strip().isascii() and given.strip().isdigit()):
            raise ValueError
        return self._checked(int(given))

    def number(self, given: str) -> float:
        """The number that a text is."""
        return self._checked(float(given))

    def _checked(self, found: N) -> N:
        if not self.least <= found <= self.most:
            raise ValueError
        return found


ANY = Wanted("a number")
FROM_0 = Wanted("a whole number", 0)
FROM_1 = Wanted("a whole number above 0", 1)
POSITIVE = Wanted("a number above 0", nextafter(0, 1), float_info.max)


@overload
def whole(
    letter: str, meaning: str, argument: str = "number", *, wanted: Wanted = FROM_1
) -> TypedOption[int | None]: ...
@overload
def whole(
    letter: str, meaning: str, argument: str = "number", *, wanted: Wanted = FROM_1, default: int
) -> TypedOption[int]: ...
def whole(
    letter: str,
    meaning: str,
    argument: str = "number",
    *,
    wanted: Wanted = FROM_1,
    default: int | None = None,
) -> TypedOption[Any]:
    """A whole number."""
    made = Option(letter, meaning, argument)
    return TypedOption(made, lambda given: wanted.whole(given[-1]), default, wanted.words)


def wholes(letter: str, meaning: str, argument: str, wanted: Wanted) -> TypedOption[tuple[int, ...]]:
    """Whole numbers separated by commas."""
    made = Option(letter, meaning, argument)
    return TypedOption(made, lambda given: tuple(map(wanted.whole, _parts(given[-1:]))), (), wanted.words)


def number(letter: str, meaning: str, argument: str, wanted: Wanted = ANY) -> TypedOption[float | None]:
    """A number."""
    made = Option(letter, meaning, argument)
    return TypedOption(made, lambda given: wanted.number(given[-1]), None, wanted.words)


def numbers(letter: str, meaning: str, argument: str, wanted: Wanted) -> TypedOption[tuple[float, ...]]:
    """Numbers separated by commas."""
    made = Option(letter, meaning, argument)
    return TypedOption(made, lambda given: tuple(map(wanted.number, given[-1].split(","))), (), wanted.words)


def memory(letter: str, meaning: str, argument: str = "size") -> TypedOption[int | None]:
    """A number of bytes, such as 2G."""

    def size(given: Sequence[str]) -> int:
        unit = UNITS.get(given[-1][-1:].upper(), 0)
        return int(POSITIVE.number(given[-1][:-1] if unit else given[-1]) * (unit or 1))

    return TypedOption(Option(letter, meaning, argument), size, None, POSITIVE.words)


def _parts(given: Sequence[str]) -> list[str]:
    return [part.strip() for one in given for part in one.split(",") if part.strip()]


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_parts(given)))
