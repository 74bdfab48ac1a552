"""MaskedTensor: data, and a mask that says which of it counts."""

from __future__ import annotations

import warnings

from ... import _C
from ..._answering.base import Answering
from ..._C import Tensor, ops
from ..._late import lent
from ..._tensor.refusals import with_gradient
from ._kind import MASKED

_SUPPORTED = (
    _C.float16,
    _C.float32,
    _C.float64,
    _C.bool,
    _C.int8,
    _C.int16,
    _C.int32,
    _C.int64,
)


class MaskedTensor(Answering, of=MASKED):
    """A tensor with a mask of its shape: False where an element is none.

    Functions of tensors take it where masks have a meaning to them: those of
    each element keep the mask, those of two want one mask in both, reductions
    leave out what does not count, and what moves elements moves the mask along.
    Others raise TypeError. Gradients of one have its mask. Data and mask may
    be in the layouts `sparse_coo` and `sparse_csr`, both with elements at the
    same indices.

    It holds a copy of the data. Raises TypeError for other things than
    tensors, masks that are not bool, and dtypes beyond bool, signed integers,
    float16, float32 and float64; ValueError where the shapes differ.
    """

    @staticmethod
    def __new__(cls, data: Tensor, mask: Tensor, requires_grad: bool = False):
        _check_kinds(data, mask)
        warn_of_prototype(data)
        return wrap(*copies(data.detach(), mask), requires_grad)

    def __init__(self, data, mask, requires_grad: bool = False) -> None:
        pass

    @classmethod
    def unary(cls, fn, data: Tensor, mask: Tensor) -> MaskedTensor:
        """A function of all elements of plain data, with a mask."""
        return cls(fn(data), mask)

    def get_data(self) -> Tensor:
        """All elements as a plain tensor (in a sparse layout a sparse one),
        with this one's history.
        """
        if self.is_sparse:
            return _sparse_layouts().of_masked(self)
        return _C._as_subclass(Tensor, self)

    def get_mask(self) -> Tensor:
        """The mask: True where an element counts."""
        return self._masked_mask

    @property
    def _masked_data(self) -> Tensor:
        return self.get_data().detach()

    _base = None

    def _is_view(self) -> bool:
        return False

    def __reduce_ex__(self, protocol):
        parts = self._masked_data, self.get_mask(), self.requires_grad
        return _rebuilt, parts

    def _copied(self) -> MaskedTensor:
        return wrap(*copies(self._masked_data, self.get_mask()))

    def to_tensor(self, value) -> Tensor:
        """A plain tensor, with `value` in place of what does not count."""
        if self.is_sparse:
            return self.to_dense().to_tensor(value)
        return self.get_data().masked_fill(~self.get_mask(), value)

    def is_sparse_coo(self) -> bool:
        """True if its layout is `sparse_coo`."""
        return self.layout is _C.sparse_coo

    def is_sparse_csr(self) -> bool:
        """True if its layout is `sparse_csr`."""
        return self.layout is _C.sparse_csr

    @property
    def layout(self):
        """How data and mask are stored."""
        return self.get_mask().layout

    @property
    def is_sparse(self) -> bool:
        """True if its layout is `sparse_coo` or `sparse_csr`."""
        return self.layout is not _C.strided

    def to_dense(self) -> MaskedTensor:
        """Data and mask in the layout `strided`."""
        return _sparse_layouts().dense(self)

    def to_sparse(self) -> MaskedTensor:
        """Data and mask in `sparse_coo`, with the elements of the mask."""
        return _sparse_layouts().sparse(self, _C.sparse_coo)

    to_sparse_coo = to_sparse

    def to_sparse_csr(self) -> MaskedTensor:
        """Data and mask in `sparse_csr`, with the elements of the mask."""
        return _sparse_layouts().sparse(self, _C.sparse_csr)

    def tolist(self):
        """Refused, as lists have no masks: see `to_tensor`."""
        raise RuntimeError(
            ".tolist() is not supported for tensor subclasses, got MaskedTensor"
        )

    def numpy(self, *, force: bool = False):
        """Refused, as arrays have no masks: see `to_tensor`."""
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")

    def __lt__(self, other):
        if self.is_sparse:
            return ops.lt(self, other)
        return wrap(self.get_data() < data_of(other), self.get_mask())

    def __repr__(self) -> str:
        data, mask = self._masked_data, self.get_mask()
        if self.is_sparse:
            data, mask = data.to_dense(), mask.to_dense()
        if data.dim() == 0:
            through = mask.item()
            text = _number(data.item()) if through else "--"
            return f"MaskedTensor({text}, {through})"
        return f"MaskedTensor(\n{_indented(_rows(data, mask))}\n)"

    __str__ = __repr__


MaskedTensor._beside = (MaskedTensor,)


def _sparse_layouts():
    return lent("sparse_masks")


def _check_layouts(data: Tensor, mask: Tensor) -> None:
    if data.layout is not mask.layout:
        raise TypeError("data and mask must have the same layout.")


def copies(data: Tensor, mask: Tensor) -> tuple:
    """Copies of both; of sparse ones at the same indices."""
    _check_layouts(data, mask)
    if data.layout is not _C.strided:
        data, mask = _sparse_layouts().prepared(data, mask)
    return data.clone(), mask.clone()


def is_masked_tensor(obj) -> bool:
    """Tells whether an object is a MaskedTensor."""
    return isinstance(obj, MaskedTensor)


def wrap(data: Tensor, mask: Tensor, requires_grad: bool = False):
    """A MaskedTensor over the data itself, with its history."""
    _check_members(data, mask)
    found = _C._as_subclass(MaskedTensor, data)
    found._masked_mask = mask
    return with_gradient(found, requires_grad)


def _rebuilt(data: Tensor, mask: Tensor, requires_grad: bool) -> MaskedTensor:
    return wrap(data, mask, requires_grad)


def data_of(x):
    """The data of a MaskedTensor; everything else as it is."""
    return x.get_data() if isinstance(x, MaskedTensor) else x


def mask_of(x):
    """The mask of a MaskedTensor; everything else as it is."""
    return x.get_mask() if isinstance(x, MaskedTensor) else x


def warn_of_prototype(data: Tensor) -> None:
    """Gives the warning that PyTorch gives whenever one is made."""
    warnings.warn(
        "The PyTorch API of MaskedTensors is in prototype stage and will "
        "change in the near future. Please open a Github issue for features "
        "requests and see our documentation on the torch.masked module for "
        "further information about the project.",
        UserWarning,
        stacklevel=3,
    )
    if data.requires_grad:
        warnings.warn(
            "It is not recommended to create a MaskedTensor with a tensor that "
            "requires_grad. To avoid this, you can use data.detach().clone()",
            UserWarning,
            stacklevel=3,
        )


def _check_kinds(data, mask) -> None:
    for name, x in (("data", data), ("mask", mask)):
        if not isinstance(x, Tensor) or isinstance(x, MaskedTensor):
            raise TypeError(f"{name} must be a Tensor")


def _check_members(data: Tensor, mask: Tensor) -> None:
    _check_layouts(data, mask)
    if data.layout != _C.strided:
        if data.layout not in (_C.sparse_coo, _C.sparse_csr):
            raise TypeError(f"data layout of {data.layout} is not supported.")
        _sparse_layouts().check_indices(data, mask)
    if mask.dtype != _C.bool:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in _SUPPORTED:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.size() != mask.size():
        raise ValueError("data.size() must equal mask.size()")


def _tensors_match(a, b, exact=True, rtol=1e-05, atol=1e-08) -> bool:
    """Tells whether two plain tensors agree, exactly or within tolerances."""
    if is_masked_tensor(a) or is_masked_tensor(b):
        raise ValueError("Neither `a` nor `b` can be a MaskedTensor.")
    if a.layout != b.layout:
        raise ValueError(
            f"`a` and `b` must have the same layout. Got {a.layout} and {b.layout}"
        )
    if a.dim() != b.dim():
        return False
    if a.layout is not _C.strided:
        return _sparse_layouts().match(a, b, exact, rtol, atol)
    b = b.to(a.dtype)
    if exact:
        return bool((a == b).all())
    return ops.allclose(a, b, rtol=rtol, atol=atol)


def _masks_match(a, b) -> bool:
    """Tells whether two have one mask, or one of them has none."""
    if is_masked_tensor(a) and is_masked_tensor(b):
        return _tensors_match(a.get_mask(), b.get_mask())
    return True


# --- text ---------------------------------------------------------------------


def _number(value) -> str:
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.split("\n"))


def _rows(data: Tensor, mask: Tensor) -> str:
    if data.dim() > 1:
        parts = [_indented(_rows(d, m)) for d, m in zip(data, mask)]
        return "[\n" + ",\n".join(parts) + "\n]"
    numbers, through = [_number(x) for x in data.tolist()], mask.tolist()
    width = max(len(n) if t else 8 for n, t in zip(numbers, through))
    shown = [n if t else "--".rjust(width) for n, t in zip(numbers, through)]
    return "[" + ", ".join(shown) + "]"
