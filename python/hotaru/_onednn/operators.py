"""Elementwise operators and copies of tensors of the layout `_mkldnn`."""

from __future__ import annotations

from .. import _C
from .._answering.names import base_name, out_of_place, words, writes
from .._answering.table import answers
from .._C import Tensor
from .._tensor.refusals import check_written
from .._tensor.sparse_names import layout_name
from .kind import HANDLERS, NOT_ONEDNN, elsewhere, refused
from .tensor import ONEDNN, around, dense_of, is_onednn, plain, with_dense, write


@answers("relu", "sigmoid", "tanh", of=HANDLERS, every_form=True)
def _unary(function, x, inplace=False):
    name = function.__name__
    if inplace or writes(name):
        return _in_place(out_of_place(name), x)
    return around(function(plain(x)))


def _in_place(function, x, *args, **kwargs):
    if _C.is_grad_enabled():
        check_written(x)
    if x.requires_grad and _C.is_grad_enabled():
        # Values that the derivative needs are about to be overwritten.
        return write(x, around(function(plain(x).clone(), *args, **kwargs)))
    x._dense.copy_(function(dense_of(x), *args, **kwargs))
    return x


@answers("gelu", of=HANDLERS)
def _gelu(x, approximate="none"):
    if approximate != "none":
        raise RuntimeError("mkldnn_gelu: fast, approximate gelu is not supported")
    return around(_C.ops.gelu(plain(x)))


@answers("add", of=HANDLERS, every_form=True)
def _add(function, a, b, alpha=1):
    if writes(function.__name__) and _C.is_grad_enabled():
        check_written(a)
    _check_both(a, b)
    return _binary(function, a, b, alpha=alpha)


@answers("mul", of=HANDLERS, every_form=True)
def _mul(function, a, b):
    if not is_onednn(a) and not isinstance(a, Tensor):
        a, b = b, a
    single = isinstance(b, Tensor) and not is_onednn(b) and b.dim() == 0
    if is_onednn(a) and (single or not isinstance(b, Tensor)):
        if writes(function.__name__):
            return _in_place(_kept_dtype(_C.ops.mul), a, b)
        return around(_kept_dtype(_C.ops.mul)(plain(a), b))
    _check_both(a, b)
    return _binary(function, a, b)


def _kept_dtype(function):
    """The function with a result of the first operand's dtype."""
    return lambda x, *args, **kwargs: function(x, *args, **kwargs).to(x.dtype)


def _check_both(a, b) -> None:
    if not (is_onednn(a) and is_onednn(b)):
        raise RuntimeError(NOT_ONEDNN)


def _binary(function, a, b, **kwargs):
    name = base_name(function.__name__)
    if 0 in (a.numel(), b.numel()):
        if a.requires_grad or b.requires_grad:
            raise RuntimeError(
                "MKLDNN does not support Binary Ops with a 0-dimension Tensor "
                "in training"
            )
    elif a.shape != b.shape:
        if name == "mul":
            raise RuntimeError(
                "mkldnn_mul_out: currently mkldnn not support broadcasting"
            )
        raise RuntimeError(
            f"could not create a primitive descriptor for the sum primitive: {name} "
            f"of {tuple(a.shape)} and {tuple(b.shape)} does not broadcast in the "
            "layout of oneDNN"
        )
    compute = _kept_dtype(getattr(_C.ops, name))
    if writes(function.__name__):
        return _in_place(compute, a, plain(b), **kwargs)
    return around(compute(plain(a), plain(b), **kwargs))


@answers("zero_", of=HANDLERS)
def _zero(x):
    return write(x, with_dense(_C.ops.zeros_like(x._dense)))


@answers("copy_", of=HANDLERS)
def _copy(x, src, non_blocking=False):
    if not (is_onednn(x) and is_onednn(src)):
        raise RuntimeError(
            "copy_mkldnn_: between mkldnn layout and dense Tensors is not "
            f"implemented! Found self type = {_type_name(x)} and src type = "
            f"{_type_name(src)}"
        )
    if x.shape != src.shape:
        raise RuntimeError("copy_mkldnn_: only support same size tensor.")
    return write(x, around(plain(src).to(x.dtype)))


def _type_name(x) -> str:
    if is_onednn(x):
        return "Mkldnn" + x._dense.type()
    return x.type()


@answers("clone", of=HANDLERS)
def _clone(x, *, memory_format=_C.preserve_format):
    _check_format(memory_format)
    return around(plain(x).clone())


def _check_format(memory_format) -> None:
    if memory_format not in (_C.preserve_format, _C.contiguous_format):
        words = str(memory_format).rpartition(".")[2].split("_")
        name = "".join(word.title() for word in words)
        raise RuntimeError(f"unsupported memory format option {name}")


@answers("contiguous", of=HANDLERS)
def _contiguous(x, memory_format=_C.contiguous_format):
    _check_format(memory_format)
    return x


@answers("detach", "alias", of=HANDLERS)
def _detach(x):
    return with_dense(x._dense)


@answers("data", of=HANDLERS, asked=True)
def _data(accessor, x):
    return with_dense(x._dense)


@answers("_version", of=HANDLERS, asked=True)
def _version(accessor, x):
    return x._dense._version


@answers("grad", of=HANDLERS, asked=True)
def _gradients(function, *args, **kwargs):
    """Runs `autograd.grad`, which knows all layouts."""
    return ONEDNN.plain(function, *args, **kwargs)


@answers(".grad", "._grad", of=HANDLERS, asked=True)
def _grad(accessor, x, *value):
    """The gradient, which has the layout of the tensor."""
    if accessor.__name__ == "__set__" and not (value[0] is None or is_onednn(value[0])):
        raise RuntimeError(
            "attempting to assign a gradient to a tensor that has data of a "
            "different type"
        )
    return ONEDNN.plain(accessor, x, *value)


@answers("nbytes", of=HANDLERS, asked=True)
def _nbytes(accessor, x):
    return x.numel() * x.element_size()


@answers("real", of=HANDLERS, asked=True)
@answers(*words("conj conj_physical conj_physical_ positive"), of=HANDLERS, asked=True)
def _itself(function, x):
    return x


_OF_DTYPES = "float double half bfloat16 int long short char byte bool"


@answers(*words(_OF_DTYPES), of=HANDLERS, asked=True)
def _of_dtype(function, x, *args, **kwargs):
    wanted = function(x._dense[:0] if x.dim() else x._dense, *args, **kwargs).dtype
    if wanted is not x.dtype:
        raise refused("empty_strided")
    return x


@answers("to", "type_as", "cpu", of=HANDLERS, asked=True)
def _to(function, x, *args, **kwargs):
    """The tensor itself; others of its dtype and place do not exist."""
    if function.__name__ == "type_as" and not is_onednn(x):
        raise RuntimeError(
            "to(options) doesn't support converting to a different layout, but "
            f"got self.layout being {layout_name(x.layout)} and options.layout "
            "set as Mkldnn"
        )
    args = [dense_of(each) for each in args]
    kwargs = {name: dense_of(each) for name, each in kwargs.items()}
    if not is_onednn(x):
        return ONEDNN.plain(function, x, *args, **kwargs)
    before = dense_of(x)
    if kwargs.get("memory_format", _C.preserve_format) is _C.contiguous_format:
        del kwargs["memory_format"]
    made = function(before, *args, **kwargs)
    if made.device != x.device:
        raise elsewhere(made.device.type)
    if made is not before:
        raise refused("empty_strided")
    return x
