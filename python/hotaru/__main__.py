"""`python -m hotaru SCRIPT [ARGS]`; see `_interpreter`."""

import sys

from ._interpreter import main

main(sys.argv[1:])
