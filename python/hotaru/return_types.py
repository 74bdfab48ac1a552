"""The types of results that have names: `torch.return_types.max`.

An operator's type is made with its first result of that kind; asking for one
here runs the operator on a small matrix. What was written through `out=` has a
type of its own, `max_out`.
"""

from __future__ import annotations

from operator import itemgetter

from . import _C, ones, ops
from ._C import Tensor
from ._own_names import no_attribute

# Arguments that stand behind the matrix where an operator asks for more.
_CALLS = {
    "cummax": (0,),
    "cummin": (0,),
    "histogram": (2,),
    "histogramdd": ([2],),
    "kthvalue": (1,),
    "max": (0,),
    "median": (0,),
    "min": (0,),
    "mode": (0,),
    "nanmedian": (0,),
    "topk": (1,),
}
_PLAIN = {
    "aminmax",
    "frexp",
    "geqrf",
    "linalg_cholesky_ex",
    "linalg_eig",
    "linalg_eigh",
    "linalg_inv_ex",
    "linalg_ldl_factor",
    "linalg_ldl_factor_ex",
    "linalg_lu",
    "linalg_lu_factor",
    "linalg_lu_factor_ex",
    "linalg_qr",
    "linalg_slogdet",
    "linalg_svd",
    "qr",
    "slogdet",
    "sort",
    "svd",
}
_TENSORS = {"linalg_lstsq", "linalg_solve_ex", "lu_unpack", "triangular_solve"}
# Fields of results of functions that are written in Python.
_MADE = {"linalg_polar": ("U", "H")}
_RESULTS = _PLAIN.union(_CALLS, _TENSORS, _MADE)
# Only histogramdd writes nothing through `out=`: one result is a list.
_OUT = {f"{name}_out" for name in _RESULTS - {"histogramdd"}}
_NAMES = sorted(_RESULTS | _OUT)
__all__ = ["all_return_types", "pytree_register_structseq", *_NAMES]  # noqa: F822


def _rest(name: str, matrix: Tensor) -> tuple:
    if name == "lu_unpack":
        return (ones(1, device="cpu", dtype=_C.int32),)
    if name in _TENSORS:
        return (matrix,)
    return _CALLS.get(name, ())


def _named_tuple(name: str, fields: tuple[str, ...]) -> type:
    """A class as those of operators are, which C++ makes."""

    def text(self) -> str:
        parts = (f"{f}={x!r}" for f, x in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n" + ",\n".join(parts) + ")"

    def new(cls, items):
        items = tuple(items)
        if len(items) != len(fields):
            raise TypeError(
                f"torch.return_types.{name}() takes a {len(fields)}-sequence "
                f"({len(items)}-sequence given)"
            )
        return tuple.__new__(cls, items)

    n = len(fields)
    parts = {f: property(itemgetter(i)) for i, f in enumerate(fields)}
    parts |= {"n_fields": n, "n_sequence_fields": n, "n_unnamed_fields": 0}
    parts |= {"__slots__": (), "__match_args__": fields, "__new__": new}
    parts |= {"__repr__": text, "__module__": "torch.return_types"}
    parts["__reduce__"] = lambda self: (type(self), (tuple(self),))
    return type(name, (tuple,), parts)


def _type_of(name: str) -> type:
    from ._overrides import DisableTorchFunction
    from .utils._python_dispatch import _disable_current_modes

    made = _MADE.get(name.removesuffix("_out"))
    if made is not None:
        return _named_tuple(name, made)
    with DisableTorchFunction(), _disable_current_modes():
        operator = getattr(ops, name.removesuffix("_out"))
        matrix = ones(1, 1, device="cpu", dtype=_C.float32)
        arguments = (matrix, *_rest(operator.__name__, matrix))
        found = operator(*arguments)
        if name in _OUT:
            found = operator(*arguments, out=tuple(found))
        return type(found)


def __getattr__(name: str):
    if name in _NAMES:
        return globals().setdefault(name, _type_of(name))
    if name == "all_return_types":
        types = [globals().get(n) or __getattr__(n) for n in _NAMES]
        return globals().setdefault(name, types)
    raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def pytree_register_structseq(cls: type) -> None:
    """Makes objects of a type of results nodes of trees: they are already,
    for each type that an operator gives.
    """
    from .utils._pytree import is_structseq_class

    if not is_structseq_class(cls):
        raise TypeError(f"{cls} is no type of named results")
