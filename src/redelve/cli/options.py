"""What all commands share: options, help, errors and exit codes (manual, appendix C).

DELVE's own commands read texts by letter (`Given`). The verbs declare options with types (`VerbOptions`),
which are checked before anything is done and read by their long names. Argparse and dataclasses are not used:
each takes half as long to import as Python takes to start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Generic, NamedTuple, TypeVar, overload

from redelve.cli import BROKEN_PIPE, FAILURE, INTERRUPTED, USAGE
from redelve.errors import RedelveError, did_you_mean, in_words

T = TypeVar("T")
N = TypeVar("N", int, float)
Verb = TypeVar("Verb", bound="VerbOptions")
Progress = Callable[[str], None]
Meaning = str | Callable[[], str]
"""What an option is for; a function is called for the help alone, to list what is registered."""


PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120  (pathlib is slow to import)
LONGEST_COMPLAINT = 4000
"""Characters; the middle of a longer one is left out."""


class Option(NamedTuple):
    """An option such as -l or -c file; `argument` names what follows it, if anything does."""

    letter: str
    meaning: Meaning
    argument: str | None = None
    long: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """How the option may be written: -l, --long."""
        return (f"-{self.letter}",) if self.long is None else (f"-{self.letter}", f"--{self.long}")

    @property
    def explanation(self) -> str:
        """What the help says of it."""
        return self.meaning if isinstance(self.meaning, str) else self.meaning()

    @property
    def heading(self) -> str:
        """How the help shows it."""
        return ", ".join(self.names) + (f" {self.argument}" if self.argument else "")


HELP = Option("h", "print this help", long="help")
QUIET = Option("q", "quiet: print no progress lines", long="quiet")


class Command(NamedTuple):
    """What a command is called, what it takes and what it does."""

    name: str
    purpose: str
    synopsis: str
    options: tuple[Option, ...] = ()
    least: int = 0
    most: int | None = 1

    @property
    def usage(self) -> str:
        """The command's first line of help."""
        return f"usage: {self.name} {self.synopsis}"

    @property
    def help(self) -> str:
        """The text that -h prints."""
        entries = [(option.heading, option.explanation) for option in (*self.options, HELP)]
        entries.append(("--", "end of the options: all that follows are arguments"))
        width = max(len(heading) for heading, _ in entries) + 2
        lines = "".join(f"  {heading:{width}}{meaning}\n" for heading, meaning in entries)
        return f"{self.usage}\n\n{self.purpose}\n\n{lines}"


class OptionValues(dict[str, tuple[str, ...]]):
    """For each option's letter the values that it got; `written` has its name as the user wrote it last."""

    def __init__(self) -> None:
        self.written: dict[str, str] = {}

    def put(self, letter: str, name: str, value: str) -> None:
        """Add a value."""
        self[letter] = (*self.get(letter, ()), value)
        self.written[letter] = name


class Given(NamedTuple):
    """What the user gave: arguments, and for each option the values it got, by its letter."""

    arguments: tuple[str, ...]
    options: dict[str, tuple[str, ...]]

    def has(self, letter: str) -> bool:
        """Whether the option was given."""
        return letter in self.options

    def value(self, letter: str) -> str | None:
        """The argument of an option (the last one if given twice)."""
        return self.options[letter][-1] if letter in self.options else None

    def name(self, letter: str) -> str:
        """The option's name as the user wrote it."""
        written = self.options.written if isinstance(self.options, OptionValues) else {}
        return written.get(letter, f"-{letter}")

    def path(self) -> str:
        """The only argument, or else the current directory."""
        return self.arguments[0] if self.arguments else "."


class ToldWithCode(str):
    """A text to show though something went wrong; the command exits with `code`."""

    code: int

    def __new__(cls, text: str, code: int) -> ToldWithCode:
        """The text with its exit code."""
        made = super().__new__(cls, text)
        made.code = code
        return made


class UsageError(RedelveError):
    """The command was called wrongly."""


def parse(command: Command, argv: Sequence[str]) -> Given:
    """Take options and arguments apart; they may stand in any order, and `--` ends the options.

    >>> mloss = Command("mloss", "", "", (Option("l", "losses", "losses"), Option("q", "quiet")))
    >>> parse(mloss, ["-q", "-l", "S", "--", "-x"])
    Given(arguments=('-x',), options={'q': ('',), 'l': ('S',)})
    """
    for word in argv:
        if "\0" in word:
            raise UsageError(f"{word!r} holds a NUL character, which no name or value can")
    known = {name: option for option in (*command.options, HELP) for name in option.names}
    arguments: list[str] = []
    options = OptionValues()
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            arguments += rest
            break
        if word == "-" or not word.startswith("-"):
            arguments.append(word)
        else:
            options.put(*_take_option(known, word, rest))
    if "h" not in options:
        _check_count(command, arguments)
    return Given(tuple(arguments), options)


def _take_option(known: dict[str, Option], word: str, rest: list[str]) -> tuple[str, str, str]:
    """The option's letter, its name as written, and its value, taken from `rest` if it stands there."""
    is_long = word.startswith("--")
    name, separator, attached = word.partition("=") if is_long else (word[:2], "", word[2:])
    if name not in known:
        raise UsageError(f'unknown option "{name}"{_meant(name, known)}')
    option = known[name]
    if option.argument is None:
        if separator:
            raise UsageError(f'option "{name}" takes no argument')
        if attached:
            rest.insert(0, f"-{attached}")
        return option.letter, name, ""
    if separator or attached:
        return option.letter, name, attached
    if not rest:
        raise UsageError(f'option "{name}" needs an argument: {option.heading}')
    return option.letter, name, rest.pop(0)


def _meant(name: str, known: Iterable[str]) -> str:
    """The long option that may be meant; a letter is like none."""
    near = did_you_mean(name[2:], [one[2:] for one in known])
    return f' (did you mean "--{near}"?)' if near and name.startswith("--") else ""


def _check_count(command: Command, arguments: Sequence[str]) -> None:
    if len(arguments) < command.least:
        raise UsageError("an argument is missing")
    if command.most is not None and len(arguments) > command.most:
        raise UsageError(f'too many arguments: "{arguments[command.most]}"')


def write(pieces: Iterable[str]) -> None:
    """Write texts to standard output, each to be seen as soon as it comes."""
    for piece in pieces:
        sys.stdout.write(piece)
        sys.stdout.flush()


def shown(name: str, text: str) -> int:
    """Write a text of no command's own, such as a list of them; the exit code."""
    try:
        write([text])
    except (OSError, KeyboardInterrupt) as error:
        return _failed(Command(name, "", ""), error)
    return 0


def tell_warnings(command: str, warnings: Iterable[str]) -> None:
    """Write to standard error what looks wrong, whether or not the rest is quiet."""
    for warning in warnings:
        to_stderr(f"{command}: warning: {warning}")


@contextmanager
def warned_in_lines(command: str) -> Iterator[None]:
    """Show each warning once meanwhile, and as other warnings; Python itself adds a line of source code.

    One that is not redelve's own is shown with its place and kind.
    """
    import warnings  # Python 3.11 and 3.12 have loaded it by now

    shown_before, told = warnings.showwarning, set[str]()

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
    ) -> None:
        is_own = category is UserWarning and filename.startswith(PACKAGE)
        place = "" if is_own else f"{filename}, line {lineno}: {category.__name__}: "
        text = _one_line(f"{place}{message}")
        if text not in told:
            told.add(text)
            with suppress(OSError):  # one that nobody can read is lost, as in Python itself
                tell_warnings(command, [text])

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown_before


def to_stderr(line: str) -> None:
    """Show one line of progress at once."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def reporter(*, is_quiet: bool) -> Progress:
    """Where a command's progress lines go."""
    from redelve.data.delve.task_files import silent

    return silent if is_quiet else to_stderr


def run(
    command: Command,
    action: Callable[[Given], str | Iterable[str]],
    argv: Sequence[str] | None,
    *,
    show: Callable[[Iterable[str]], None] = write,
) -> int:
    """Parse, call `action`, show the text it returns; the only place where errors become exit codes."""
    open_streams()
    _accept_any_name()
    with warned_in_lines(command.name):
        return _ran(command, action, sys.argv[1:] if argv is None else argv, show)


def _ran(
    command: Command,
    action: Callable[[Given], str | Iterable[str]],
    argv: Sequence[str],
    show: Callable[[Iterable[str]], None],
) -> int:
    try:
        given = parse(command, argv)
        if given.has("h"):
            write([command.help])
            return 0
        result = action(given)
        show([result] if isinstance(result, str) else result)
    except (RedelveError, OSError, KeyboardInterrupt) as error:
        return _failed(command, error)
    return result.code if isinstance(result, ToldWithCode) else 0


def _failed(command: Command, error: BaseException) -> int:
    """Tell in one line what went wrong (quietly if nobody wants to know), and choose the exit code."""
    _settle_output()
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    words = in_words(error) if isinstance(error, OSError) else str(error)
    sys.stderr.write(f"{command.name}: {_one_line(words)}\n")
    if isinstance(error, UsageError):
        sys.stderr.write(f"{command.usage} (-h explains)\n")
        return USAGE
    return FAILURE


def _one_line(words: str) -> str:
    """A complaint that a terminal can show, whatever it quotes from a file."""
    line = " ".join(words.splitlines())
    if len(line) > LONGEST_COMPLAINT:
        line = f"{line[: LONGEST_COMPLAINT // 2]} … {line[-LONGEST_COMPLAINT // 4 :]}"
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in line)


def _settle_output() -> None:
    """Write out what is still in store or, where nobody takes it, forget it, so that the exit stays quiet."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_streams() -> None:
    """Open the standard streams that the caller closed, on nothing: else files get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nothing, True)
            setattr(sys, name, open(nothing, mode))  # noqa: PTH123, SIM115


def _accept_any_name() -> None:
    """Let file names that are not proper text, or not in the terminal's alphabet, pass through."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        is_utf8 = sys.stdout.encoding.lower().replace("-", "") == "utf8"
        reconfigure(errors="surrogateescape" if is_utf8 else "backslashreplace")


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
            culprit = next((one for one in reversed(texts) if not self._will_do(one)), texts[-1])
            told = complaint.format(option=given.name(letter), wanted=self.wanted, text=culprit)
            raise UsageError(told) from None

    def _will_do(self, text: str) -> bool:
        """Whether a text alone would be accepted."""
        try:
            self.read((text,))
        except ValueError:
            return False
        return True


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
    >>> Knitting(parse(knitting, ["-c", "red,,blue"]))
    Traceback (most recent call last):
    redelve.cli.options.UsageError: option "-c" needs names separated by commas, none empty, not "red,,blue"
    """

    complaint = 'option "{option}" needs {wanted}, not "{text}"'

    def __init__(self, given: Given) -> None:
        self.arguments = given.arguments
        for name, option in self._typed().items():
            self.__dict__[name] = option.value(given, self.complaint)

    def some(self, *names: str) -> dict[str, Any]:
        """The values of these options, for a function whose parameters have their names; None if empty."""
        return {name: getattr(self, name) or None for name in names}

    @classmethod
    def _typed(cls) -> dict[str, TypedOption[object]]:
        named = (
            name for kind in cls.__mro__ for name, one in vars(kind).items() if isinstance(one, TypedOption)
        )
        return {name: getattr(cls, name) for name in named}

    @classmethod
    def declared(cls) -> tuple[Option, ...]:
        """The options for the parser and the help, in the order of the class; inherited ones last."""
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
    """Any text but an empty one, which will do only where it is the default."""
    made = Option(letter, meaning, argument)
    return TypedOption(made, lambda given: _filled(given[-1:], default)[0], default, FILLED)


def texts(letter: str, meaning: str, argument: str) -> TypedOption[tuple[str, ...]]:
    """Any text but an empty one, each time that the option is given."""
    return TypedOption(Option(letter, meaning, argument), _filled, (), FILLED)


def _filled(given: Sequence[str], default: str | None = None) -> tuple[str, ...]:
    """The texts; ValueError where one is empty and that is not the default."""
    if "" in given and default != "":
        raise ValueError
    return tuple(given)


def names(letter: str, meaning: str, argument: str = "names") -> TypedOption[tuple[str, ...]]:
    """Names separated by commas, each once; none may be empty."""
    wanted = f"{argument} separated by commas, none empty"
    return TypedOption(Option(letter, meaning, argument), _names, (), wanted)


class Wanted:
    """Which numbers will do, and how they are called in a complaint."""

    def __init__(self, words: str, least: float = float("-inf"), most: float = float("inf")) -> None:
        self.words, self.least, self.most = words, least, most

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


FILLED = "a text that is not empty"
SMALLEST = 5e-324
ANY = Wanted("a number")
FROM_0 = Wanted("a whole number", 0)
FROM_1 = Wanted("a whole number above 0", 1)
POSITIVE = Wanted("a number above 0", SMALLEST, sys.float_info.max)


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
    return TypedOption(made, lambda given: tuple(map(wanted.whole, parts(given[-1:]))), (), wanted.words)


def number(letter: str, meaning: str, argument: str, wanted: Wanted = ANY) -> TypedOption[float | None]:
    """A number."""
    made = Option(letter, meaning, argument)
    return TypedOption(made, lambda given: wanted.number(given[-1]), None, wanted.words)


def methods_told(names: Iterable[str]) -> dict[str, Any]:
    """Methods by name: redelve's own, and what a file or module (methods.py, methods.py:mine) holds.

    >>> methods_told(["lin-1"])
    {'lin-1': 'lin-1'}
    """
    found: dict[str, Any] = {}
    for name in names:
        if is_own(name):
            from redelve.cli.own_methods import own_methods

            found |= own_methods(name)
        else:
            found[name] = name
    return found


def is_own(name: str) -> bool:
    """Whether a method's name is that of a file or module of the user's."""
    return ":" in name or name.endswith(".py")


def parts(given: Sequence[str]) -> list[str]:
    """What stands between the commas of these texts; ValueError where that is nothing."""
    found = [part.strip() for one in given for part in one.split(",")]
    if not all(found):
        raise ValueError
    return found


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(parts(given)))
