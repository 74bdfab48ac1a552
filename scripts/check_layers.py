"""Checks the layers of the sources, the rooms in them, and their size.

C++ files include, and Python files import, downwards only and in no circle
(`layers/native_rules.py`, `layers/python_rules.py`, with the orders beside
them). A room has at most 30 files of a language, a function in Python at most
80 lines. Prints each offence as `file:line: what is wrong` and exits with 1 if
there was one.
"""

from __future__ import annotations

import gc
import sys

from layers.native_rules import native_offences
from layers.python_rules import python_offences
from layers.rooms import overfull
from tracked import tracked


def main() -> int:
    # Millions of nodes live to the end: to look for garbage takes five times
    # as long as to read the files.
    gc.disable()
    native = tracked("*.h", "*.cpp", "*.cu")
    python = tracked("*.py")
    offences = native_offences(native) + python_offences(python)
    offences += overfull(native) + overfull(python)
    for offence in offences:
        print(offence)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
