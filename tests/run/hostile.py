"""Modules that change what other methods in the same process rely on, and methods that import them."""

from __future__ import annotations

import importlib
import os
import random
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from redelve.methods.shown import TrainingSet
from tests.run.toys import Toy

HOSTILE = {
    "raises_on_underflow": "import numpy as np; np.seterr(all='raise')",
    "patches_ridge": (
        "from sklearn.linear_model import Ridge\n"
        "fit = Ridge.fit\n"
        "def half(self, X, y, sample_weight=None): return fit(self, X / 2, y, sample_weight)\n"
        "Ridge.fit = half"
    ),
    "patches_numpy": (
        "import numpy as np\n"
        "lstsq = np.linalg.lstsq\n"
        "np.linalg.lstsq = lambda a, b, rcond=None: lstsq(a, b + 1, rcond=rcond)"
    ),
    "patches_random": "import random; random.random = lambda: 0.5; random.seed = lambda *_: None",
    "patches_redelve": (
        "import redelve.run.cells.cell as cell, redelve.answers.answer as answer\n"
        "cell.work = None; answer.score = lambda *_: {}"
    ),
    "changes_environment": (
        "import os; os.environ.update(OMP_NUM_THREADS='7', RIVAL='1'); os.environ.pop('PATH')"
    ),
    "changes_locale": (
        "import locale, contextlib\n"
        "with contextlib.suppress(locale.Error): locale.setlocale(locale.LC_ALL, 'C.UTF-8')"
    ),
    "filters_warnings": (
        "import warnings; warnings.simplefilter('ignore'); warnings.warn = lambda *_, **__: None"
    ),
    "changes_path": "import sys; sys.path.insert(0, '/nowhere'); sys.setrecursionlimit(200)",
    "limits_threads": "import threadpoolctl; threadpoolctl.threadpool_limits(4)",
    "starts_a_thread": (
        "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    ),
    "names_modules": "import sys; sys.modules.update({'sklearn.rival': sys, 'numpy.rival': sys})",
    "shares_memory": (
        "import mmap\n"
        "SHARED = mmap.mmap(-1, 8)\n"
        "if SHARED[:1] == b'x': raise RuntimeError('an earlier cell was here')\n"
        "SHARED[:1] = b'x'"
    ),
}
"""What is written in modules that a method imports, by what it does to others in the same process."""


def _importing(module: str) -> Importing:
    importlib.import_module(module)
    return Importing(None, module)


@dataclass(frozen=True)
class Importing(Toy):
    """A method of a module; the module is imported where the method is unpickled, as with any other's."""

    module: str = ""

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "importing", "module": self.module}

    def __reduce__(self) -> Any:
        return _importing, (self.module,)


def tells_its_state(training: TrainingSet) -> None:
    """Warn with what a module imported by another method could have changed."""
    import locale

    import threadpoolctl

    state = [
        np.geterr(),
        sorted(os.environ.items()),
        locale.setlocale(locale.LC_ALL),
        len(warnings.filters),
        (len(sys.path), sys.path[0], sys.getrecursionlimit()),
        {info["num_threads"] for info in threadpoolctl.threadpool_info()},
        random.random(),
        [name for name in sys.modules if "rival" in name or name in HOSTILE],
    ]
    warnings.warn(f"state: {state}", stacklevel=1)
