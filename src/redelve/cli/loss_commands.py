"""Commands about losses: mloss computes them, mstats analyses them (manual 7.5, 8.3, C)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from redelve.cli.options import QUIET, Command, Given, Option, UsageError, reporter, run
from redelve.data.delve.roots import MethodAddress, active
from redelve.errors import LocationError

if TYPE_CHECKING:
    from redelve.data.delve.method_tasks import MethodTask
    from redelve.data.delve.reading import Library
    from redelve.report.summary import Summary


def split_codes(text: str) -> list[str]:
    """The codes in `text`, each once.

    >>> split_codes("SA"), split_codes("S, Z0.2N Mcosts")
    (['S', 'A'], ['S', 'Z0.2N', 'Mcosts'])
    """
    from redelve.answers.losses import LOSSES, usual_losses

    letters = {loss.code for loss in usual_losses() if loss.in_delve}
    codes: list[str] = []
    for word in text.replace(",", " ").split():
        codes.extend([word] if word in LOSSES or not set(word) <= letters else word)
    return list(dict.fromkeys(codes))


def split_names(given: Given, letter: str) -> list[str]:
    """Names given in one or several arguments of an option, separated by blanks or commas."""
    found: list[str] = []
    for text in given.options.get(letter, ()):
        if not (names := text.replace(",", " ").split()):
            raise UsageError(f'option "{given.name(letter)}" needs a name, not "{text}"')
        found += names
    return found


def _codes(given: Given) -> list[str] | None:
    """The losses that -l names; None where it is not given."""
    asked = given.value("l")
    if asked is None:
        return None
    if codes := split_codes(asked):
        return codes
    raise UsageError(f'option "{given.name("l")}" needs codes of losses, as S or S,A, not "{asked}"')


def warn(name: str, message: str) -> None:
    """Write a warning of a command."""
    sys.stderr.write(f"{name}: warning: {message}\n")


MLOSS = Command(
    "mloss",
    "Decode the predictions in a task directory, or in all below a path, and write every test case's loss.",
    "[ -i instances ] [ -l losses ] [ -q ] [ path ]",
    (
        Option("i", "the instances to evaluate, such as 0,3 (default: all)", "instances", long="instances"),
        Option("l", "the losses to compute: any of A S L Q Z, Z0.2N, Mfile", "losses", long="losses"),
        QUIET,
    ),
)


def _mloss(given: Given) -> str:
    """Write decoded prediction files and loss files; those of a task appear together or not at all."""
    from redelve.data.delve.task_losses import write_task_losses

    write_task_losses(
        given.path(),
        codes=_codes(given),
        instances=_instances(given.value("i")),
        progress=reporter(is_quiet=given.has("q")),
        warn=partial(warn, "mloss"),
    )
    return ""


def _instances(text: str | None) -> list[int] | None:
    if text is None or text.strip() == "all":
        return None
    words = text.replace(",", " ").split()
    if not words:
        raise UsageError(f'no instance is named in "{text}": give numbers from 0, or all')
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise UsageError(f'bad instance "{word}": give numbers from 0, or all')
    return sorted({int(word) for word in words})


def mloss(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(MLOSS, _mloss, argv)


MSTATS = Command(
    "mstats",
    "Print a method's expected loss with its standard error, or the difference from other methods and its\n"
    "significance. Several base names (-i) are several runs with different seeds on the same instances.",
    "[ -c methods ] [ -i base ] [ -l losses ] [ -j | -x ] [ mpath ]",
    (
        Option("c", "compare with these methods", "methods", long="compare"),
        Option("i", "base name(s) of the loss files (default: loss)", "base", long="input"),
        Option("l", "the losses to summarize: any of A S L Q Z, Z0.2N, Mfile", "losses", long="losses"),
        Option("j", "print JSON: every figure, with intervals and caveats", long="json"),
        Option("x", "print CSV, a row for each summary", long="csv"),
    ),
)


def _mstats(given: Given) -> str:
    """The summaries that were asked for."""
    from redelve.data.delve.reading import Library
    from redelve.report.summary import to_csv, to_json

    if given.has("j") and given.has("x"):
        raise UsageError("choose --json or --csv, not both")
    library = Library(active())
    works = list(_works(library, given.path()))
    alone = len(works) == 1
    summaries = [summary for work in works for summary in _summaries(work, given, is_alone=alone)]
    if not summaries:
        raise LocationError(f'no loss files were found under "{given.path()}": run mloss first')
    if given.has("j"):
        return to_json(summaries)
    if given.has("x"):
        return to_csv(summaries)
    return "\n".join(summary.text() for summary in summaries)


def _works(library: Library, path: str) -> Iterator[MethodTask]:
    """The method's work on the task named, or on every task below."""
    from redelve.data.delve.method_tasks import MethodTask

    overlay = library.overlay
    mpath = overlay.mpath(path)
    address = MethodAddress.parse(mpath)
    if address.method is None:
        raise LocationError(f'"{path}" names no method: give /method/dataset/prototask/task')
    if overlay.kind(mpath, "methods") != "directory":
        raise LocationError(f'method directory "{mpath}" not found in delve path')
    yield from (MethodTask(library, each) for each in _tasks_below(library, address))


def _tasks_below(library: Library, address: MethodAddress) -> Iterator[MethodAddress]:
    method, dataset, prototask, task = address
    overlay = library.overlay
    if method is None or task is not None:
        yield address
        return
    if dataset is None:
        names = overlay.method_datasets(method)
    elif prototask is None:
        names = overlay.method_prototasks(method, dataset)
    else:
        names = overlay.method_tasks(method, dataset, prototask)
    for name in names:
        yield from _tasks_below(library, MethodAddress.parse(f"{address}/{name}"))


def _summaries(work: MethodTask, given: Given, *, is_alone: bool) -> Iterator[Summary]:
    """One for each loss and each method compared with; of several tasks some may lack losses."""
    from redelve.data.delve.method_tasks import MethodTask
    from redelve.report.summary import summarise
    from redelve.store.loss_files import about_other_data, codes_there, losses_as_results

    bases = split_names(given, "i") or ["loss"]
    others = [name.removeprefix("/") for name in split_names(given, "c")]
    there = codes_there(work, bases[0])
    codes = _codes(given) or there or ["*"]
    if there and (told := about_other_data(work)) is not None:
        warn("mstats", told)
    for code in codes:
        if code not in there and (len(codes) > 1 or not is_alone):
            warn("mstats", f"no loss files {bases[0]}.{code}.* under {work.address}")
            continue
        if code == "*":
            raise LocationError(f'no loss files "{bases[0]}.*" under "{work.address}": run mloss first')
        loss, method = work.loss(code), work.address.method or ""
        if not others:
            yield summarise(losses_as_results(work, loss, bases=bases), loss, method)
        for name in others:
            other = MethodTask(work.library, MethodAddress.parse(f"/{name}{work.address.data}"))
            if is_alone or _has_losses(other, bases[0], code):
                both = losses_as_results(work, loss, bases=bases, other=other)
                yield summarise(both, loss, method, name)
            else:
                warn("mstats", f"no loss files {bases[0]}.{code}.* under {other.address}")


def _has_losses(work: MethodTask, base: str, code: str) -> bool:
    from redelve.store.loss_files import codes_there

    is_there = work.library.overlay.kind(str(work.address), "methods") == "directory"
    return is_there and code in codes_there(work, base)


def mstats(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(MSTATS, _mstats, argv)
