"""`python -m benchmarks.calibration [path]`."""

import sys

from benchmarks.calibration import main

sys.exit(main(sys.argv[1:]))
