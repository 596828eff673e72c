"""Where a job was done: versions, platform and processor. Names of users, machines and folders stay out."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("redelve", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow")


@cache
def environment() -> dict[str, str]:
    """What may make a difference to a result or to its costs."""
    found = {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": str(os.cpu_count() or 1),
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor()
