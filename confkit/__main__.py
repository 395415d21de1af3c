"""`python -m confkit` is the command `confkit`."""

import sys

from .cli import main

sys.exit(main())
