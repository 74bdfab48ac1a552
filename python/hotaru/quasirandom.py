"""Points that fill a cube more evenly than random ones do."""

from __future__ import annotations

from . import (
    Generator,
    Tensor,
    _sobol,
    arange,
    bmm,
    cat,
    float32,
    float64,
    get_default_dtype,
    int64,
    no_grad,
    randint,
    zeros,
)  # fmt: skip

__all__ = ["SobolEngine"]


class SobolEngine:
    """Points of a Sobol sequence in [0, 1)^dimension.

    Powers of two of them, from the first one on, are balanced. As in
    I. A. Antonov and V. M. Saleev, "An economic method of computing
    LP_tau-sequences" (1979), each point differs from the one before by one
    direction number.

    Args:
        dimension: up to `MAXDIM`.
        scramble: whether to multiply by random triangular matrices and to
            shift (J. Matousek, "On the L2-discrepancy for anchored boxes",
            1998).
        seed: for that; by default the default generator draws.

    Raises:
        ValueError: there are no points of that dimension.
    """

    MAXBIT = 30
    MAXDIM = _sobol.MAXDIM

    def __init__(self, dimension, scramble=False, seed=None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                "Supported range of dimensionality for SobolEngine is "
                f"[1, {self.MAXDIM}]"
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = _sobol.direction_numbers(dimension, self.MAXBIT)
        self.shift = zeros(dimension, dtype=int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out=None, dtype=None) -> Tensor:
        """The next `n` points in rows.

        Args:
            out: a tensor to write them to.
            dtype: of the result, float32 or float64; by default the default
                one.
        """
        dtype = get_default_dtype() if dtype is None else dtype
        if dtype not in (float32, float64):
            raise NotImplementedError(
                f"SobolEngine.draw: there are no points of {dtype}; use "
                "float32 or float64"
            )
        with no_grad():
            states = self._advance(n)
            made = states.to(dtype) / 2**self.MAXBIT
            if self.num_generated == 0:
                made = cat((self._first_point.to(dtype), made))
        self.num_generated += n
        if out is None:
            return made
        return out.resize_as_(made).copy_(made)

    def draw_base2(self, m: int, out=None, dtype=None) -> Tensor:
        """The next 2^m points.

        ValueError: all points up to the last one would be no power of two, so
        that they were not balanced.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a "
                f"power of 2. {self.num_generated} points have been previously "
                f"generated, then: n={self.num_generated}+2**{m}={total}. If "
                "you still want to do this, please use 'SobolEngine.draw()' "
                "instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Goes back to the first point; returns itself."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Leaves `n` points out; returns itself."""
        begun = max(self.num_generated - 1, 0)
        count = n if self.num_generated else n - 1
        ends = arange(begun + count, begun + count + 1)
        self.quasi ^= self._steps(begun, ends)[0]
        self.num_generated += n
        return self

    def _advance(self, n: int) -> Tensor:
        """Integers (n, dimension) of the points behind the last one; without
        the first point of all, which is known.
        """
        begun = max(self.num_generated - 1, 0)
        count = n if self.num_generated else n - 1
        if count < 0:
            raise RuntimeError(
                "Trying to create tensor with negative dimension "
                f"{count}: [{count}, {self.dimension}]"
            )
        made = self._steps(begun, arange(begun + 1, begun + count + 1))
        made ^= self.quasi
        if count:
            self.quasi = made[-1].clone()
        return made

    def _steps(self, begun: int, ends: Tensor) -> Tensor:
        """What lies between point `begun` and each of `ends`: the direction
        numbers at which their Gray codes differ, added without carry.
        """
        codes = ends ^ (ends >> 1) ^ (begun ^ (begun >> 1))
        made = zeros(len(codes), self.dimension, dtype=int64)
        highest = int(codes.max()).bit_length() if len(codes) else 0
        for bit in range(min(highest, self.MAXBIT)):
            chosen = ((codes >> bit) & 1).unsqueeze(1)
            made ^= chosen * self.sobolstate[:, bit]
        return made

    def _scramble(self) -> None:
        generator = None
        if self.seed is not None:
            generator = Generator().manual_seed(self.seed)
        places, size = arange(self.MAXBIT), (self.dimension, self.MAXBIT)
        drawn = randint(2, size, generator=generator)
        self.shift = (drawn << places).sum(1)
        matrix = randint(2, (*size, self.MAXBIT), generator=generator).tril()
        matrix.diagonal(dim1=-2, dim2=-1).fill_(1)
        # Products over two elements; sums of 30 ones are exact.
        falling = self.MAXBIT - 1 - places
        bits = (self.sobolstate.unsqueeze(-1) >> falling) & 1
        made = bmm(bits.to(float32), matrix.to(float32).mT).to(int64) & 1
        self.sobolstate = (made << falling).sum(-1)

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(parts)})"
