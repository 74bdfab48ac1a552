"""Direction numbers of Sobol sequences.

Those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better
two-dimensional projections", SIAM J. Sci. Comput. 30 (2008), for 21,201
dimensions. `numbers.bin` has the primitive polynomials and the first numbers
of each (scripts/pack_sobol.py says how); the recurrence gives the others.
"""

from __future__ import annotations

from pathlib import Path

from .. import Tensor, arange, int64, tensor, zeros

MAXDIM = 21201
_DEGREE = 18  # of the last polynomial
_FILE = Path(__file__).with_name("numbers.bin")


def direction_numbers(dimension: int, bits: int) -> Tensor:
    """The numbers V of shape (dimension, bits), the first bit the highest."""
    degrees, coefficients, first = _read(dimension)
    numbers = zeros(dimension, bits, dtype=int64)
    numbers[:, :_DEGREE] = first
    numbers[0] = 1
    for j in range(1, bits):
        _extend(numbers, j, degrees, coefficients)
    return numbers << arange(bits - 1, -1, -1)


def _extend(numbers: Tensor, j: int, degrees, coefficients) -> None:
    """Column `j`, in the dimensions whose first numbers end before it."""
    due = ((degrees <= j) & (degrees > 0)).nonzero().squeeze(1)
    if due.numel() == 0:
        return
    s, a, known = degrees[due], coefficients[due], numbers[due]
    oldest = known.gather(1, (j - s).unsqueeze(1)).squeeze(1)
    made = oldest ^ (oldest << s)
    for k in range(1, min(j, _DEGREE - 1) + 1):
        # The coefficient of x^(s - k), of which there is one if k < s.
        bit = (a >> (s - 1 - k).clamp(min=0)) & (k < s)
        made ^= bit * (known[:, j - k] << k)
    numbers[due, j] = made


def _read(dimension: int) -> tuple[Tensor, Tensor, Tensor]:
    """Degrees s and coefficients a of the polynomials, and the first numbers
    in rows of 18; the first dimension has none.
    """
    longest = 5 + _DEGREE - 1 + _DEGREE * (_DEGREE - 1) // 2
    with open(_FILE, "rb") as file:
        stream = file.read(dimension * longest // 8 + 1)
    text = "".join(f"{byte:08b}" for byte in stream)
    at = 0

    def take(count: int) -> int:
        nonlocal at
        at += count
        return int(text[at - count : at], 2) if count else 0

    rows = [[0] * (2 + _DEGREE)]
    for _ in range(1, dimension):
        s = take(5)
        a = take(s - 1)
        first = [2 * take(j) + 1 for j in range(s)]
        rows.append([s, a, *first, *[0] * (_DEGREE - s)])
    table = tensor(rows)
    return table[:, 0], table[:, 1], table[:, 2:]
