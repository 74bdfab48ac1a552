"""Adds up the results of every runner and prints `N passed, N failed`.

Usage: test_summary.py FOLDER, which holds JUnit files (*.xml) and `steps`,
lines of `pass NAME` or `fail NAME`. Exits with 1 if anything failed or
nothing ran.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def outcome(case: ElementTree.Element) -> str:
    """`pass`, `fail` or `skip` of one JUnit test case."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "fail"
    if case.find("skipped") is not None or case.get("status") == "notrun":
        return "skip"
    return "pass"


def main() -> int:
    folder = Path(sys.argv[1])
    total: Counter[str] = Counter()
    failed = []
    for report in sorted(folder.glob("*.xml")):
        count: Counter[str] = Counter()
        for case in ElementTree.parse(report).iter("testcase"):
            result = outcome(case)
            count[result] += 1
            if result == "fail":
                failed.append(f"{report.stem}: {case.get('name')}")
        print(f"  {report.stem}: {count['pass']} passed, {count['fail']} failed")
        total += count
    steps = folder / "steps"
    for line in steps.read_text().splitlines() if steps.exists() else []:
        result, name = line.split(" ", 1)
        total[result] += 1
        if result == "fail":
            failed.append(name)
    for name in failed:
        print(f"  FAILED {name}")
    skipped = f", {total['skip']} skipped" if total["skip"] else ""
    print(f"{total['pass']} passed, {total['fail']} failed{skipped}")
    return 1 if total["fail"] or not total["pass"] else 0


if __name__ == "__main__":
    sys.exit(main())
