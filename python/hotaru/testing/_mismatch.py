"""Messages about two things that should be close and are not."""

from __future__ import annotations

from collections.abc import Callable

from .. import _C
from .._C import Tensor, ops


class MismatchError(Exception):
    """Carries what `assert_close` raises, and where in the containers."""

    def __init__(self, kind: type[Exception], text: str) -> None:
        super().__init__(text)
        self.kind, self.text = kind, text
        self.path: tuple = ()

    def error(self, msg: str | Callable[[str], str] | None) -> Exception:
        """The error for the user; `msg` replaces the text or makes another."""
        if isinstance(msg, str):
            return self.kind(msg)
        text = self.text
        if self.path:
            item = "".join(f"[{key!r}]" for key in self.path)
            text += f"\n\nThe failure occurred for item {item}"
        return self.kind(msg(text) if callable(msg) else text)


def numbers(actual, expected, rtol: float, atol: float) -> str:
    """The text for two numbers."""
    apart = abs(actual - expected)
    relative = float("inf") if expected == 0 else apart / abs(expected)
    exact = rtol == 0 and atol == 0
    lines = [
        f"Scalars are not {'equal' if exact else 'close'}!",
        "",
        f"Expected {expected} but got {actual}.",
        f"Absolute difference: {apart}" + _allowed(atol, exact),
        f"Relative difference: {relative}" + _allowed(rtol, exact),
    ]
    return "\n".join(lines)


def tensors(
    actual: Tensor,
    expected: Tensor,
    close: Tensor,
    rtol: float,
    atol: float,
    name: str = "Tensor-likes",
) -> str:
    """The text for two tensors of one shape with dimensions, by their name.

    `close` is True where their elements match; those are left out.
    """
    count = close.numel()
    wrong = count - int(close.sum())
    exact = rtol == 0 and atol == 0
    if not (actual.is_floating_point() or actual.is_complex()):
        actual, expected = actual.to(_C.int64), expected.to(_C.int64)
    apart = ops.abs(actual - expected).masked_fill(close, 0)
    relative = (apart / ops.abs(expected)).masked_fill(close, 0)
    lines = [
        f"{name} are not {'equal' if exact else 'close'}!",
        "",
        f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})",
        _greatest("absolute", apart) + _allowed(atol, exact),
        _greatest("relative", relative) + _allowed(rtol, exact),
    ]
    return "\n".join(lines)


def _greatest(kind: str, difference: Tensor) -> str:
    flat = difference.flatten()
    value, at = flat.max(0)
    index, rest = [], int(at)
    for size in reversed(difference.shape):
        rest, here = divmod(rest, size)
        index.insert(0, here)
    return f"Greatest {kind} difference: {value.item()} at index {tuple(index)}"


def _allowed(tolerance: float, exact: bool) -> str:
    return "" if exact else f" (up to {tolerance} allowed)"
