"""ONNX's own test cases over hotaru.

    run.py --cases DIR [--op Gemm] [-k NAME] [--known FILE [--update]]

DIR holds folders with model.onnx and test_data_set_*, as Debian's
libonnx-testdata and `dump.py` have them. With --known, fails where a case that
passed when the file was written does not pass, and where one of its failures
passes.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
SECONDS = 60


def find_cases(folder: Path) -> list[Path]:
    return sorted(p.parent for p in folder.rglob("model.onnx"))


class Worker:
    """A process that runs cases; whatever it does, the others go on."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "subject.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def run(self, case: Path) -> str:
        """Empty if it passes, else why not."""
        self.process.stdin.write(f"{case}\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.process.kill()
        code = self.process.wait()
        self.start()
        return "timeout" if not ready else f"crash: {code}"

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--op", help="only models with this operator")
    parser.add_argument("-k", default="", help="only cases with this name")
    parser.add_argument("--texts", help="operators' texts of this folder")
    parser.add_argument("--known", type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args()
    if args.texts:
        os.environ["HOTARU_ONNX_TEXTS"] = str(Path(args.texts).resolve())
    worker = Worker()
    failures, reasons, total = {}, Counter(), 0
    for case in find_cases(args.cases):
        name = str(case.relative_to(args.cases))
        if args.k not in name:
            continue
        if args.op:
            model = (case / "model.onnx").read_bytes()
            if b"\x22" + bytes([len(args.op)]) + args.op.encode() not in model:
                continue
        total += 1
        why = worker.run(case)
        if why:
            failures[name] = why.replace(str(case), "").splitlines()[0][:200]
            reasons[failures[name][:100]] += 1
    worker.stop()
    if not args.quiet:
        for name, why in failures.items():
            print(f"{name}: {why}")
        for why, count in reasons.most_common(40):
            print(f"{count:5d} {why}")
    print(f"{total - len(failures)} of {total} pass")
    if args.known and args.update:
        args.known.write_text("".join(f"{name}\n" for name in failures))
    elif args.known:
        known = set(args.known.read_text().split())
        worse = sorted(set(failures) - known)
        better = sorted(known - set(failures))
        for name in worse:
            print(f"fails, and did not: {name}: {failures[name]}")
        for name in better:
            print(f"passes, and is listed as failing: {name}")
        return 1 if worse or better else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
