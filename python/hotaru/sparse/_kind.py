"""Who answers for sparse tensors, and what is done where nobody does."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._answering.base import Kind
from .._answering.names import words
from .._answering.table import Table
from .._late import lent
from .._overrides import WithoutAnswers
from .._tensor.refusals import other_kind
from ..autograd import no_grad
from ..utils import _pytree


def _compressed(args: tuple, kwargs: dict) -> bool:
    """Tells whether a tensor (or layout) among the arguments is compressed."""
    return _any_compressed(args) or _any_compressed(kwargs.values())


def _any_compressed(arguments) -> bool:
    for x in arguments:
        if isinstance(x, _C._SparseLayout):
            layout = x
        elif isinstance(x, _C.Tensor):
            layout = x.layout
        elif isinstance(x, (tuple, list)) and _any_compressed(x):
            return True
        else:
            continue
        if layout is not _C.strided and layout is not _C.sparse_coo:
            return True
    return False


def _coordinates(args: tuple, kwargs: dict) -> bool:
    """Tells whether the first sparse argument is in coordinates."""
    for value in (*args, *kwargs.values()):
        leaves = value if isinstance(value, (list, tuple)) else (value,)
        for leaf in leaves:
            if isinstance(leaf, _C._SparseLayout):
                return leaf is _C.sparse_coo
            if isinstance(leaf, _C.Tensor) and leaf.layout is not _C.strided:
                return leaf.layout is _C.sparse_coo
    return False


CSX = Table(_compressed)
COO = Table(_coordinates)
ANY = Table()
"""Handlers of both, where these have none of their own."""

NEEDS_COALESCED: dict[str, str] = {}
"""Operators that need sorted, different indices to be done in place, and their
first names.
"""


class _Sparse(Kind):
    absent = frozenset(words("T mT H mH real imag"))

    def plain(self, function, *args, **kwargs) -> Any:
        with WithoutAnswers():
            return function(*args, **kwargs)

    def refuse(self, function, name, args, kwargs):
        raise unknown(name, args, kwargs)

    def write(self, out, result, name):
        if (
            name is not None
            and name[:-1] in NEEDS_COALESCED
            and out.is_sparse
            and not _C._sparse_coalesced(out)
        ):
            raise RuntimeError(
                f"{NEEDS_COALESCED[name[:-1]]}_ requires coalesced input"
            )
        return lent("assign_sparse")(out, result, name is not None)

    def set_data(self, accessor, x, value):
        kinds = {
            None if each.layout is _C.strided else _back_end(each)
            for each in (x, value)
        }
        if len(kinds) > 1:
            raise other_kind()
        with no_grad():
            return self.write(x, value, None)

    def finish(self, name, args, result):
        """The result, which knows the operator's name."""
        if self.has(result) and not result.is_leaf:
            result.made_by = name
        return result


SPARSE = _Sparse("sparse", CSX, COO, ANY)


def _back_end(leaf) -> str | None:
    """The name in errors of the back end of a tensor or a layout."""
    is_layout = isinstance(leaf, _C._SparseLayout)
    if not is_layout and not SPARSE.has(leaf):
        return None
    layout = leaf if is_layout else leaf.layout
    kind = "Sparse" if layout is _C.sparse_coo else "SparseCsr"
    return kind + ("CPU" if is_layout else leaf.device.type.upper())


def unknown(name: str, args, kwargs) -> Exception:
    """The error of an operator that has no meaning for these arguments."""
    found = map(_back_end, _pytree.tree_leaves((args, kwargs)))
    back_end = next(filter(None, found), "Sparse")
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{back_end}' "
        "backend. It has no meaning for sparse tensors here: convert with "
        "to_dense(), or call it on the values."
    )
