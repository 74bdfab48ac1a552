"""Line search by the strong Wolfe conditions."""

from __future__ import annotations

from collections import namedtuple

from .. import Tensor

# A step must lower the function by this share of what its slope promises, and
# leave at most that share of the slope.
_DECREASE, _CURVATURE = 1e-4, 0.9


# A place on the line: step, function, gradient, slope along the line.
Point = namedtuple("Point", ("t", "f", "grad", "slope"))


def cubic_minimum(a: Point, b: Point, bounds=None):
    """Where the cubic through two points with their slopes is least.

    The middle of the bounds, by default of the points, if it has no minimum.
    """
    low, high = bounds or ((a.t, b.t) if a.t <= b.t else (b.t, a.t))
    if a.t > b.t:
        a, b = b, a
    d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    share = (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2)
    return min(max(b.t - (b.t - a.t) * share, low), high)


class StrongWolfe:
    """One search along `direction` (Nocedal & Wright, algorithms 3.5 and 3.6).

    Args:
        evaluate: gives function and gradient for a step.
        direction: of the line.
        start: the point at step 0.
        least_change: a bracket that moves parameters by less is left.
        budget: evaluations that may follow the first.
    """

    def __init__(
        self,
        evaluate,
        direction: Tensor,
        start: Point,
        least_change: float,
        budget: int,
    ) -> None:
        self._evaluate = evaluate
        self._direction = direction
        self._start = start
        self._least_change = least_change
        self._reach = direction.abs().max()
        self._rounds = 0
        self._most_rounds = budget
        self.evaluations = 0

    def search(self, t) -> Point:
        """The step found, with `t` as the first to try."""
        low, high = self._bracket(t)
        return low if high is None else self._zoom(low, high)

    def _at(self, t) -> Point:
        f, grad = self._evaluate(t)
        self.evaluations += 1
        return Point(t, f, grad, grad.dot(self._direction))

    def _too_high(self, point: Point) -> bool:
        start = self._start
        return point.f > start.f + _DECREASE * point.t * start.slope

    def _flat(self, point: Point) -> bool:
        return abs(point.slope) <= -_CURVATURE * self._start.slope

    def _bracket(self, t) -> tuple[Point, Point | None]:
        """Two points around a good step, or that step and None."""
        before, now = self._start, self._at(t)
        while self._rounds < self._most_rounds:
            rises = self._rounds > 1 and now.f >= before.f
            if self._too_high(now) or rises:
                return before, now
            if self._flat(now):
                return now, None
            if now.slope >= 0:
                return before, now
            bounds = now.t + 0.01 * (now.t - before.t), now.t * 10
            t = cubic_minimum(before, now, bounds)
            before, now = now, self._at(t)
            self._rounds += 1
        return self._start, now

    def _zoom(self, first: Point, second: Point) -> Point:
        ends = [first, second]
        low, high = _order(ends)
        stalled = False
        while self._rounds < self._most_rounds:
            if abs(ends[1].t - ends[0].t) * self._reach < self._least_change:
                break
            t = cubic_minimum(*ends)
            t, stalled = _inside(t, ends, stalled)
            point = self._at(t)
            self._rounds += 1
            if self._too_high(point) or point.f >= ends[low].f:
                ends[high] = point
                low, high = _order(ends)
                continue
            done = self._flat(point)
            if not done and point.slope * (ends[high].t - ends[low].t) >= 0:
                ends[high] = ends[low]
            ends[low] = point
            if done:
                break
        return ends[low]


def _order(ends: list[Point]) -> tuple[int, int]:
    return (0, 1) if ends[0].f <= ends[1].f else (1, 0)


def _inside(t, ends: list[Point], stalled: bool):
    """`t` away from the ends if it is near them twice; whether it was once."""
    left, right = sorted(point.t for point in ends)
    margin = 0.1 * (right - left)
    if min(right - t, t - left) >= margin:
        return t, False
    if not (stalled or t >= right or t <= left):
        return t, True
    if abs(t - right) < abs(t - left):
        return right - margin, False
    return left + margin, False
