"""Methods of Tensor that are plain Python; `_tensor` names them."""

from __future__ import annotations

import warnings

import hotaru

# The package's `tensor`, as modes put their own there (_dispatch/lifted.py).
from .. import _C, tensor
from .._C import Tensor
from .attributes import SWAPPED
from .hook_table import noted


def _cdata(self) -> int:
    return self.__dict__.get(SWAPPED, id(self))


def __repr__(self, *, tensor_contents=None) -> str:
    if _C._answering_class(self) is not Tensor:
        from .subclass_text import text_of, wrapper_text

        if _C._dispatches(self):
            return wrapper_text(self, tensor_contents)
        return text_of(self)
    return _C._tensor_repr(self)


def __format__(self, spec: str) -> str:
    if self.dim() == 0 and _C._answering_class(self) is Tensor:
        return self.item().__format__(spec)
    return object.__format__(self, spec)


def __array__(self, dtype=None, copy=None):
    array = self.numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def __array_wrap__(self, array, context=None, return_scalar=False):
    """Makes what numpy computes of a tensor a tensor, if one can hold it;
    truth values are bytes there.
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


def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A capsule of DLPack; see `interchange.dlpack`."""
    from .._functions.interchange import dlpack

    return dlpack(
        self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
    )


def __dlpack_device__(self) -> tuple[int, int]:
    """(device type, index) in DLPack's numbers."""
    from .._functions.interchange import dlpack_device

    return dlpack_device(self)


def _cuda_array_interface(self) -> dict:
    from .._functions.interchange import cuda_array_interface

    return cuda_array_interface(self)


def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of this tensor to the `.grad` of its graph's leaves.

    A tensor of more than one element needs `gradient`, of its shape.
    """
    # By the attribute: an import statement would be a tenth of a small pass.
    hotaru.autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def requires_grad_(self, requires_grad: bool = True):
    """Sets requires_grad; returns self."""
    self.requires_grad = requires_grad
    return self


def register_hook(self, hook):
    """Calls hook(grad) when the gradient is computed; it may return another."""
    handle = _C._register_hook(self, hook)
    if self.is_leaf:
        # Graphs whose backward passes run it are to notice.
        _C._count_module_change()
    return noted(handle)


def register_post_accumulate_grad_hook(self, hook):
    """Calls hook(tensor) after a leaf's gradient was accumulated."""
    handle = _C._register_post_accumulate_grad_hook(self, hook)
    _C._count_module_change()  # as `register_hook`
    return noted(handle)


def retain_grad(self) -> None:
    """Makes backward() keep the gradient of a tensor that is no leaf."""
    # A capture hears the question, and tells leaves, which keep theirs anyway.
    if not self.retains_grad:
        _C._retain_grad(self)


def _type(self, dtype=None, non_blocking=False):
    """The legacy type string, or a cast."""
    from .._extension.dtypes import dtype_of_type, type_string

    if dtype is None:
        return type_string(self)
    return self.to(dtype_of_type(dtype))


_COPIED = (
    "To copy construct from a tensor, it is recommended to use "
    "sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than "
    "tensor.new_tensor(sourceTensor)."
)


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """tensor(data) with this tensor's dtype and device unless given."""
    dtype = self.dtype if dtype is None else dtype
    device = self.device if device is None else device
    if isinstance(data, Tensor):
        warnings.warn(_COPIED, stacklevel=2)
        copied = data.detach().to(device=device, dtype=dtype, copy=True)
        return copied.requires_grad_(requires_grad)
    return tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


def is_same_size(self, other) -> bool:
    return self.shape == other.shape


def is_conj(self) -> bool:
    """False: `conj` computes, so no tensor stands for conjugates."""
    return False


def is_neg(self) -> bool:
    """False: no tensor stands for the negatives of what is in memory."""
    return False


def module_load(self, other, assign: bool = False):
    """Returns what takes this tensor's place in a module that loads `other`:
    neither of them. A subclass may override it; see
    `__future__.set_swap_module_params_on_conversion`.
    """
    return other.detach() if assign else self.copy_(other).detach()


def _set_part(part):
    def set_part(self, value):
        target = part(self)
        target.copy_(value if isinstance(value, Tensor) else _C.tensor(value))

    return set_part


_set_real, _set_imag = _set_part(_C.ops.real), _set_part(_C.ops.imag)


def _is_view(self) -> bool:
    """True if autograd knows it as a view of another tensor."""
    return self._base is not None


def sparse_dim(self) -> int:
    """How many dimensions are sparse: none."""
    return 0


def _is_zerotensor(self) -> bool:
    """Tells whether it has no memory, as all elements are 0: there are none
    such.
    """
    return False


def dense_dim(self) -> int:
    """How many dimensions are dense: all."""
    return self.dim()


def _rdiv(self, other):
    """A number by a tensor."""
    return self.reciprocal() * other


def _adjoint_of_matrix(self):
    if self.dim() not in (0, 2):
        batches = " For batches of matrices, consider using tensor.mH"
        raise RuntimeError(
            "tensor.H is only supported on matrices (2-D tensors). "
            f"Got {self.dim()}-D tensor.{batches if self.dim() > 2 else ''}"
        )
    return _adjoint("H", self)


def _adjoint(name: str, self):
    if self.dim():
        return _C.ops.adjoint(self)
    # By the attribute, which is there before a method is called.
    hotaru._functions._warn_once(
        f"Tensor.{name} is deprecated on 0-D tensors. Consider using x.conj()."
    )
    return _C.ops.conj(self)


def _delete_hooks(self):
    raise RuntimeError("_backward_hooks: cannot delete this attribute")


def _hooks(self):
    from . import hook_table

    return hook_table.get(self)


def _set_hooks(self, hooks) -> None:
    from . import hook_table

    hook_table.put(self, hooks)


def _node(self):
    return self.grad_fn


def _delete_node(self):
    raise RuntimeError("_grad_fn: cannot delete this attribute")


def _names(self) -> list[str]:
    """Names that can be asked for: CUDA's interface only where there is one."""
    names = set(object.__dir__(self))
    if not self.is_cuda:
        names.discard("__cuda_array_interface__")
    return sorted(names)


def _adjoint_of_matrices(self):
    if self.dim() == 1:
        raise RuntimeError(
            "tensor.mH is only supported on matrices or batches of matrices. "
            "Got 1-D tensor."
        )
    return _adjoint("mH", self)


# Programs know them by the package's name, as PyTorch's `torch._tensor`.
for _value in list(globals().values()):
    if getattr(_value, "__module__", None) == __name__:
        _value.__module__ = __name__.rpartition(".")[0]
