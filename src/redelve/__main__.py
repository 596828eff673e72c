"""`python -m redelve`: the command `redelve`, where it is not on the path."""

import sys

from redelve.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
