"""Sequences that fill the unit cube more evenly than random numbers do."""

from __future__ import annotations

from .. import (
    Generator,
    Tensor,
    arange,
    cat,
    empty,
    eye,
    float32,
    float64,
    get_default_dtype,
    int32,
    int64,
    mv,
    randint,
    zeros,
)
from ._directions import MAXBIT, MAXDIM, directions

__all__ = ["SobolEngine"]

# Numbers of points that are made at once.
_BLOCK = 1 << 16
# Bytes of the matrices that scramble at once.
_CHUNK = 1 << 24


class SobolEngine:
    """Sobol' sequences, optionally scrambled: points of the unit cube.

    Args:
        dimension: of the points, from 1 to MAXDIM.
        scramble: by random triangular matrices and a random shift (Owen, J.
            Complexity 14, 466-489, 1998; Matousek's variant).
        seed: of the scrambling alone; None takes the global generator.

    Raises:
        ValueError: another dimension.
    """

    MAXBIT = MAXBIT
    MAXDIM = MAXDIM

    def __init__(self, dimension, scramble=False, seed=None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                "Supported range of dimensionality for SobolEngine is [1, "
                f"{self.MAXDIM}]"
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = directions(dimension)
        self.shift = zeros(dimension, dtype=int64, device="cpu")
        if scramble:
            self._scramble()
        # The last point's numerators over 2^MAXBIT.
        self.quasi = self.shift.clone()
        first = self.quasi.to(get_default_dtype()) / 2**self.MAXBIT
        self._first_point = first.reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype=None) -> Tensor:
        """The next `n` points, [n, dimension].

        Args:
            out: is resized and gets the points.
            dtype: float32 or float64; the default dtype if None.

        Raises:
            RuntimeError: `n` is negative, or 0 at the beginning.
            NotImplementedError: another dtype.
        """
        dtype = get_default_dtype() if dtype is None else dtype
        start = self.num_generated == 0
        count = n - 1 if start else n
        if count < 0:
            raise RuntimeError(
                "Trying to create tensor with negative dimension "
                f"{count}: [{count}, {self.dimension}]"
            )
        if dtype not in (float32, float64) and not (start and n == 1):
            raise NotImplementedError(
                f'"_sobol_engine_draw" not implemented for {dtype}; draw '
                "float32 or float64 and convert the points"
            )
        if start and n == 1:
            result = self._first_point.to(dtype)
        else:
            result = self._next(count, dtype)
            if start:
                result = cat((self._first_point.to(dtype), result))
        self.num_generated += n
        if out is None:
            return result
        return out.resize_as_(result).copy_(result)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype=None) -> Tensor:
        """The next 2**m points.

        Raises:
            ValueError: with those before they are not a power of 2, of which
                alone the points are balanced.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a "
                f"power of 2. {self.num_generated} points have been previously "
                f"generated, then: n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' "
                "instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Back to the first point."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leaves out `n` points."""
        last = max(self.num_generated - 1, 0)
        count = n - 1 if self.num_generated == 0 else n
        self.quasi ^= self._between(last, last + count)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        text = [f"dimension={self.dimension}"]
        if self.scramble:
            text.append("scramble=True")
        if self.seed is not None:
            text.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(text)})"

    def _between(self, first: int, last: int) -> Tensor:
        """Turn from one point into another one: those of the directions in
        which their Gray codes differ.
        """
        bits = (first ^ first >> 1) ^ (last ^ last >> 1)
        turn = zeros(self.dimension, dtype=int64, device="cpu")
        for j in range(bits.bit_length()):
            if bits >> j & 1:
                turn ^= self.sobolstate[:, j]
        return turn

    def _next(self, count: int, dtype) -> Tensor:
        """The next points, after which it stands at the last of them."""
        points = empty(count, self.dimension, dtype=dtype, device="cpu")
        last = max(self.num_generated - 1, 0)
        levels = min(count.bit_length(), (_BLOCK // self.dimension).bit_length())
        block = self._block(levels)
        at, end = last + 1, last + 1 + count
        while at < end:
            base = at >> levels << levels
            stop = min(end, base + (1 << levels))
            origin = self.quasi ^ self._between(last, base)
            found = block[at - base : stop - base] ^ origin.to(int32)
            points[at - last - 1 : stop - last - 1] = found
            at = stop
        self.quasi ^= self._between(last, last + count)
        return points.mul_(2.0**-self.MAXBIT)

    def _block(self, levels: int) -> Tensor:
        """By what 2^levels points behind an index that 2^levels divides differ
        from its point: the same wherever it is.
        """
        block = zeros(1, self.dimension, dtype=int32, device="cpu")
        for j in range(levels):
            turn = self.sobolstate[:, j]
            if j:
                turn = turn ^ self.sobolstate[:, j - 1]
            block = cat((block, block ^ turn.to(int32)))
        return block

    def _scramble(self) -> None:
        generator = None
        if self.seed is not None:
            generator = Generator()
            generator.manual_seed(self.seed)
        bits, cpu = self.MAXBIT, "cpu"
        shift = randint(2, (self.dimension, bits), device=cpu, generator=generator)
        self.shift = mv(shift, 2 ** arange(0, bits, device=cpu))
        matrices = randint(
            2, (self.dimension, bits, bits), device=cpu, generator=generator
        )
        step = max(1, _CHUNK // (4 * bits * bits))
        places = arange(bits - 1, -1, -1, device=cpu)
        unit = eye(bits, device=cpu)
        for start in range(0, self.dimension, step):
            some = slice(start, start + step)
            matrix = matrices[some].to(float32).tril(-1) + unit
            # [dimension, direction, bit], the highest bit first.
            state = self.sobolstate[some, :, None] >> places & 1
            sums = state.to(float32) @ matrix.transpose(1, 2)
            self.sobolstate[some] = (sums.to(int64) % 2 << places).sum(-1)
