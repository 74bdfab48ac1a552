"""Functions of the top level that are plain Python."""

from __future__ import annotations

import math as _math
import warnings as _warnings

from .. import _C
from .._C import Tensor, ops
from .._extension.size import Size
from .._late import lent
from .._overrides import has_torch_function as _has_torch_function
from .._overrides import overridable as _overridable
from ..backends import opt_einsum as _opt_einsum

__all__ = [
    "_assert",
    "as_tensor",
    "broadcast_shapes",
    "broadcast_tensors",
    "chain_matmul",
    "e",
    "einsum",
    "from_dlpack",
    "get_device",
    "get_printoptions",
    "inf",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "is_tensor",
    "meshgrid",
    "nan",
    "newaxis",
    "numel",
    "pi",
    "set_anomaly_enabled",
    "set_printoptions",
    "tensordot",
    "typename",
]

pi = _math.pi
e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None


def is_tensor(obj) -> bool:
    """True if the object is a tensor."""
    return isinstance(obj, Tensor)


def is_inference(input: Tensor) -> bool:
    """True if the tensor was made in inference mode."""
    return input.is_inference()


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Turns autograd's anomaly mode on or off, for all threads."""
    _C._set_anomaly(mode, check_nan)


def is_floating_point(input: Tensor) -> bool:
    """True if the dtype is a floating-point type."""
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """True if the dtype is complex."""
    return input.is_complex()


def is_signed(input: Tensor) -> bool:
    """True if the dtype has negative numbers."""
    return input.is_signed()


def is_conj(input: Tensor) -> bool:
    """Tells whether the values are conjugates of those in memory: never."""
    return input.is_conj()


def is_neg(input: Tensor) -> bool:
    """Tells whether the values are negatives of those in memory: never."""
    return input.is_neg()


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """True if two tensors have one shape."""
    return input.is_same_size(other)


def get_device(input: Tensor) -> int:
    """The index of the tensor's accelerator; -1 for the CPU."""
    return input.get_device()


def is_storage(obj) -> bool:
    """True if the object is a storage, with a dtype or without."""
    from ..storage import TypedStorage, UntypedStorage

    return isinstance(obj, (UntypedStorage, TypedStorage))


def is_nonzero(input: Tensor) -> bool:
    """The truth of a tensor of one element."""
    return bool(input)


def numel(input: Tensor) -> int:
    """Number of elements."""
    return input.numel()


def tensordot(a: Tensor, b: Tensor, dims=2, out=None) -> Tensor:
    """Sums products over pairs of dimensions.

    `dims` is a number n (the last n of `a` with the first n of `b`) or the two
    lists of dimensions. Raises RuntimeError when their sizes differ.
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got {dims=}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(
                "tensordot expects dims < ndim_a or ndim_b, but got "
                f"{dims=} ndim_a={a.dim()} ndim_b={b.dim()}"
            )
        dims = (list(range(-dims, 0)), list(range(dims)))
    first, second = dims
    into = {} if out is None else {"out": out}
    return ops.tensordot(a, b, list(first), list(second), **into)


def typename(obj) -> str:
    """The type's name as PyTorch writes it."""
    if isinstance(obj, Tensor):
        return obj.type()
    if isinstance(obj, (_C.Op, _C.Function)):
        name = lent("qualified_name")(obj)
        place, _, short = name.rpartition(".")
        plain = place == "torch" and isinstance(obj, _C.Op)
        return f"torch._VariableFunctionsClass.{short}" if plain else name
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None)
    if module in (None, "", "builtins"):
        return named.__qualname__
    return f"{module}.{named.__qualname__}"


def as_tensor(data, dtype=None, device=None) -> Tensor:
    """A tensor over the data's memory where possible, else a copy."""
    if isinstance(data, Tensor):
        device = device or _C._chosen_device() or data.device
        return data.to(dtype=dtype or data.dtype, device=device)
    if hasattr(data, "__cuda_array_interface__"):
        from .interchange import from_cuda_array

        shared = from_cuda_array(data)
        return shared.to(dtype=dtype or shared.dtype, device=device)
    # Numpy's scalars, whose memory is nobody's to share, have no `ctypes`.
    if hasattr(data, "__array_interface__") and hasattr(data, "ctypes"):
        shared = _C.from_numpy(data)
        device = _C.get_default_device() if device is None else device
        return shared.to(dtype=dtype or shared.dtype, device=device)
    if hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
        shared = from_dlpack(data)
        return shared.to(dtype=dtype or shared.dtype, device=device)
    return _C.tensor(data, dtype=dtype, device=device)


_NO_CAPSULE = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can "
    "be consumed only once, so you might have already constructed a tensor "
    "from it once."
)


def from_dlpack(ext_tensor, *, device=None, copy=None) -> Tensor:
    """A tensor over the memory of an array with the DLPack protocol.

    Args:
        ext_tensor: the array, or a capsule that it gave.
        device: where the array is; None for there.
        copy: True for memory of its own.

    Raises:
        BufferError: the array cannot be shared, or its dtype.
        RuntimeError: no array, or a capsule that was used.
    """
    capsule = ext_tensor
    if hasattr(ext_tensor, "__dlpack__"):
        options = _stream_for(ext_tensor)
        try:
            capsule = ext_tensor.__dlpack__(max_version=(1, 0), **options)
        except TypeError:  # a producer that is older than versions
            capsule = ext_tensor.__dlpack__(**options)
    if type(capsule).__name__ != "PyCapsule":
        raise RuntimeError(_NO_CAPSULE)
    try:
        shared = _C._from_dlpack(capsule)
    except TypeError:
        raise RuntimeError(_NO_CAPSULE) from None
    if device is not None and shared.to(device) is not shared:
        raise BufferError(
            f"from_dlpack: the array is on {shared.device}, not on {device}"
        )
    return shared.clone() if copy else shared


def _stream_for(array) -> dict:
    """Tells a producer of the stream that will use its memory."""
    kind, index = getattr(array, "__dlpack_device__", lambda: (1, 0))()
    if kind != 2:
        return {}
    stream = _C._current_stream(_C.device("cuda", index))
    return {"stream": _C._cuda_stream_handle(stream) or 1}


def einsum(*args) -> Tensor:
    """Sums of products in Einstein's notation.

    Takes an equation and operands, or each operand before the list of its
    subscripts, perhaps with the result's list behind them; these are numbers
    below 52 and `...`. ValueError for a number that is none of them.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one "
            "operand, or at least one operand and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        args = _with_equation(args)
    equation, *operands = args
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    operands = list(operands)
    # A subclass's function sees the call as it was written.
    if len(operands) > 2 and not _has_torch_function(operands):
        steps = _opt_einsum.products(equation, operands)
        for places, product in steps or ():
            taken = [operands.pop(place) for place in places]
            operands.append(ops.einsum(product, taken))
        if steps:
            return operands[0]
    return ops.einsum(equation, operands)


def _subscript(number) -> str:
    if number is Ellipsis:
        return "..."
    if number >= 0 and number < 26:
        return chr(ord("A") + number)
    if number >= 26 and number < 52:
        return chr(ord("a") + number - 26)
    raise ValueError(
        "einsum(): subscript in subscript list is not within the valid range [0, 52)"
    )


def _with_equation(args) -> tuple:
    """The equation, then the operands, of operands and lists of subscripts."""

    def term(subscripts) -> str:
        return "".join(_subscript(s) for s in subscripts)

    equation = ",".join(term(s) for s in args[1::2])
    if len(args) % 2:
        equation += "->" + term(args[-1])
        args = args[:-1]
    return equation, *args[::2]


def _tensors(tensors):
    """f(a, b) may be written f([a, b])."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return list(tensors[0])
    return list(tensors)


def chain_matmul(*matrices, out: Tensor | None = None) -> Tensor:
    """The product of matrices."""
    return ops.chain_matmul(_tensors(matrices), out=out)


def broadcast_tensors(*tensors) -> tuple:
    """The tensors as views of the shape that they broadcast to."""
    return ops.broadcast_tensors(_tensors(tensors))


_given: set[str] = set()


def _warn_once(text: str, stacklevel: int = 2) -> None:
    """A UserWarning, unless it was given and `set_warn_always` is off."""
    if text in _given and not _C.is_warn_always_enabled():
        return
    _given.add(text)
    _warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)


def meshgrid(*tensors, indexing: str | None = None):
    """Grids of coordinates from vectors, indexed "ij" or "xy"."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    if indexing is None:
        _warn_once(
            "torch.meshgrid: in an upcoming release, it will be required to "
            "pass the indexing argument."
        )
        indexing = "ij"
    return ops.meshgrid(list(tensors), indexing=indexing)


def broadcast_shapes(*shapes):
    """The shape that all of these broadcast to."""
    empties = [ops.empty([]).expand(_sizes(shape)) for shape in shapes]
    return ops.broadcast_tensors(empties)[0].shape if empties else Size(())


def _sizes(shape):
    return [shape] if isinstance(shape, int) else list(shape)


def set_printoptions(
    precision=None,
    threshold=None,
    edgeitems=None,
    linewidth=None,
    profile=None,
    sci_mode=None,
) -> None:
    """How tensors print; `profile` is "default", "short" or "full"."""
    options = _C._get_print_options()
    if profile is not None:
        options = _C._PrintOptions.profile(profile)
    for name, value in (
        ("precision", precision),
        ("threshold", threshold),
        ("edgeitems", edgeitems),
        ("linewidth", linewidth),
    ):
        if value is not None:
            setattr(options, name, value)
    options.sci_mode = sci_mode
    _C._set_print_options(options)


def get_printoptions() -> dict:
    """The options as a dictionary."""
    options = _C._get_print_options()
    names = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
    return {name: getattr(options, name) for name in names}


def _assert(condition, message) -> None:
    """`assert condition, message` as a function, which traces record."""
    assert condition, message


# Questions that are answered, and what is no operator, see no protocol.
_PLAIN = {
    "as_tensor",
    "broadcast_shapes",
    "is_storage",
    "is_tensor",
    "set_anomaly_enabled",
    "set_printoptions",
    "typename",
}
_overridable(globals(), [n for n in __all__ if n not in _PLAIN], "hotaru")
