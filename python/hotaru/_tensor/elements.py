"""Methods of Tensor about its elements: casts, in place, one by one."""

from __future__ import annotations

from numbers import Number

from .. import _C
from .._C import Tensor

CASTS = {
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

# Second names of operators in place.
_IN_PLACE = {"absolute": "abs", "negative": "neg"}


def _cast(dtype):
    def cast(self, memory_format=_C.preserve_format):
        if memory_format is _C.preserve_format:
            return self.to(dtype)
        return self.to(dtype, memory_format=memory_format)

    cast.__doc__ = f"self.to({dtype}, memory_format=memory_format)"
    return cast


def _renamed(method, name: str):
    """A method that knows the name it is offered by."""
    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    return method


def _in_place(name: str):
    function = getattr(_C.ops, f"{name}_")

    def run(self):
        return function(self)

    run.__doc__ = f"The same as `{name}_`."
    return run


def __contains__(self, element) -> bool:
    if isinstance(element, (Tensor, Number)):
        return bool((element == self).any().item())
    raise RuntimeError(
        "Tensor.__contains__ only supports Tensor or scalar, "
        f"but you passed in a {type(element)}."
    )


def __reversed__(self):
    """The elements along the first dimension from the end; a number itself."""
    return self.flip(0) if self.dim() else self


def __complex__(self) -> complex:
    """The number of a tensor of one element; ValueError for another."""
    if self.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    _C._warn_of_lost_history(self)
    return complex(self.item())


def __nonzero__(self) -> bool:
    """The truth of a tensor of one element."""
    return bool(self)


def __long__(self) -> int:
    """The integer of a tensor of one element."""
    return int(self)


def is_nonzero(self) -> bool:
    """The truth of a tensor of one element."""
    return bool(self)


def apply_(self, function):
    """Replaces each element by function(element); slow.

    Raises:
        RuntimeError: the tensor requires a gradient.
        TypeError: a result is no number.
    """
    return _mapped("apply_", self, function)


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
            f"Can't call {name}() on Variable that requires grad. "
            f"Use var.detach().{name}() instead."
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


# By names of their own here, where Python's types have theirs.
for _name, _dtype in CASTS.items():
    globals()[f"cast_{_name}"] = _renamed(_cast(_dtype), _name)
for _name, _same in _IN_PLACE.items():
    globals()[f"{_name}_"] = _renamed(_in_place(_same), f"{_name}_")
