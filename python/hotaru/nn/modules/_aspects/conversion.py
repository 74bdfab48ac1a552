"""Moving and converting all tensors of a module, in place."""

from __future__ import annotations

import warnings

import hotaru

from .... import Tensor, no_grad
from ...._tensor.swap import swap_tensors
from ...._utils import typename
from ...parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

_TO_TEXT = (
    "to() received an invalid combination of arguments - got ({got}), but "
    "expected one of:\n"
    " * (torch.device device = None, torch.dtype dtype = None, bool "
    "non_blocking = False, bool copy = False, *, torch.memory_format "
    "memory_format = None)\n * (torch.dtype dtype, bool non_blocking = False, "
    "bool copy = False, *, torch.memory_format memory_format = None)\n"
    " * (Tensor tensor, bool non_blocking = False, bool copy = False, *, "
    "torch.memory_format memory_format = None)\n"
)

_TO_EMPTY = (
    "Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() "
    "when moving module from meta to a different device."
)


class ConversionMixin:
    """`to`, `half`, `cuda`, … of `Module`: they change it and return it."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces every parameter, gradient and buffer `t` by `fn(t)`.

        Parameters keep their identity, so optimizers stay valid, unless
        `torch.__future__` says otherwise, they go to the meta device or
        leave it, or get another layout.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is not None:
                self._convert(name, param, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _convert(self, name: str, param: Tensor, fn) -> None:
        future = hotaru.__future__
        swaps = future.get_swap_module_params_on_conversion()
        grad = param.grad
        with no_grad():
            new = fn(param)
            new_grad = None if grad is None else fn(grad)
            if swaps:
                param.grad = None
                self._swap(name, param, Parameter(new, param.requires_grad))
            elif (
                future.get_overwrite_module_params_on_conversion()
                or new.is_meta != param.is_meta
                or new.layout != param.layout
            ):
                param = Parameter(new, param.requires_grad)
                self._parameters[name] = param
                param.grad = new_grad
                return
            elif new is not param:
                param.data = new
            if grad is None:
                return
            if swaps:
                new_grad.requires_grad_(grad.requires_grad)
                if new_grad is not grad:
                    self._swap(f"{name}.grad", grad, new_grad)
                param.grad = grad
            elif new_grad is not grad:
                grad.data = new_grad

    def _swap(self, name: str, old: Tensor, new: Tensor) -> None:
        try:
            swap_tensors(old, new)
        except Exception as error:
            raise RuntimeError(
                f"_apply(): Couldn't swap {self._get_name()}.{name}"
            ) from error

    def _to_floating(self, dtype) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self) -> Self:
        """Converts floating point parameters and buffers to float32."""
        return self._to_floating(hotaru.float32)

    def double(self) -> Self:
        """Converts floating point parameters and buffers to float64."""
        return self._to_floating(hotaru.float64)

    def half(self) -> Self:
        """Converts floating point parameters and buffers to float16."""
        return self._to_floating(hotaru.float16)

    def bfloat16(self) -> Self:
        """Converts floating point parameters and buffers to bfloat16."""
        return self._to_floating(hotaru.bfloat16)

    def cpu(self) -> Self:
        """Moves all parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: int | hotaru.device | str | None = None) -> Self:
        """Moves all parameters and buffers to a GPU, the current by default."""
        return self._apply(lambda t: t.cuda(device))

    def share_memory(self) -> Self:
        """Moves all parameters and buffers to memory that processes share."""
        return self._apply(lambda t: t.share_memory_())

    def to(self, *args, **kwargs) -> Self:
        """Moves and converts parameters and buffers in place; returns self.

        Called as `to(device, dtype, non_blocking)`, `to(dtype, non_blocking)`,
        `to(tensor, non_blocking)`, each with `memory_format=`. A dtype applies
        to floating point and complex tensors only.

        Raises:
            TypeError: another combination of arguments, or an integer dtype.
            NotImplementedError: parameters without memory (on meta) are to get
                some; `to_empty` gives it.
        """
        device, dtype, non_blocking, memory_format = parse_to(args, kwargs)
        inexact = dtype is None or dtype.is_floating_point or dtype.is_complex
        if not inexact:
            raise TypeError(
                "nn.Module.to only accepts floating point or complex "
                f"dtypes, but got desired dtype={dtype}"
            )
        if dtype is not None and dtype.is_complex:
            warnings.warn(
                "Complex modules are a new feature under active development "
                "whose design may change, and some modules might not work as "
                "expected when using complex tensors as parameters or "
                "buffers. Please file an issue at "
                "https://github.com/pytorch/pytorch/issues/new?template="
                "bug-report.yml if a complex module does not work as expected.",
                stacklevel=2,
            )

        def convert(tensor: Tensor) -> Tensor:
            options = {}
            if device is not None:
                options["device"] = device
            if dtype is not None and (
                tensor.is_floating_point() or tensor.is_complex()
            ):
                options["dtype"] = dtype
            if memory_format is not None and tensor.dim() in (4, 5):
                options["memory_format"] = memory_format
            if not options:
                return tensor
            try:
                return tensor.to(non_blocking=non_blocking, **options)
            except NotImplementedError as error:
                if not tensor.is_meta:
                    raise
                raise NotImplementedError(f"{error} {_TO_EMPTY}") from None

        return self._apply(convert)


def parse_to(args: tuple, kwargs: dict) -> tuple:
    """Arguments of `to` as (device, dtype, non_blocking, memory_format)."""
    memory_format = kwargs.get("memory_format")
    named = {k: v for k, v in kwargs.items() if k != "memory_format"}
    first = args[0] if args else None
    if isinstance(first, hotaru.dtype):
        names = ("dtype", "non_blocking", "copy")
    elif isinstance(first, Tensor) or "tensor" in named:
        names = ("tensor", "non_blocking", "copy")
    else:
        names = ("device", "dtype", "non_blocking", "copy")
    values = dict(zip(names, args))
    fits = (
        len(args) <= len(names)
        and values.keys().isdisjoint(named)
        and set(named) <= {*names, "dtype" if not args else names[0]}
    )
    values.update(named)
    device, dtype = values.get("device"), values.get("dtype")
    tensor = values.get("tensor")
    fits = (
        fits
        and isinstance(device, (type(None), str, int, hotaru.device))
        and isinstance(dtype, (type(None), hotaru.dtype))
        and isinstance(tensor, (type(None), Tensor))
        and isinstance(values.get("non_blocking", False), bool)
        and isinstance(values.get("copy", False), bool)
    )
    if not fits:
        got = ", ".join(typename(a) for a in args)
        if kwargs:
            named_types = ", ".join(f"{k}={typename(v)}" for k, v in kwargs.items())
            got = f"{got}, {named_types}" if got else f"{named_types}, "
        raise TypeError(_TO_TEXT.format(got=got))
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    elif device is not None and not isinstance(device, hotaru.device):
        device = hotaru.device(device)
    return device, dtype, values.get("non_blocking", False), memory_format
