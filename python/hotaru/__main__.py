"""`python -m hotaru SCRIPT [ARGS]`; see `_alias.interpreter`."""

import sys

from ._alias.interpreter import main

main(sys.argv[1:])
