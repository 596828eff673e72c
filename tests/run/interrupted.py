"""A program that works through an experiment and notes what is done, for tests that stop it.

Called with the name of the executor, of what the method does, and a file for the digests.
"""

from __future__ import annotations

import sys
from pathlib import Path

from redelve.run.cells import Limits
from redelve.run.experiment import Experiment, plan, run
from redelve.run.workers import workers_from
from tests.run import toys

INSTANCES = 12


def experiment(mischief: str, isolated: bool) -> Experiment:
    toy = toys.Toy(getattr(toys, mischief))
    return toys.toy_experiment({"toy": toy}, INSTANCES, limits=Limits(isolated=isolated))


def main(executor: str, mischief: str, isolated: str, notes: str) -> None:
    known = Path(notes).read_text().split() if Path(notes).exists() else []
    wanted = experiment(mischief, isolated == "isolated")
    workers = workers_from(executor, count=None if executor == "serial" else 2)
    with Path(notes).open("a") as file:
        for record in run(wanted, plan(wanted, done=known), workers):
            file.write(f"{record.digest}\n")
            file.flush()
    print("finished")


if __name__ == "__main__":
    main(*sys.argv[1:])
