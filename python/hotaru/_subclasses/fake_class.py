"""The class of fake tensors."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from ..utils import _pytree
from . import fake_devices


class FakeTensor(Tensor):
    """A tensor of the meta device that says it is on another.

    Operators give fake tensors of the shape, strides, dtype and device that
    they would give real ones, with derivatives. `fake_mode` is the mode it
    belongs to, `constant` its value where that is known, else None.
    """

    __torch_function__ = _C._disabled_torch_function_impl
    _sees_whole = True

    @staticmethod
    def __new__(cls, fake_mode, elem, device):
        """Makes one of a tensor on the meta device, whose memory it shares."""
        made = Tensor._make_subclass(cls, elem.detach(), elem.requires_grad)
        made.fake_device = fake_devices.normalized(device)
        made.fake_mode = fake_mode
        made.constant = None
        return made

    def __init__(self, *args, **kwargs) -> None:
        super().__init__()

    def _is_view(self) -> bool:
        """True if it shares the memory of `_base`."""
        return self._base is not None

    @property
    def _base(self):
        """The fake tensor whose view it is; None if it is none."""
        return self.__dict__.get("_view_of")

    @property
    def device(self):
        """The device it pretends to be on."""
        return self.fake_device

    @property
    def is_cpu(self) -> bool:
        """True if that is the CPU."""
        return self.fake_device.type == "cpu"

    @property
    def is_cuda(self) -> bool:
        """True if that is a GPU."""
        return self.fake_device.type == "cuda"

    @property
    def is_meta(self) -> bool:
        """True if that is the meta device."""
        return self.fake_device.type == "meta"

    def get_device(self) -> int:
        """The number of the device, -1 of the CPU."""
        if self.fake_device.type == "cpu":
            return -1
        return self.fake_device.index or 0

    def tolist(self):
        """The numbers in nested lists, each asked for by itself."""
        if self.dim() == 0:
            return self.item()
        return [part.tolist() for part in self]

    @property
    def grad(self):
        """The gradient, a fake tensor."""
        found = Tensor.grad.__get__(self)
        if found is None or isinstance(found, FakeTensor):
            return found
        known = self.__dict__.get("_grad_of")  # a sum that autograd made
        if known is None or known[0] is not found:
            made = FakeTensor(self.fake_mode, found, self.fake_device)
            self.__dict__["_grad_of"] = known = (found, made)
        return known[1]

    @grad.setter
    def grad(self, value) -> None:
        Tensor.grad.__set__(self, value)

    def __repr__(self, *, tensor_contents=None) -> str:
        parts = ["..."]
        if self.fake_device.type != "cpu":
            parts.append(f"device='{self.fake_device}'")
        parts.append(f"size={tuple(self.shape)}")
        if self.dtype not in (_C.get_default_dtype(), _C.int64, _C.bool):
            parts.append(f"dtype={self.dtype}")
        if self.grad_fn is not None:
            parts.append(f"grad_fn=<{type(self.grad_fn).__name__}>")
        elif self.requires_grad:
            parts.append("requires_grad=True")
        text = f"FakeTensor({', '.join(parts)})"
        is_parameter = self.__dict__.get("_is_param")
        return f"Parameter({text})" if is_parameter else text

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        fakes = fakes_in((args, kwargs))
        if not all(issubclass(kind, FakeTensor) for kind in types):
            return NotImplemented
        return fakes[0].fake_mode._answer(func, args, kwargs or {})


def fakes_in(tree) -> list[FakeTensor]:
    """Fake tensors among the leaves of a tree, in order."""
    leaves = _pytree.tree_leaves(tree)
    return [x for x in leaves if isinstance(x, FakeTensor)]
