"""Functions of `torch`, `torch._C._nn` and `torch.ops` for the layout."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from .._library.definitions import Library
from ..autograd import enable_grad, grad
from . import layers, shape  # noqa: F401
from .convert import to_mkldnn
from .fused import SCHEMAS
from .kind import HANDLERS, refused
from .layers import (
    mkldnn_convolution,
    mkldnn_linear,
    mkldnn_reorder_conv2d_weight,
    mkldnn_reorder_conv3d_weight,
)
from .tensor import is_onednn, plain


def _of_layout(name: str, doc: str):
    """The function of tensors of the layout alone that a handler computes."""
    handler = HANDLERS[name]

    def function(input: Tensor, *args, **kwargs) -> Tensor:
        if not is_onednn(input):
            raise NotImplementedError(
                f"Could not run 'aten::{name}' with arguments from the "
                f"'{input.device.type.upper()}' backend."
            )
        if getattr(handler, "asked", False):
            return handler(function, input, *args, **kwargs)
        return handler(input, *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


_mkldnn_reshape = _of_layout("_mkldnn_reshape", "Another shape, as `reshape`.")
_mkldnn_transpose = _of_layout("_mkldnn_transpose", "Two dimensions exchanged.")
_mkldnn_transpose_ = _of_layout("_mkldnn_transpose_", "Refused, as PyTorch does.")
mkldnn_max_pool2d = _of_layout("mkldnn_max_pool2d", "`max_pool2d`.")
mkldnn_max_pool3d = _of_layout("mkldnn_max_pool3d", "`max_pool3d`.")
mkldnn_adaptive_avg_pool2d = _of_layout(
    "mkldnn_adaptive_avg_pool2d", "`adaptive_avg_pool2d`."
)


def mkldnn_linear_backward_weights(
    grad_output: Tensor, input: Tensor, weight: Tensor, bias_defined: bool
) -> tuple:
    """The gradients by the weight and the bias of `mkldnn_linear`."""
    with enable_grad():
        parts = [plain(weight).detach().requires_grad_()]
        if bias_defined:
            parts.append(parts[0].new_zeros(parts[0].shape[0]).requires_grad_())
        made = _C.ops.linear(plain(input).detach(), *parts)
    found = grad(made, parts, plain(grad_output).detach())
    return found[0], found[1] if bias_defined else None


_POOL = "(Tensor self, int[{0}] kernel_size, int[{0}] stride=[], int[{0}] padding=0, "
_POOL += "int[{0}] dilation=1, bool ceil_mode=False) -> Tensor"
_CONV = "(Tensor self, Tensor weight, Tensor? bias, SymInt[] padding, SymInt[] stride, "
_CONV += "SymInt[] dilation, SymInt groups) -> Tensor"
_REORDER = "(Tensor self, SymInt[{0}] padding={1}, SymInt[{0}] stride={2}, "
_REORDER += "SymInt[{0}] dilation={2}, SymInt groups=1, SymInt[]? input_size=None) "
_REORDER += "-> Tensor"
_TRANSPOSE = "(Tensor self, int dim0, int dim1) -> Tensor"

_ATEN = {
    "to_mkldnn": ("(Tensor self, ScalarType? dtype=None) -> Tensor", to_mkldnn),
    "mkldnn_convolution": (_CONV, mkldnn_convolution),
    "mkldnn_linear": (
        "(Tensor self, Tensor weight, Tensor? bias=None) -> Tensor",
        mkldnn_linear,
    ),
    "mkldnn_linear_backward_weights": (
        "(Tensor grad_output, Tensor input, Tensor weight, bool bias_defined) "
        "-> (Tensor, Tensor)",
        mkldnn_linear_backward_weights,
    ),
    "mkldnn_max_pool2d": (_POOL.format(2), mkldnn_max_pool2d),
    "mkldnn_max_pool3d": (_POOL.format(3), mkldnn_max_pool3d),
    "mkldnn_adaptive_avg_pool2d": (
        "(Tensor self, int[2] output_size) -> Tensor",
        mkldnn_adaptive_avg_pool2d,
    ),
    "mkldnn_reorder_conv2d_weight": (
        _REORDER.format(2, "[0, 0]", "[1, 1]"),
        mkldnn_reorder_conv2d_weight,
    ),
    "mkldnn_reorder_conv3d_weight": (
        _REORDER.format(3, "[0, 0, 0]", "[1, 1, 1]"),
        mkldnn_reorder_conv3d_weight,
    ),
    "_mkldnn_reshape": ("(Tensor self, int[] shape) -> Tensor", _mkldnn_reshape),
    "_mkldnn_transpose": (_TRANSPOSE, _mkldnn_transpose),
}


def _number_of_bytes(mkldnn_tensor: Tensor) -> int:
    if not is_onednn(mkldnn_tensor):
        raise refused("mkldnn::_nbytes")
    return mkldnn_tensor._dense.nbytes


def _pointer(mkldnn_tensor: Tensor) -> int:
    if not is_onednn(mkldnn_tensor):
        raise refused("mkldnn::data_ptr")
    return mkldnn_tensor._dense.data_ptr()


_SPACE = {
    "_is_mkldnn_bf16_supported": ("() -> bool", lambda: True),
    "_is_mkldnn_fp16_supported": ("() -> bool", lambda: True),
    "_is_mkldnn_acl_supported": ("() -> bool", lambda: False),
    "_nbytes": ("(Tensor mkldnn_tensor) -> int", _number_of_bytes),
    "data_ptr": ("(Tensor mkldnn_tensor) -> int", _pointer),
}
_DEFINED = {
    "aten": {name: {"": row} for name, row in _ATEN.items()},
    "mkldnn": {**SCHEMAS, **{name: {"": row} for name, row in _SPACE.items()}},
}
_libraries: dict = {}


def define(space: str, name: str) -> None:
    """Defines the operator of this name, if it is one of these."""
    overloads = _DEFINED[space].pop(name, {})
    if overloads and space not in _libraries:
        _libraries[space] = Library(space, "FRAGMENT")
    for overload, (schema, kernel) in overloads.items():
        _libraries[space].define(name + overload + schema)
        _libraries[space].impl(name + overload, kernel, "CompositeImplicitAutograd")
