"""By which names PyTorch's pickles know operators: classes and modules of
`torch._C` that have them.
"""

from __future__ import annotations

import types

import hotaru

from .. import _C
from .._late import lent
from .._own_names import no_attribute

# Operators that PyTorch has in torch._C._nn and not in torch itself.
IN_NN = {
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool2d",
    "avg_pool3d",
    "binary_cross_entropy",
    "col2im",
    "cross_entropy_loss",
    "elu",
    "elu_",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "gelu",
    "gelu_",
    "glu",
    "hardsigmoid",
    "hardsigmoid_",
    "hardswish",
    "hardswish_",
    "hardtanh",
    "hardtanh_",
    "huber_loss",
    "im2col",
    "l1_loss",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "log_sigmoid",
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mish_",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "nll_loss",
    "nll_loss2d",
    "nll_loss_nd",
    "one_hot",
    "pad",
    "pad_sequence",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "relu6",
    "relu6_",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "rrelu_with_noise",
    "rrelu_with_noise_",
    "scaled_dot_product_attention",
    "silu",
    "silu_",
    "slow_conv3d",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softplus",
    "softshrink",
    "thnn_conv2d",
    "upsample_bicubic2d",
    "upsample_bilinear2d",
    "upsample_linear1d",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_trilinear3d",
}
# Modules of which an operator's name begins with the module's.
PREFIXED = ("fft", "linalg", "special")
_SPARSE = ("addmm", "log_softmax", "mm", "softmax")


class _Functions(type):
    """A class whose attributes are functions of `torch`."""

    def __getattr__(cls, name: str):
        for place in (hotaru, hotaru.ops):
            found = getattr(place, name, None)
            if callable(found) and not isinstance(found, type):
                return found
        raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")


class _VariableFunctionsClass(metaclass=_Functions):
    """The functions of `torch` that are operators."""


_VariableFunctionsClass.__module__ = _C.__name__


class _Place(types.ModuleType):
    """A module within the extension, of which pickles hold the name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{_C.__name__}.{name}")
        self.__module__ = _C.__name__
        self.__qualname__ = name

    def __reduce__(self) -> str:
        return self.__qualname__


def _nn_place() -> types.ModuleType:
    place = _Place("_nn")
    found = vars(hotaru.ops)
    vars(place).update({n: found[n] for n in IN_NN if n in found})
    place.flatten_dense_tensors = lent("flatten_dense_tensors")
    place.unflatten_dense_tensors = lent("unflatten_dense_tensors")
    place.__getattr__ = _of_onednn
    place._parse_to = lambda *args, **kwargs: lent("parse_to")(args, kwargs)
    return place


def _of_onednn(name: str):
    if name.startswith("mkldnn_"):
        return getattr(lent("onednn_functions"), name)
    raise no_attribute(f"{_C.__name__}._nn", name)


def place(name: str) -> types.ModuleType:
    """`torch._C._nn`, `torch._C._fft` and its like, and `torch._C._sparse`:
    operators, or what stands for them, by the operators' names.
    """
    if name == "nn":
        return _nn_place()
    made = _Place(f"_{name}")
    public = getattr(hotaru, name)
    if name == "sparse":
        names = {f"_sparse_{n}": getattr(public, n) for n in _SPARSE}
        names["sparse_sampled_addmm"] = public.sampled_addmm
    else:
        offered = {n: getattr(public, n) for n in public.__all__}
        names = {f"{name}_{n}": f for n, f in offered.items()}
        names |= {n: f for n, f in vars(hotaru.ops).items() if n.startswith(name)}
    vars(made).update(names)
    return made


def reduced(operator) -> tuple:
    """Returns what a pickle says of an operator: where PyTorch finds it, too,
    if that has it.
    """
    name, method = operator.__name__, operator.__reduce__()[1][1]
    if method:
        return getattr, (_C.Tensor, name)
    prefix = "nn" if name in IN_NN else name.partition("_")[0]
    if prefix in ("nn", *PREFIXED):
        return getattr, (getattr(_C, f"_{prefix}"), name)
    if getattr(hotaru, name, None) is operator:
        return getattr, (_VariableFunctionsClass, name)
    return operator.__reduce__()
