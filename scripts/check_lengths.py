"""Checks that no source file grows out of one reader's hands.

Prints a warning for every file above 500 lines and exits with 1 if one has
more than 1,000 (docs/budgets.md).
"""

from __future__ import annotations

import sys

from tracked import tracked

WARN = 500
FAIL = 1000
SOURCES = ("*.h", "*.cpp", "*.py", "*.pyi", "*.cmake", "CMakeLists.txt", "dev")


def main() -> int:
    too_long = False
    for name in tracked(*SOURCES):
        with open(name, "rb") as file:
            lines = sum(1 for _ in file)
        if lines > WARN:
            verdict = "error" if lines > FAIL else "warning"
            print(f"{name}: {verdict}: {lines} lines")
            too_long |= lines > FAIL
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
