"""Comparison of the numbers that two machines compute.

Every statement of bench/sweep_list.py and those of tests/bits_list.py, values and
gradients, is computed from the same inputs on each machine and written to a file;
two files are compared bit by bit. Inputs are whole numbers divided by powers of
two, so that they are the same wherever they are made, and are compared, too.

    python tests/compare_bits.py write FILE [--size SIZE] [--dtypes NAME,...]
    python tests/compare_bits.py compare FILE OTHER [--markdown]

Exits with 1 where draws, integers, truth values, shapes or refusals differ, or a
float by more than is allowed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int32", "int64")
#: Rows and columns, edge of matrices, pictures: no multiples of a vector's length.
ODD = (12, 70, 26, (2, 8, 10, 12))
#: How far floats may be apart: in units in the last place of the largest number
#: of a result, as sums are of several orders. In linear algebra a number's last
#: bit is multiplied by a matrix's condition.
ALLOWED = 64.0
ALLOWED_OF_MATRICES = 4096.0
#: Families of whole numbers, which are the same everywhere.
EXACT = {"inputs", "draws", "places", "whole"}


# --- writing -----------------------------------------------------------------


def written(torch, result) -> list:
    """Tensors of a result as (type, shape, bytes); of others their text."""
    if isinstance(result, torch.Tensor):
        plain = result.detach()
        name = str(plain.dtype).rpartition(".")[2]
        if plain.is_complex():
            plain = torch.view_as_real(plain.resolve_conj())
            name = {"complex64": "float32", "complex128": "float64"}.get(name, name)
        if plain.dtype == torch.bfloat16:
            plain = plain.view(torch.int16)
        return [(name, list(plain.shape), plain.contiguous().numpy().tobytes())]
    if isinstance(result, (tuple, list)):
        return [part for one in result for part in written(torch, one)]
    if isinstance(result, float):
        return [("float64", [1], np.float64(result).tobytes())]
    return [("text", [], repr(result).encode())]


class Writer:
    """Computes statements and keeps what came out."""

    def __init__(self, torch):
        self.torch = torch
        self.found: dict[str, list] = {}

    def keep(self, key: str, work) -> None:
        """Keeps the result of a call, or the text of its refusal."""
        self.torch.manual_seed(1)
        try:
            self.found[key] = written(self.torch, work())
        except Exception as error:
            text = f"{type(error).__name__}: {str(error).splitlines()[:1]}"
            self.found[key] = [("refusal", [], text.encode())]

    def save(self, path: Path) -> None:
        """Writes all of it into a zip: an index, and one entry with the bytes."""
        index, data, place = {}, [], 0
        for key, parts in self.found.items():
            index[key] = [
                (name, shape, place := place + len(part), len(part))
                for name, shape, part in parts
            ]
            data += [part for _, _, part in parts]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            out.writestr("index.json", json.dumps(index))
            out.writestr("data", b"".join(data))


def write(path: Path, size: str, dtypes: list[str]) -> None:
    """Computes every statement, and writes the file."""
    import hotaru as torch

    sys.modules["torch"] = torch
    sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests")]
    import bits_list
    import same_bits
    import sweep_list

    sweep_list.SIZES["odd"] = ODD
    torch.set_num_threads(2)
    writer = Writer(torch)
    for dtype in dtypes:

        def operands(dtype=dtype):
            made = bits_list.operands(sweep_list.operands(size), dtype)
            return made | {"torch": torch, "F": torch.nn.functional}

        for name, value in operands().items():
            if isinstance(value, torch.Tensor):
                writer.keep(f"{dtype}|inputs|{name}", lambda v=value: v)
        families = sweep_list.families() | bits_list.families()
        for family, statements in families.items():
            for statement in statements:
                if statement in same_bits.NO_VALUES | bits_list.CANCELLED:
                    continue
                key = f"{dtype}|{family}|{statement}"
                names = operands()
                with torch.no_grad():
                    writer.keep(key, lambda s=statement, n=names: eval(s, dict(n)))
                if dtype in INTEGERS or family in bits_list.WITHOUT_GRADIENTS:
                    continue
                names = operands()
                writer.keep(
                    f"{key}, gradients",
                    lambda s=statement, n=names: same_bits.gradients(
                        torch, s, n, bits_list.drawn_like
                    ),
                )
    writer.save(path)
    print(f"{platform.machine()}: {len(writer.found)} results")


# --- comparing ---------------------------------------------------------------


def read(path: Path) -> dict[str, list]:
    """The results of a file: by key, (type, shape, bytes) of each part."""
    with zipfile.ZipFile(path) as file:
        index, data = json.loads(file.read("index.json")), file.read("data")
    return {
        key: [(n, shape, data[end - count : end]) for n, shape, end, count in parts]
        for key, parts in index.items()
    }


def bits_of(name: str, data: bytes) -> np.ndarray:
    """A float type's numbers as whole ones in the order of the floats, from 0."""
    width = {"float64": 8, "float32": 4}.get(name, 2)
    raw = np.frombuffer(data, f"u{width}").astype(np.uint64)
    sign = np.uint64(1 << (8 * width - 1))
    return np.where(raw & sign, sign - (raw & (sign - np.uint64(1))), raw + sign)


def values_of(name: str, data: bytes) -> np.ndarray:
    """A float type's numbers as float64."""
    if name == "bfloat16":
        wide = np.frombuffer(data, np.uint16).astype(np.uint32) << np.uint32(16)
        return wide.view(np.float32).astype(np.float64)
    return np.frombuffer(data, name).astype(np.float64)


@dataclass
class Distance:
    """How far two results are apart: units in the last place of each number, and
    of the largest number of the result; `kind` names what is no distance.
    """

    kind: str = "same"
    units: int = 0
    of_largest: float = 0.0

    def join(self, other: Distance) -> Distance:
        """The worse of two."""
        kinds = ("same", "bits of NaN or zero", "floats", "NaN", "other")
        return Distance(
            max(self.kind, other.kind, key=kinds.index),
            max(self.units, other.units),
            max(self.of_largest, other.of_largest),
        )


def float_distance(name: str, a: bytes, b: bytes) -> Distance:
    """The distance of two arrays of floats of the same shape."""
    x, y = values_of(name, a), values_of(name, b)
    if not np.array_equal(np.isnan(x), np.isnan(y)):
        return Distance("NaN")
    known = ~np.isnan(x)
    p, q = bits_of(name, a)[known], bits_of(name, b)[known]
    units = int((np.maximum(p, q) - np.minimum(p, q)).max(initial=np.uint64(0)))
    if units == 0:
        return Distance("bits of NaN or zero")
    x, y = x[known], y[known]
    finite = np.isfinite(x) & np.isfinite(y)
    if not np.array_equal(x[~finite], y[~finite]):
        return Distance("NaN")  # one of them infinite
    x, y = x[finite], y[finite]
    digits, least = {
        "float64": (52, -1022),
        "float32": (23, -126),
        "float16": (10, -14),
        "bfloat16": (7, -126),
    }[name]
    largest = max(float(np.abs(x).max()), 2.0**least)
    unit = 2.0 ** (np.floor(np.log2(largest)) - digits)
    with np.errstate(over="ignore"):
        return Distance("floats", units, float(np.abs(x - y).max() / unit))


def distance(one: list, other: list) -> Distance:
    """The distance of two results."""
    if len(one) != len(other):
        return Distance("other")
    worst = Distance()
    for (name, shape, a), (other_name, other_shape, b) in zip(one, other, strict=True):
        if (name, shape) != (other_name, other_shape):
            return Distance("other")
        if a == b:
            continue
        worst = worst.join(
            float_distance(name, a, b) if name in FLOATS else Distance("other")
        )
    return worst


@dataclass
class Family:
    """Counts of a type and a family of statements."""

    statements: int = 0
    differing: dict[str, Distance] = field(default_factory=dict)


def table(families: dict[tuple[str, str], Family], markdown: bool) -> None:
    """Prints a line for each type and family."""
    plain, ruled = "{:9} {:20} {:>4} {:>4} {:>9} {}", "| {} | {} | {} | {} | {} | {} |"
    row = ruled if markdown else plain
    print(row.format("type", "family", "all", "same", "units", "farthest"))
    if markdown:
        print("| --- | --- | ---: | ---: | ---: | --- |")
    for (dtype, name), family in families.items():
        floats = {k: d for k, d in family.differing.items() if d.kind == "floats"}
        worst = max(floats, key=lambda k: floats[k].of_largest, default="")
        units = f"{floats[worst].of_largest:.1f}" if worst else "0"
        same = family.statements - len(family.differing)
        print(row.format(dtype, name, family.statements, same, units, worst))


def compare(path: Path, other_path: Path, markdown: bool, detail: bool) -> int:
    """Compares two files; returns the exit status."""
    one, other = read(path), read(other_path)
    families: dict[tuple[str, str], Family] = {}
    wrong = [f"{key}: only in one file" for key in one.keys() ^ other.keys()]
    for key in [k for k in one if k in other]:
        dtype, name, statement = key.split("|", 2)
        family = families.setdefault((dtype, name), Family())
        family.statements += 1
        found = distance(one[key], other[key])
        if found.kind == "same":
            continue
        family.differing[statement] = found
        allowed = ALLOWED_OF_MATRICES if name == "linear algebra" else ALLOWED
        if (
            name in EXACT  # where a zero's sign counts, too
            or found.kind in ("NaN", "other")
            or found.of_largest > allowed
        ):
            wrong.append(f"{key}: {found}")
        elif detail:
            print(f"{key}: {found}")
    table(families, markdown)
    for text in wrong:
        print(text)
    count = sum(f.statements for f in families.values())
    differing = sum(len(f.differing) for f in families.values())
    print(f"{count} results, {differing} differ, {len(wrong)} of them wrong")
    return 1 if wrong else 0


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("write")
    verb.add_argument("file", type=Path)
    verb.add_argument("--size", default="odd")
    verb.add_argument("--dtypes", default=",".join(FLOATS + INTEGERS))
    verb = verbs.add_parser("compare")
    verb.add_argument("files", type=Path, nargs=2)
    verb.add_argument("--markdown", action="store_true")
    verb.add_argument("--detail", action="store_true", help="each that differs")
    given = parser.parse_args()
    if given.verb == "write":
        write(given.file, given.size, given.dtypes.split(","))
        return 0
    return compare(*given.files, given.markdown, given.detail)


if __name__ == "__main__":
    sys.exit(main())
