"""The slowest tests of a run, and whether they compute or wait.

Reads the runners' JUnit files; Python tests note their processor seconds there
(tests/python/conftest.py). With --write a table stands between two marks of a
document, in place of the one that was there.

    python scripts/slowest_tests.py RESULTS [--count 100] [--write FILE]
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

BEGIN = "<!-- slowest tests: written by scripts/slowest_tests.py -->"
END = "<!-- end of slowest tests -->"


@dataclass
class Slow:
    """One test of one runner."""

    seconds: float
    runner: str
    name: str
    processor: float | None

    def row(self) -> str:
        computed = "" if self.processor is None else f"{self.processor:.1f}"
        return f"| {self.seconds:.1f} | {computed} | {self.runner} | {self.name} |"


def read(results: Path) -> list[Slow]:
    """Every test, the slowest first."""
    found = []
    for report in results.glob("*.xml"):
        for case in ElementTree.parse(report).iter("testcase"):
            processor = None
            for one in case.iter("property"):
                if one.get("name") == "processor_seconds":
                    processor = float(one.get("value", 0))
            name = case.get("name", "").replace("|", "/")[:90]
            seconds = float(case.get("time") or 0)
            found.append(Slow(seconds, report.stem, f"`{name}`", processor))
    return sorted(found, key=lambda slow: -slow.seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    found = read(options.results)
    whole = sum(slow.seconds for slow in found)
    chosen = found[: options.count]
    share = 100 * sum(slow.seconds for slow in chosen) / (whole or 1)
    lines = [
        f"{len(found):,} tests took {whole / 60:.0f} minutes, these "
        f"{len(chosen)} of them {share:.0f} %.",
        "",
        "| seconds | of the processor | runner | test |",
        "| ---: | ---: | --- | --- |",
        *(slow.row() for slow in chosen),
    ]
    text = "\n".join(lines)
    if not options.write:
        print(text)
        return 0
    document = options.write.read_text()
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest:
        print(f"{options.write} has no {BEGIN}", file=sys.stderr)
        return 1
    options.write.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
