"""Copies of modules whose tensors are fake."""

from __future__ import annotations

from .._C import Tensor
from ..overrides import TorchFunctionMode


class FakeCopyMode(TorchFunctionMode):
    """Inside, `copy.deepcopy` gives fake tensors of a mode in place of real
    ones, and so does `Tensor.clone`.
    """

    def __init__(self, fake_mode) -> None:
        super().__init__()
        self.fake_mode = fake_mode

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "__deepcopy__" and isinstance(args[0], Tensor):
            tensor, memo = args
            if id(tensor) not in memo:
                memo[id(tensor)] = self.fake_mode.from_tensor(tensor)
            return memo[id(tensor)]
        if name == "clone":
            fake = self.fake_mode.from_tensor(args[0])
            return func(fake, *args[1:], **kwargs)
        return func(*args, **kwargs)
