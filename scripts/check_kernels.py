"""Checks what ptxas said of CUDA's kernels; tests/golden/kernels_sm_90.txt.

    python scripts/check_kernels.py build/kernels [--update]

The folder holds a `.ptxas` and a `.fatbin` for each file of kernels, as
cmake/compile_kernels.sh leaves them. The table has a line for each formula:
the most registers that a kernel of it takes, over all dtypes, for each variant
(`plain`, strided `_s`, rows `_v`, second pass `_2`, totals `_t`), and the
bytes of local memory where it has any. Fails on spills, on local memory without
a reason below, on more than 8 registers more than the table says, and on
formulas that only one of the two knows; --update writes the table anew.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TABLE = Path("tests/golden/kernels_sm_90.txt")
TARGET = "sm_90"
GROWTH = 8
REDUCTION = "CUDA's reduction of large angles keeps the bits of 2/pi in an array"
# Formulas that may use local memory, and why.
LOCAL = (
    {
        "GridSample": "positions and weights of a point, which loops look up",
        "GridSampleGrad": "positions and weights of a point, which loops look up",
        "Sin": REDUCTION,
        "Cos": REDUCTION,
        "Tan": REDUCTION,
        "Digamma": f"its tan: {REDUCTION}",
        "Trigamma": f"its sin: {REDUCTION}",
        "DrawCauchy": f"its tan of doubles: {REDUCTION}",
        # Complex numbers' have the angle of the result.
        "Exp": f"of complex numbers: {REDUCTION}",
        "Pow": f"of complex numbers: {REDUCTION}",
        "PowScalar": f"of complex numbers: {REDUCTION}",
        "Sinh": f"of complex numbers: {REDUCTION}",
        "Cosh": f"of complex numbers: {REDUCTION}",
        "Tanh": f"of complex numbers: {REDUCTION}",
        "Sigmoid": f"of complex numbers: {REDUCTION}",
    }
    | {
        f"{name}_Unary": REDUCTION
        for name in (
            "airy_ai",
            "bessel_j0",
            "bessel_j1",
            "bessel_y0",
            "bessel_y1",
            "spherical_bessel_j0",
        )
    }
    | {
        f"{shifted}chebyshev_polynomial_{kind}_Binary": REDUCTION
        for shifted in ("", "shifted_")
        for kind in "tuvw"
    }
)

# Kernels of complex doubles, four registers each, that spill at most so many
# bytes: in none of them anything but arithmetic of doubles takes time.
FEW_SPILLS = {"Lerp_c128_s": 12, "Qr_c128": 4, "Ldl_c128": 28}

ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
FRAME = re.compile(
    r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill"
)
REGISTERS = re.compile(r"Used (\d+) registers")
DTYPE = re.compile(r"_(?:b?f16|f32|f64|c64|c128|u8|b8|i8|i16|i32|i64)(?=_|$)")
VARIANT = re.compile(r"_[sv2t]$")
STRIDED = re.compile(r"_s$")

# Formula ("file Name") -> variant -> the worst of its kernels.
Table = dict[str, dict[str, int]]


def read_file(path: Path, table: Table, offences: list[str]) -> int:
    """Adds the kernels of one file to the table; how many there were."""
    count = 0
    symbol = target = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := ENTRY.search(line):
            symbol, target = match[1], match[2]
            continue
        if target != TARGET:
            continue
        name = DTYPE.sub("", symbol)
        # Without dtypes a number at the end is the elements' size.
        match = (VARIANT if name != symbol else STRIDED).search(name)
        variant = match[0] if match else ""
        name = name.removesuffix(variant)
        row = table.setdefault(f"{path.stem} {name}", {})
        if match := FRAME.search(line):
            frame, stores, loads = (int(n) for n in match.groups())
            few = FEW_SPILLS.get(symbol, 0)
            if max(stores, loads) > few:
                offences.append(f"{symbol}: spills {stores} and {loads} bytes")
            if frame:
                row["local"] = max(row.get("local", 0), frame)
                if name not in LOCAL and not few:
                    offences.append(f"{symbol}: {frame} bytes of local memory")
        elif match := REGISTERS.search(line):
            count += 1
            key = variant or "plain"
            row[key] = max(row.get(key, 0), int(match[1]))
    return count


def read_table(text: str) -> Table:
    table: Table = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            file, name, *pairs = line.split()
            values = (pair.split("=") for pair in pairs)
            table[f"{file} {name}"] = {key: int(n) for key, n in values}
    return table


def write_table(table: Table) -> str:
    lines = [
        f"# Registers of kernels on {TARGET}, the most over all dtypes;",
        "# written by scripts/check_kernels.py --update.",
    ]
    for name, row in sorted(table.items()):
        pairs = (f"{key}={n}" for key, n in sorted(row.items()))
        lines.append(f"{name} {' '.join(pairs)}")
    return "\n".join(lines) + "\n"


def compare(old: Table, new: Table) -> list[str]:
    found = [f"{name}: no such kernels" for name in old.keys() - new.keys()]
    for name, row in new.items():
        if name not in old:
            found.append(f"{name}: not in {TABLE}")
            continue
        for key, now in row.items():
            before = old[name].get(key, 0)
            if now > before + (GROWTH if key != "local" else 0):
                found.append(f"{name}: {key} went from {before} to {now}")
    return found


def main() -> int:
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    folder = Path(arguments[0] if arguments else "build/kernels")
    files = sorted(folder.glob("*.ptxas"))
    if not files:
        print(f"{folder}: no kernels; build with ./dev build --cuda")
        return 1
    table: Table = {}
    offences: list[str] = []
    total = size = 0
    for path in files:
        count = read_file(path, table, offences)
        bytes_ = path.with_suffix(".fatbin").stat().st_size
        print(f"{path.stem:12} {count:5} kernels {bytes_ / 1024:8.0f} KiB")
        total += count
        size += bytes_
    print(f"{'all':12} {total:5} kernels {size / 1024:8.0f} KiB")
    if "--update" in sys.argv:
        TABLE.write_text(write_table(table), encoding="utf-8")
    else:
        old = TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""
        offences += sorted(compare(read_table(old), table))
    for offence in offences:
        print(offence)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
