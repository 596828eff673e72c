"""`python -m redelve.stats.calibration [path]`."""

import sys

from redelve.stats.calibration import main

sys.exit(main(sys.argv[1:]))
