"""Cases of masked reductions, scans and normalizations."""

from __future__ import annotations

from ops_eval import cases

# One row is let through in part, one not at all, one wholly.
_M = "t([[True, False, True], [False] * 3, [True] * 3])"
_REDUCED = ("amax", "amin", "logsumexp", "mean", "prod", "std", "sum", "var")
_ROWS = ("cumprod", "cumsum", "log_softmax", "softmax", "softmin")

_TEXTS = [
    f"T.masked.{name}(x(3, 3), {dim}, mask={_M})"
    for name in (*_REDUCED, "argmax", "argmin", "median")
    for dim in (0, 1, -1, 2)
]
_TEXTS += [
    f"T.masked.{name}(x(3, 3), {rest})"
    for name in _REDUCED
    for rest in (
        f"mask={_M}",
        f"(0, 1), mask={_M}",
        f"(), keepdim=True, mask={_M}",
        "1",
        f"(0, 0), mask={_M}",
        "1, mask=t([True, False, True])",
        f"1, dtype=T.float64, mask={_M}",
        f"1, keepdim=True, mask={_M}",
        f"1, mask={_M}[None]",
        "1, mask=T.ones(4)",
        "1, mask=t([[0], [2], [1]])",
    )
    # The text of the others is that of another function.
    if rest[:6] != "(0, 0)" or name not in ("mean", "std", "var")
]
_TEXTS += [
    f"T.masked.{name}((x(3, 3) * 4).to(T.{dtype}), 1, mask={_M})"
    for name in (*_REDUCED, "argmax", "cumsum", "median", "norm")
    for dtype in ("int32", "uint8", "bool", "bfloat16")
    if dtype == "bfloat16" or name != "norm"
    if dtype != "bfloat16" or name != "prod"
]
_TEXTS += [
    f"T.masked.{name}(x(3, 3), {dim}, mask={_M})" for name in _ROWS for dim in (0, 1, 5)
]
_TEXTS += [
    f"T.masked.norm(x(3, 3), {order}, 1, mask={_M})"
    for order in (0, 1, 2.0, 3, "inf", "-inf", -1)
]
_TEXTS += [
    f"T.masked.normalize(x(3, 3), 2.0, 1, mask={_M})",
    f"T.masked.normalize(x(3, 3), 1.0, 0, eps=10.0, mask={_M})",
    f"T.masked.logaddexp(x(3, 3), d(3, 3, start=4).float(), input_mask={_M}, "
    f"other_mask=~{_M})",
    f"T.masked.var(x(3, 3), 1, False, mask={_M})",
    f"T.masked.var(x(3, 3), 1, correction=3, mask={_M})",
    f"T.masked.std(x(3, 3), 1, True, correction=0, mask={_M})",
    "T.masked.median(l(2, 3), 1, mask=t([[True, False, True]]))",
    "T.masked.sum(t(3.0), mask=t(False))",
    "T.masked.amax(t([nan, 1.0]), 0, mask=t([False, True]))",
]
_GRADS = [
    f"grad(lambda a: T.masked.{name}(a, 1, mask={_M})[::2], d(3, 3))[2]"
    for name in (*_REDUCED, *_ROWS)
]
_GRADS += [
    f"grad2(lambda a: T.masked.{name}(a, 1, mask={_M})[2:], d(3, 3))"
    for name in ("mean", "var", "logsumexp", "softmax", "cumprod")
]

CASES = cases(_TEXTS, _GRADS)
