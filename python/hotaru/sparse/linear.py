"""Functions of `torch` that are made of products with sparse matrices."""

from __future__ import annotations

import hotaru

from .. import _C
from .._answering.table import answers
from .._C import Tensor
from ._kind import ANY
from .tensor import is_sparse


def _coordinates(tensor: Tensor) -> Tensor:
    if not is_sparse(tensor) or tensor.layout is _C.sparse_coo:
        return tensor
    return tensor.to_sparse_coo()


@answers("linear", of=ANY)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Input (*, K) times the transpose of weight (N, K), plus bias (N,).

    Strided, (*, N). Either matrix may be sparse; a sparse input is (M, K).
    """
    if is_sparse(input):
        found = hotaru.mm(_coordinates(input), weight.t())
    else:
        rows = input.reshape(-1, input.shape[-1])
        found = hotaru.mm(_coordinates(weight), rows.t()).t()
        found = found.reshape(*input.shape[:-1], weight.shape[0])
    if is_sparse(found):
        found = found.to_dense()
    return found if bias is None else found + bias
