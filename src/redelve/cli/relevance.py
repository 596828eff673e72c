"""redelve study neal: does relevance determination help?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from redelve.cli import FAILURE
from redelve.cli import options as of
from redelve.cli.options import Command, reporter

AT_A_DEVICE = 3
"""Processes that take turns on a device: with more, each would only wait longer."""


class NealOptions(of.VerbOptions):
    """What `redelve study neal` is told."""

    size = of.text("z", "small (unless told otherwise) or whole", "name", "small")
    passes = of.whole("p", "passes over the training cases (small: 10000, whole: 60000)")
    chains = of.whole("c", "chains of every method that samples (else as each has it, 1 or 4)")
    methods = of.names("m", "methods of the study, separated by commas (else all)")
    prototasks = of.names("d", "prototasks, as kin-8nm,bank-32nm (small: four, whole: six)")
    sizes = of.wholes("n", "training-set sizes, as 64,128 (small: 64 to 256)", "numbers", of.FROM_1)
    seed = of.whole("S", "another number draws other networks", wanted=of.FROM_0, default=0)
    device = of.text("g", "where to train: cpu, or cuda (with torch)", "device", "cpu")
    threads = of.whole("j", "processes (else one for each processor, 3 on a device)")
    check = of.flag("k", "exit with 1 if something that must hold does not")
    page = of.text("P", "put results between the marks of this page, figures beside it", "file")
    quiet = of.quiet()


STUDY_NEAL = Command(
    "redelve study neal",
    "Run the methods of Neal's study of relevance determination (1998) on redelve's replicas of its data:\n"
    "losses with Rasmussen's figures, the six findings as tests with verdicts, the open questions,\n"
    "coverage, times, and the printed p-values as far as they can be read. With a folder, everything is\n"
    "kept in its archive: the same command, given again, makes only what is missing.",
    "[ folder ] [ --size small|whole ] [ --check ] [ options ]",
    NealOptions.declared(),
    most=1,
)


def study_neal(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 1 if something that must hold does not and that is asked."""
    broken: list[bool] = []

    def perform(given: NealOptions) -> Iterator[str]:
        from redelve.nets import Engine
        from redelve.studies.neal import make_study, plan_for
        from redelve.studies.neal.must_hold import is_sound, must_hold
        from redelve.studies.neal.neal_page import around_marks, describe, write_documentation, write_study

        names = ("passes", "chains", "methods", "prototasks", "sizes", "seed")
        plan = plan_for(given.size, **{name: getattr(given, name) for name in names})
        folder = Path(given.arguments[0]) if given.arguments else None
        if given.page is not None:
            around_marks(Path(given.page))  # before hours of work
        study = make_study(
            plan,
            engine=Engine("numpy" if given.device == "cpu" else "torch", device=given.device),
            folder=folder,
            workers=given.threads or (_mine() if given.device == "cpu" else AT_A_DEVICE),
            progress=reporter(is_quiet=given.quiet),
        )
        yield f"{describe(study)}\n"
        if folder is not None:
            yield f"\nWritten: {write_study(folder, study)}\n"
        if given.page is not None:
            yield f"Written: {write_documentation(Path(given.page), study)}\n"
        broken.append(given.check and not is_sound(must_hold(study)))

    return of.run_verb(STUDY_NEAL, NealOptions, perform, argv) or (FAILURE if any(broken) else 0)


def _mine() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
