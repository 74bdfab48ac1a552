"""Packs direction numbers of Sobol sequences for python/hotaru/_sobol.

    pack_sobol.py FILE OUT

FILE is Joe and Kuo's new-joe-kuo-6.21201 (https://web.maths.unsw.edu.au/
~fkuo/sobol/): a line of titles, then "d s a m_1 ... m_s" for each dimension
from 2 on. OUT is a stream of bits, the first one the highest of its byte: s in
5 bits, a in s - 1, and (m_j - 1) / 2 in j - 1 bits for each j.
"""

from __future__ import annotations

import sys
from pathlib import Path


def bits(value: int, count: int) -> str:
    if value >> count:
        raise ValueError(f"{value} does not fit into {count} bits")
    return f"{value:0{count}b}" if count else ""


def packed(text: str) -> bytes:
    """The stream, with zeros up to a whole byte."""
    parts = []
    for place, line in enumerate(text.splitlines()[1:], 2):
        dimension, s, a, *first = map(int, line.split())
        if dimension != place or len(first) != s:
            raise ValueError(f"line of dimension {place}: {line}")
        parts += [bits(s, 5), bits(a, s - 1)]
        parts += [bits(m // 2, j) for j, m in enumerate(first)]
    stream = "".join(parts)
    stream += "0" * (-len(stream) % 8)
    return int(stream, 2).to_bytes(len(stream) // 8, "big")


if __name__ == "__main__":
    source, out = map(Path, sys.argv[1:])
    out.write_bytes(packed(source.read_text(encoding="ascii")))
