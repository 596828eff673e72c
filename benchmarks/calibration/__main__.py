"""`python -m benchmarks.calibration [path]`, or `--section name` to print one section."""

import sys

from benchmarks.calibration import main

sys.exit(main(sys.argv[1:]))
