"""Methods of Tensor that are plain Python."""

from __future__ import annotations

import copy as _copy
from types import FunctionType

from .. import _C, _overrides, functional
from .._C import Tensor
from .._grad_mode import no_grad
from . import (
    hook_table as _hook_table,
)
from . import (
    memory as _tensor_memory,
)
from . import (
    sparse_names as _sparse_names,
)
from .attributes import (
    SWAPPED,
    attributes_of,
    object_state,
    set_object_state,
    slot_values,
)

_CASTS = {
    "float": _C.float32,
    "double": _C.float64,
    "half": _C.float16,
    "bfloat16": _C.bfloat16,
    "int": _C.int32,
    "long": _C.int64,
    "short": _C.int16,
    "char": _C.int8,
    "byte": _C.uint8,
    "bool": _C.bool,
    "chalf": _C.complex32,
    "cfloat": _C.complex64,
    "cdouble": _C.complex128,
}

# In-place forms of operators without one of their own: the result is copied
# back.
_IN_PLACE = """
    absolute addbmm addmv addr cumprod logit
    nan_to_num negative renorm sgn square tril triu
""".split()  # noqa: SIM905

# In-place forms of second names.
_ALIASES = {
    "arctan2_": "atan2_", "divide_": "div_", "greater_": "gt_",
    "greater_equal_": "ge_", "less_": "lt_", "less_equal_": "le_",
    "multiply_": "mul_", "not_equal_": "ne_", "subtract_": "sub_",
}  # fmt: skip


def _cdata(self) -> int:
    """A number that names what the object stands for: as long as it lives its
    address, until `swap_tensors` makes it stand for something else.
    """
    return self.__dict__.get(SWAPPED, id(self))


def _cast(dtype):
    def cast(self, memory_format=None):
        return self.to(dtype)

    cast.__doc__ = f"self.to({dtype})"
    return cast


def _scalar_type(tensor) -> str:
    from .._extension.dtypes import type_string

    return type_string(tensor).split(".")[-1][: -len("Tensor")]


def _renamed(method, name: str):
    """A method that knows the name it is offered by."""
    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    return method


def _in_place(name):
    function = getattr(_C.ops, name, None)
    if function is None:
        return None

    def run(self, *args, **kwargs):
        # The gradient may need what is overwritten.
        needed = self.requires_grad or any(
            isinstance(a, Tensor) and a.requires_grad
            for a in (*args, *kwargs.values())
        )
        source = self.clone() if needed else self
        result = function(source, *args, **kwargs)
        if not _C.can_cast(result.dtype, self.dtype):
            raise RuntimeError(
                f"result type {_scalar_type(result)} can't be cast to the "
                f"desired output type {_scalar_type(self)}"
            )
        return self.copy_(result)

    run.__name__ = f"{name}_"
    run.__qualname__ = f"Tensor.{name}_"
    run.__doc__ = f"{name} in place."
    return run


def __repr__(self, *, tensor_contents=None) -> str:
    if type(self) is not Tensor:
        from .subclass_text import text_of, wrapper_text

        if _C._dispatches(self):
            return wrapper_text(self, tensor_contents)
        return text_of(self)
    return _C._tensor_repr(self)


def __format__(self, spec: str) -> str:
    if self.dim() == 0 and type(self) is Tensor:
        return self.item().__format__(spec)
    return object.__format__(self, spec)


def __contains__(self, element) -> bool:
    if isinstance(element, (Tensor, int, float, complex, bool)):
        return bool((element == self).any().item())
    raise RuntimeError(
        "Tensor.__contains__ only supports Tensor or scalar, "
        f"but you passed in a {type(element)}."
    )


def _copy_with_memory(tensor, memo):
    """A copy that shares memory with the copies of what shares tensor's."""
    whole = _C._whole_storage(tensor)
    if whole.numel() == 0:
        return tensor.clone()
    copies = memo.setdefault("hotaru", {})
    key = tensor._storage_ptr()
    if key not in copies:
        copies[key] = whole.clone()
    return _C._over_storage(tensor, copies[key])


def __deepcopy__(self, memo):
    if _C._overridden(self):
        return _C._handle_torch_function(
            Tensor.__deepcopy__, (self,), (self, memo), {}
        )
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) "
            "support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because "
            "of a torch.nn.utils."
            "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
        )
    if _C._dispatches(self):
        from .._dispatch import wrappers

        copy = wrappers.copied(self)
    else:
        with no_grad():
            copy = _copy_with_memory(self.detach(), memo)
        if type(self) is not Tensor:
            copy = _C._make_subclass(type(self), copy)
    copy.requires_grad = self.requires_grad
    if self.grad is not None:
        copy.grad = __deepcopy__(self.grad, memo)
    if self.__dict__:
        for name, value in attributes_of(self).items():
            setattr(copy, name, _copy.deepcopy(value, memo))
    if type(self) is not Tensor:
        for name, value in slot_values(self).items():
            setattr(copy, name, _copy.deepcopy(value, memo))
    memo[id(self)] = copy
    return copy


def _rebuild(cls, data, dtype, shape, requires_grad, device="cpu"):
    if data:
        tensor = _C.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
    else:
        tensor = _C.ops.empty(shape, dtype=dtype)
    if device != "cpu":
        tensor = tensor.to(device)
    if cls is not Tensor:
        return _C._make_subclass(cls, tensor, requires_grad)
    tensor.requires_grad = requires_grad
    return tensor


def _rebuild_from_type_v2(function, cls, args, state):
    """What pickles of a subclass in files of `torch.save` refer to: a tensor
    of `function(*args)` as `cls`, with attributes.
    """
    made = function(*args)
    if type(made) is not cls:
        made = _C._make_subclass(cls, made.detach(), made.requires_grad)
    return set_object_state(made, state)


def _rebuild_meta(cls, dtype, shape, stride, requires_grad):
    tensor = _C.ops.empty_strided(shape, stride, dtype=dtype, device="meta")
    return _C._make_subclass(cls, tensor, requires_grad)


def __reduce_ex__(self, protocol):
    state = object_state(self)
    more = (state,) if state else ()
    kind, shape, grad = type(self), tuple(self.shape), self.requires_grad
    if self.is_meta:
        args = (kind, self.dtype, shape, self.stride(), grad)
        return _rebuild_meta, args, *more
    data = _C._tensor_bytes(self.detach().cpu().contiguous())
    args = (kind, data, self.dtype, shape, grad, str(self.device))
    return _rebuild, args, *more


def __complex__(self) -> complex:
    """The number of a tensor of one element; ValueError for another."""
    if self.numel() != 1:
        raise ValueError(
            "only one element tensors can be converted to Python scalars"
        )
    return complex(self.item())


def __array__(self, dtype=None, copy=None):
    array = self.numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def __array_wrap__(self, array, context=None, return_scalar=False):
    """What numpy computes of a tensor is a tensor, if one can hold it; truth
    values are bytes there.
    """
    if array.dtype == bool:
        array = array.astype("uint8")
    try:
        return _C.from_numpy(array)
    except TypeError:
        return array


def numpy(self, *, force: bool = False):
    """A numpy array over the same memory.

    TypeError for another device's tensor and for dtypes that numpy does not
    have, RuntimeError for one that requires grad, unless `force`.
    """
    import numpy

    source = _C._numpy_source(self, force)
    try:
        return numpy.asarray(memoryview(source))
    except BufferError as error:
        if str(error).startswith("Got unsupported ScalarType"):
            raise TypeError(str(error)) from None
        raise


def __dlpack__(self, **options):
    """A capsule of DLPack; see `_interchange.dlpack`."""
    from .interchange import dlpack

    return dlpack(self, **options)


def __dlpack_device__(self) -> tuple[int, int]:
    """(device type, index) in DLPack's numbers."""
    from .interchange import dlpack_device

    return dlpack_device(self)


def _cuda_array_interface(self) -> dict:
    from .interchange import cuda_array_interface

    return cuda_array_interface(self)


def backward(
    self, gradient=None, retain_graph=None, create_graph=False, inputs=None
):
    """Adds the gradients of this tensor to the `.grad` of its graph's leaves.

    A tensor of more than one element needs `gradient`, of its shape.
    """
    from ..autograd import backward

    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def requires_grad_(self, requires_grad: bool = True):
    """Sets requires_grad; returns self."""
    self.requires_grad = requires_grad
    return self


def register_hook(self, hook):
    """Calls hook(grad) when the gradient is computed; it may return another."""
    return _C._register_hook(self, hook)


def register_post_accumulate_grad_hook(self, hook):
    """Calls hook(tensor) after a leaf's gradient was accumulated."""
    return _C._register_post_accumulate_grad_hook(self, hook)


def retain_grad(self) -> None:
    """Makes backward() keep the gradient of a tensor that is no leaf."""
    _C._retain_grad(self)


def cuda(
    self,
    device=None,
    non_blocking: bool = False,
    memory_format=_C.preserve_format,
):
    """The tensor on a GPU: itself if it is there, or a copy.

    Args:
        device: by default the current one.
        non_blocking: not to wait for a copy from page-locked memory.
        memory_format: order of the copy's elements.

    Raises:
        RuntimeError: no such GPU, or a device of another kind.
    """
    device = _C.device("cuda" if device is None else device)
    if device.type != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    return self.to(
        device=device, non_blocking=non_blocking, memory_format=memory_format
    )


def record_stream(self, stream) -> None:
    """Needless: memory is used again only when all streams are done with it,
    as each tensor knows who uses it.
    """
    if not isinstance(stream, _C.Stream):
        raise TypeError(f"expected a Stream, but got {type(stream).__name__}")


def is_contiguous(self, memory_format=_C.contiguous_format) -> bool:
    """Whether the elements lie in the format's order without gaps."""
    if memory_format is _C.contiguous_format:
        return self._is_contiguous()
    return _C._has_format(self, memory_format)


def _type(self, dtype=None, non_blocking=False):
    """The legacy type string, or a cast."""
    from .._extension.dtypes import dtype_of_type, type_string

    if dtype is None:
        return type_string(self)
    return self.to(dtype_of_type(dtype))


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """tensor(data) with this tensor's dtype and device unless given."""
    return _C.tensor(
        data,
        dtype=self.dtype if dtype is None else dtype,
        device=self.device if device is None else device,
        requires_grad=requires_grad,
    )


def _check_pin_device(device) -> None:
    if device is not None and _C.device(device).type != "cuda":
        raise RuntimeError(
            f"memory is pinned for cuda devices, not for {device}"
        )


def is_pinned(self, device=None) -> bool:
    """Whether the values lie in page-locked memory, which GPUs copy from and
    to by themselves.
    """
    _check_pin_device(device)
    return _C._is_pinned(self)


def pin_memory(self, device=None):
    """The tensor in page-locked memory: itself if it is there, or a copy.

    Raises:
        RuntimeError: without a CUDA driver, or for a tensor of a GPU.
    """
    _check_pin_device(device)
    return _C._pin_memory(self)


def share_memory_(self):
    """Moves the values into memory that other processes can map; self."""
    from ..multiprocessing.reductions import share

    share(self)
    return self


def is_shared(self) -> bool:
    """Whether the values lie in memory that processes share."""
    return _C._SharedMemory.of(self) is not None


def get_device(self) -> int:
    """The accelerator's index; -1 for the CPU."""
    return -1 if self.device.index is None else self.device.index


def is_same_size(self, other) -> bool:
    return self.shape == other.shape


def is_conj(self) -> bool:
    """False: `conj` computes, so no tensor stands for conjugates."""
    return False


def is_neg(self) -> bool:
    """False: no tensor stands for the negatives of what is in memory."""
    return False


def apply_(self, function):
    """Replaces each element by function(element); slow.

    Raises:
        RuntimeError: the tensor requires a gradient.
        TypeError: a result is no number.
    """
    return _mapped("apply_", self, function)


def equal(self, other) -> bool:
    """Whether shapes and all elements are the same."""
    if not isinstance(other, Tensor):
        raise TypeError(
            "equal(): argument 'other' (position 1) must be Tensor, not "
            + type(other).__name__
        )
    if self.shape != other.shape:
        return False
    return bool((self == other).all()) if self.numel() else True


def module_load(self, other, assign: bool = False):
    """What takes this tensor's place in a module that loads `other`: neither of
    them. A subclass may override it; see
    `__future__.set_swap_module_params_on_conversion`.
    """
    return other.detach() if assign else self.copy_(other).detach()


_REAL = "The real part, a view; a real tensor itself."
_IMAG = "The imaginary part of a complex tensor, a view."


def _set_part(part):
    def set_part(self, value):
        target = part(self)
        target.copy_(value if isinstance(value, Tensor) else _C.tensor(value))

    return set_part


def _is_view(self) -> bool:
    """Whether autograd knows it as a view of another tensor."""
    return self._base is not None


def sparse_dim(self) -> int:
    """How many dimensions are sparse: none."""
    return 0


def dense_dim(self) -> int:
    """How many dimensions are dense: all."""
    return self.dim()


def is_nonzero(self) -> bool:
    """The truth of a tensor of one element."""
    return bool(self)


def dim_order(self, *, ambiguity_check=False) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost.

    Args:
        ambiguity_check: refuse a tensor for which other orders would do, too;
            of a list of memory formats, one that lies in several of them.

    Raises:
        RuntimeError: the order is ambiguous, and that was asked for.
        TypeError: `ambiguity_check` is neither a bool nor such a list.
    """
    formats = ambiguity_check
    if isinstance(formats, bool):
        stride, size = self.stride(), self.shape
        known = [s for s, n in zip(stride, size, strict=True) if n != 1]
        clear = not formats or (
            len(known) == len(size) and len(set(known)) == len(known)
        )
    elif isinstance(formats, list) and all(
        isinstance(f, _C.memory_format) for f in formats
    ):
        clear = sum(self.is_contiguous(memory_format=f) for f in formats) == 1
    else:
        raise TypeError(
            "The ambiguity_check argument must be a bool or a list of memory "
            "formats."
        )
    if not clear:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to "
            "exact one of the given memory formats."
        )
    if self.numel() == 0:
        return tuple(range(self.dim()))
    stride = self.stride()
    return tuple(sorted(range(self.dim()), key=lambda d: -stride[d]))


def fill_diagonal_(self, fill_value, wrap: bool = False):
    """Writes a number onto the diagonal; returns self.

    Args:
        wrap: of a tall matrix, go on below with a row between.

    Raises:
        RuntimeError: less than two dimensions, or more of unequal sizes.
    """
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step = sum(self.stride())
    height, width = self.shape[0], self.shape[1]
    size = min(self.shape)
    self.as_strided((size,), (step,), self.storage_offset()).fill_(fill_value)
    if wrap and self.dim() == 2 and height > width + 1:
        below = self[width + 1 :]
        below.fill_diagonal_(fill_value, wrap=True)
    return self


def map_(self, other, function):
    """Replaces each element by function(element, other's); slow. Errors as
    `apply_`, of each of the tensors.
    """
    return _mapped("map_", self, function, other)


def map2_(self, x, y, function):
    """Replaces each element by function(element, x's, y's); slow. Errors as
    `apply_`, of each of the tensors.
    """
    return _mapped("map2_", self, function, x, y)


def _mapped(name, self, function, *others):
    tensors = (self, *others)
    if any(t.requires_grad for t in tensors):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use "
            f"var.detach().{name}() instead."
        )
    lists = [t.expand_as(self).reshape(-1).tolist() for t in tensors]
    made = [function(*values) for values in zip(*lists, strict=True)]
    whole = not (self.is_floating_point() or self.is_complex())
    for value in made:
        if isinstance(value, (str, bytes, list, tuple, dict, type(None))):
            kind = type(value).__name__
            raise TypeError(
                f"'{kind}' object cannot be interpreted as an integer"
                if whole
                else f"must be real number, not {kind}"
            )
    return self.copy_(_C.tensor(made, dtype=self.dtype).reshape(self.shape))


_METHODS = (
    _is_view, dense_dim, sparse_dim, fill_diagonal_, is_nonzero, dim_order,
    map_, map2_, __repr__, __format__, __contains__, __deepcopy__,
    __reduce_ex__, __complex__,
    __array__, __array_wrap__, __dlpack__, __dlpack_device__, numpy, backward,
    requires_grad_, register_hook, register_post_accumulate_grad_hook,
    retain_grad, cuda, record_stream, is_contiguous, new_tensor, is_pinned,
    pin_memory, share_memory_, is_shared, get_device, is_same_size, apply_,
    is_conj, is_neg,
    equal, module_load,
)  # fmt: skip


def _rdiv(self, other):
    """A number by a tensor."""
    return self.reciprocal() * other


def _adjoint_of_matrix(self):
    """The conjugate of the transpose, of a matrix or a number."""
    if self.dim() not in (0, 2):
        batches = " For batches of matrices, consider using tensor.mH"
        raise RuntimeError(
            "tensor.H is only supported on matrices (2-D tensors). "
            f"Got {self.dim()}-D tensor.{batches if self.dim() > 2 else ''}"
        )
    return _C.ops.adjoint(self)


def _kept(name: str, get, put=None):
    """An attribute that can be read, and not deleted."""

    def delete(self):
        raise RuntimeError(f"{name}: cannot delete this attribute")

    return property(get, put, delete, get.__doc__)


def _node(self):
    """The node that made it, as `grad_fn`."""
    return self.grad_fn


# Kinds of tensors and of devices that there are none of.
_NEVER = (
    "is_ipu", "is_maia", "is_mkldnn", "is_mps", "is_mtia", "is_nested",
    "is_sparse_csr", "is_vulkan", "is_xla", "is_xpu",
)  # fmt: skip


def _false(self) -> bool:
    return False


def _names(self) -> list[str]:
    """What can be asked for: CUDA's interface only where there is one."""
    names = set(object.__dir__(self))
    if not self.is_cuda:
        names.discard("__cuda_array_interface__")
    return sorted(names)


def _adjoint_of_matrices(self):
    """The conjugate of the transpose, of each matrix of a batch."""
    if self.dim() == 1:
        raise RuntimeError(
            "tensor.mH is only supported on matrices or batches of matrices. "
            "Got 1-D tensor."
        )
    return _C.ops.adjoint(self)


def _make_wrapper_subclass(cls, *args, **kwargs):
    """A tensor of the class without memory (`_dispatch.wrappers.make`)."""
    from .._dispatch import wrappers

    return wrappers.make(cls, *args, **kwargs)


def install() -> None:
    """Attaches everything above to Tensor."""
    for method in _METHODS:
        setattr(Tensor, method.__name__, method)
    Tensor._make_subclass = staticmethod(_C._make_subclass)
    Tensor._make_wrapper_subclass = staticmethod(_make_wrapper_subclass)
    Tensor.type = _type
    Tensor.real = property(_C.ops.real, _set_part(_C.ops.real), doc=_REAL)
    Tensor.imag = property(_C.ops.imag, _set_part(_C.ops.imag), doc=_IMAG)
    Tensor._cdata = property(_cdata)
    for name in _NEVER:
        setattr(Tensor, name, property(_false))
    Tensor._backward_hooks = _kept(
        "_backward_hooks", _hook_table.get, _hook_table.put
    )
    Tensor._grad_fn = _kept("_grad_fn", _node)
    Tensor.H = property(_adjoint_of_matrix)
    Tensor.mH = property(_adjoint_of_matrices)
    Tensor.__rdiv__ = _rdiv
    # Python 2's names, which PyTorch still has.
    Tensor.__div__ = Tensor.__truediv__
    Tensor.__idiv__ = Tensor.__itruediv__
    Tensor.layout = property(lambda self: _C.strided)
    Tensor.stft = functional.stft
    Tensor.__array_priority__ = 1000
    Tensor.__dir__ = _names
    Tensor.__cuda_array_interface__ = property(_cuda_array_interface)
    _tensor_memory.install()
    for name, dtype in _CASTS.items():
        setattr(Tensor, name, _renamed(_cast(dtype), name))
    for name, other in _ALIASES.items():
        if not hasattr(Tensor, name):
            setattr(Tensor, name, getattr(Tensor, other))
    for name in _IN_PLACE:
        method = _renamed(_in_place(name), name + "_")
        if method is not None and not hasattr(Tensor, name + "_"):
            setattr(Tensor, name + "_", method)


_UNSEEN = {"__torch_function__", "__reduce_ex__", "__deepcopy__"}


def _let_override() -> None:
    """Lets the protocol see calls of the methods that are written in Python."""
    for name, method in list(vars(Tensor).items()):
        if type(method) is FunctionType and name not in _UNSEEN:
            setattr(Tensor, name, _C._overridable(method))
    Tensor.__torch_function__ = _overrides.default
    Tensor.__init_subclass__ = classmethod(_overrides.init_subclass)
    Tensor.as_subclass = _overrides.as_subclass


install()
_sparse_names.install()
_let_override()
