"""From and to the layout `_mkldnn`, and tensors that are made in it."""

from __future__ import annotations

import hotaru

from .. import _C
from .._answering.names import words
from .._answering.table import answers
from .._C import Tensor
from .kind import HANDLERS, elsewhere, no_format, refused
from .tensor import around, is_onednn, plain, with_dense

_FLOATS = (_C.float32, _C.bfloat16, _C.float16)
_KEPT = (*_FLOATS, _C.uint8, _C.int8)
_NAMES = "float, bfloat16, half, uint8, int8"
_MOST_DIMS = 5


def to_mkldnn(tensor: Tensor, dtype=None) -> Tensor:
    """A copy of the tensor in the layout of oneDNN.

    Args:
        dtype: of the result; float32, bfloat16, float16, uint8 or int8.
    """
    if is_onednn(tensor):
        raise refused("to_mkldnn")
    if tensor.layout is not _C.strided:
        raise NotImplementedError(
            "Could not run 'aten::to_mkldnn' with arguments from the "
            f"'Sparse{tensor.device.type.upper()}' backend."
        )
    if tensor.device.type != "cpu":
        raise NotImplementedError(
            f"aten::to_mkldnn: not for tensors on the device {tensor.device}"
        )
    if tensor.dtype not in _KEPT:
        raise RuntimeError(f"dense_to_mkldnn expects {_NAMES} tensor input")
    if tensor.dim() > _MOST_DIMS:
        raise RuntimeError(
            f"Can't convert cpu tensor with the number of dimensions > {_MOST_DIMS}"
        )
    if dtype is not None and dtype not in _KEPT:
        raise RuntimeError(
            f"cpu tensor only can be converted to be a {_NAMES} mkldnn tensor"
        )
    wanted = tensor.dtype if dtype is None else dtype
    copied = tensor.to(wanted, copy=True, memory_format=_C.contiguous_format)
    return _named(around(copied), "to_mkldnn")


def _named(made: Tensor, name: str) -> Tensor:
    if not made.is_leaf:
        made.made_by = name
    return made


@answers("to_dense", "_to_dense", of=HANDLERS)
def to_dense(x: Tensor, dtype=None, *, masked_grad=None) -> Tensor:
    """A copy as a strided tensor, of its dtype or another."""
    if dtype is not None and dtype not in _KEPT:
        name = Tensor.type(_C.ops.empty(0, dtype=dtype)).split(".")[-1][:-6]
        raise RuntimeError(f"Unsupported dtype for ideep public tensor: {name}")
    wanted = x.dtype if dtype is None else dtype
    return plain(x).to(wanted, copy=True)


def _made(maker: str):
    function = getattr(_C.ops, maker)

    def make(*size, **options) -> Tensor:
        del options["layout"]
        if options.pop("memory_format", None) not in (None, _C.contiguous_format):
            raise no_format()
        if options.get("dtype") is None:
            options["dtype"] = hotaru.get_default_dtype()
        place = hotaru.device(options.get("device") or hotaru.get_default_device())
        if place.type != "cpu":
            raise elsewhere(place.type)
        if options["dtype"] not in (*_KEPT, _C.int32):
            raise RuntimeError("get_mkldnn_dtype: unsupported data type")
        options.pop("pin_memory", None)
        wanted = options.pop("requires_grad", False)
        return with_dense(function(*size, **options)).requires_grad_(wanted)

    return make


def _by_layout(maker: str):
    """The factory, and its form for a tensor of the layout."""
    make = _made(maker)

    def answer(*args, **kwargs) -> Tensor:
        if args and is_onednn(args[0]):
            raise refused(maker)
        return make(*args, **kwargs)

    return answer


for _name in ("empty", "zeros"):
    answers(_name, of=HANDLERS)(_by_layout(_name))


def _new(maker: str):
    make = _made(maker)

    def answer(x: Tensor, *size, **options) -> Tensor:
        if options.get("layout") not in (None, _C._mkldnn):
            del options["layout"]
            return getattr(plain(x), f"new_{maker}")(*size, **options)
        for name in ("dtype", "device"):
            if options.get(name) is None:
                options[name] = getattr(x, name)
        return make(*size, **{**options, "layout": _C._mkldnn})

    return answer


for _name in ("empty", "zeros"):
    answers(f"new_{_name}", of=HANDLERS)(_new(_name))


@answers("new_tensor", of=HANDLERS)
def _new_tensor(x: Tensor, data, **options) -> Tensor:
    return plain(x).new_tensor(data, **options)


@answers("new", "_new", of=HANDLERS)
def _legacy_new(x: Tensor, *args, **kwargs):
    raise RuntimeError(
        "new(): expected key in DispatchKeySet(CPU, CUDA, HIP, XLA, MPS, IPU, "
        "XPU, HPU, Lazy, PrivateUse1, Meta) but got: MkldnnCPU"
    )


_LIKE = words("empty_like zeros_like ones_like rand_like randn_like full_like")


@answers(*_LIKE, of=HANDLERS, asked=True)
def _like(function, x: Tensor, *args, **kwargs) -> Tensor:
    if kwargs.get("layout") is not _C.strided or not is_onednn(x):
        raise refused("empty_strided")
    return function(x._dense, *args, **kwargs)


@answers("type", "_type", of=HANDLERS)
def _type(x: Tensor, *args, **kwargs):
    if not args and not kwargs:
        raise RuntimeError("Unimplemented backend MkldnnCPU")
    return plain_type(x, *args, **kwargs)


def plain_type(x: Tensor, dtype=None, non_blocking=False, **kwargs) -> Tensor:
    """The tensor itself, if it is of that type."""
    if x._dense.type(dtype, non_blocking, **kwargs).dtype is not x.dtype:
        raise refused("empty_strided")
    return x


@answers("__bool__", "is_nonzero", "item", of=HANDLERS, asked=True)
def _item(function, x: Tensor):
    if x.numel() != 1:
        function(plain(x))  # refuses as it refuses strided ones
    raise refused("_local_scalar_dense")


@answers("numpy", "__array__", of=HANDLERS)
def _numpy(x: Tensor, *args, **kwargs):
    raise TypeError(
        "can't convert Mkldnn layout tensor to numpy. Use Tensor.to_dense() first."
    )
