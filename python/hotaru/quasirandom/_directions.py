"""The direction numbers of Sobol' sequences.

Joe and Kuo's (SIAM J. Sci. Comput. 30, 2635-2654, 2008). Dimension 1 has the
polynomial 1; the others have the primitive polynomials over GF(2) by degree,
x^s + a_1 x^(s-1) + ... + 1, and odd initial numbers m_1 < 2, ..., m_s < 2^s.
`directions.bin` has a row of bits for each, the highest first: a_1 to a_(s-1),
and m_1 to m_s without their last bit.
"""

from __future__ import annotations

from importlib.resources import files

from .. import Tensor, arange, cat, frombuffer, int64, ones, uint8

MAXBIT = 30
# How many primitive polynomials of degree 1, 2, ... there are.
_COUNTS = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776)
MAXDIM = 1 + sum(_COUNTS)


def _width(degree: int) -> int:
    """Bits of a row."""
    return degree - 1 + degree * (degree - 1) // 2


def _number(bits: Tensor) -> Tensor:
    """Reads bits as a number, the highest first in the last dimension."""
    places = arange(bits.size(-1) - 1, -1, -1, device="cpu")
    return (bits.to(int64) << places).sum(-1)


def _grown(rows: Tensor, degree: int) -> Tensor:
    """The numbers m_1 to m_MAXBIT of each row: [rows, MAXBIT].

    m_i = 2 a_1 m_(i-1) ^ 4 a_2 m_(i-2) ^ ... ^ 2^s m_(i-s) ^ m_(i-s)
    """
    factors = rows[:, : degree - 1].to(int64).unbind(1)
    found, at = [], degree - 1
    for i in range(degree):
        found.append(_number(rows[:, at : at + i]) * 2 + 1)
        at += i
    for i in range(degree, MAXBIT):
        last = found[i - degree]
        number = last ^ (last << degree)
        for k, factor in enumerate(factors, 1):
            number = number ^ ((factor * found[i - k]) << k)
        found.append(number)
    return cat([number[:, None] for number in found], 1)


def directions(dimension: int) -> Tensor:
    """The direction numbers v_j = m_j / 2^j as integers of MAXBIT bits.

    Returns:
        int64, [dimension, MAXBIT].
    """
    data = files(__package__).joinpath("directions.bin").read_bytes()
    parts = [ones(1, MAXBIT, dtype=int64, device="cpu")]
    left, bit = dimension - 1, 0
    for degree, count in enumerate(_COUNTS, 1):
        if left <= 0:
            break
        taken = min(left, count)
        end = bit + taken * _width(degree)
        rows = _bits(data, bit, end).view(taken, _width(degree))
        parts.append(_grown(rows, degree))
        bit += count * _width(degree)
        left -= taken
    places = arange(MAXBIT - 1, -1, -1, device="cpu")
    return cat(parts) << places


def _bits(data: bytes, start: int, end: int) -> Tensor:
    """Some bits of it, one in each byte."""
    first = start // 8
    piece = bytearray(data[first : -(-end // 8)] or b"\0")
    places = arange(7, -1, -1, dtype=uint8, device="cpu")
    bits = (frombuffer(piece, dtype=uint8)[:, None] >> places) & 1
    return bits.flatten()[start - 8 * first : end - 8 * first]
