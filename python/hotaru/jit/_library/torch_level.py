"""Names of the top level as compiled code sees them."""

from __future__ import annotations

from typing import Any

import hotaru as torch
from hotaru import Tensor


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


CLASSES = {
    torch.no_grad: _NoGrad,
    torch.enable_grad: _EnableGrad,
    torch.set_grad_enabled: _SetGrad,
}


def is_tensor(obj: Any) -> bool:
    return isinstance(obj, Tensor)


def tensordot(a: Tensor, b: Tensor, dims: int = 2) -> Tensor:
    first: list[int] = []
    second: list[int] = []
    for i in range(dims):
        first.append(a.dim() - dims + i)
        second.append(i)
    return torch.ops.tensordot(a, b, first, second)


def equal(input: Tensor, other: Tensor) -> bool:
    if input.size() != other.size():
        return False
    return bool((input == other).all())


def numel(input: Tensor) -> int:
    return input.numel()
