"""Names of the top level as compiled code sees them."""

from __future__ import annotations

from typing import Any

import hotaru as torch
from hotaru import Tensor

from ..._own_names import is_own


class _NoGrad:
    """`no_grad()`."""

    def __init__(self):
        self.previous = False

    def __enter__(self) -> None:
        self.previous = torch.is_grad_enabled()
        torch.ops.set_grad_enabled(False)

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        torch.ops.set_grad_enabled(self.previous)


class _EnableGrad:
    """`enable_grad()`."""

    def __init__(self):
        self.previous = False

    def __enter__(self) -> None:
        self.previous = torch.is_grad_enabled()
        torch.ops.set_grad_enabled(True)

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        torch.ops.set_grad_enabled(self.previous)


class _SetGrad:
    """`set_grad_enabled(mode)`, which acts before it is entered."""

    def __init__(self, mode: bool):
        self.previous = torch.is_grad_enabled()
        torch.ops.set_grad_enabled(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        torch.ops.set_grad_enabled(self.previous)


class _RecordFunction:
    """`record_function(name)`."""

    def __init__(self, name: str, args: str | None = None):
        self.name = name
        self.args = args
        self.record = _begin_range(name, args)

    def __enter__(self) -> None:
        self.record = _begin_range(self.name, self.args)

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        _end_range(self.record)


def _begin_range(name: str, args: str | None): ...


def _end_range(record): ...


CLASSES = {
    torch.no_grad: _NoGrad,
    torch.enable_grad: _EnableGrad,
    torch.set_grad_enabled: _SetGrad,
}


def replacement(cls: type) -> type | None:
    """Finds what compiled code has in place of a class of the package."""
    # Who names the class has imported its module.
    if cls.__name__ == "record_function" and is_own(cls.__module__):
        return _RecordFunction
    return CLASSES.get(cls)


def is_tensor(obj: Any) -> bool:
    return isinstance(obj, Tensor)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    first: list[int] = []
    second: list[int] = []
    if torch.jit.isinstance(dims, tuple[list[int], list[int]]):
        first, second = dims
    elif torch.jit.isinstance(dims, list[list[int]]):
        first, second = dims[0], dims[1]
    else:
        if isinstance(dims, Tensor):
            count = int(dims)
        else:
            assert isinstance(dims, int), "tensordot: dims are no integers"
            count = dims
        for i in range(count):
            first.append(a.dim() - count + i)
            second.append(i)
    return torch.ops.tensordot(a, b, first, second)


def numel(input: Tensor) -> int:
    return input.numel()


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    # Without `center` the operator would be the one that does not pad.
    return torch.ops.stft(
        input,
        n_fft,
        hop_length,
        win_length,
        window,
        center=center,
        pad_mode=pad_mode,
        normalized=normalized,
        onesided=onesided,
        return_complex=return_complex,
        align_to_window=align_to_window,
    )


def _check(cond: bool, message: str = "") -> None:
    assert cond, message


def ldexp(x: float, i: int) -> float:
    """`math.ldexp`: in two steps, as 2^i may be larger than any number."""
    half = i // 2
    return x * 2.0**half * 2.0 ** (i - half)
