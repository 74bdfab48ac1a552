"""Sparse tensors of random sizes, to measure operators with."""

from __future__ import annotations

import math
from numbers import Number

import hotaru

from .... import Tensor, float32
from .fuzzer import FuzzedTensor

__all__ = ["FuzzedSparseTensor"]


class FuzzedSparseTensor(FuzzedTensor):
    """A sparse tensor of coordinates whose sizes are parameters.

    Of the parameters it takes those called "density" (elements for each of the
    sum of sizes), "coalesced" and, where `sparse_dim` names something,
    "sparse_dim".

    Args:
        name, size, min_elements, max_elements, dim_parameter, dtype, cuda: as
            in `FuzzedTensor`.
        sparse_dim: all dimensions are sparse where it is None.
        nnz, density, coalesced: without effect, as in PyTorch.
    """

    def __init__(
        self,
        name: str,
        size: tuple,
        min_elements: int | None = None,
        max_elements: int | None = None,
        dim_parameter: str | None = None,
        sparse_dim: str | None = None,
        nnz: str | None = None,
        density: str | None = None,
        coalesced: str | None = None,
        dtype=float32,
        cuda: bool = False,
    ) -> None:
        super().__init__(
            name,
            size,
            min_elements=min_elements,
            max_elements=max_elements,
            dim_parameter=dim_parameter,
            dtype=dtype,
            cuda=cuda,
        )
        self._sparse_dim = sparse_dim

    @staticmethod
    def sparse_tensor_constructor(
        size, dtype, sparse_dim: int, nnz: int, is_coalesced: bool
    ) -> Tensor:
        """A tensor of `nnz` elements at random places; where it shall not be
        coalesced, each place has two.
        """
        if isinstance(size, Number):
            size = [size] * sparse_dim
        places = hotaru.tensor(size[:sparse_dim], dtype=float32)[:, None]
        if nnz and not bool((places > 0).any()):
            raise AssertionError("invalid arguments")
        shape = [nnz, *size[sparse_dim:]]
        make = FuzzedTensor.default_tensor_constructor
        values = make(size=shape, dtype=dtype)
        drawn = hotaru.rand(sparse_dim, nnz, device="cpu") * places
        indices = drawn.to(hotaru.int64)
        if not is_coalesced:
            values = hotaru.cat([values, hotaru.randn_like(values)])
            indices = hotaru.cat([indices, indices], 1)
        made = hotaru.sparse_coo_tensor(indices, values, tuple(size))
        return made.coalesce() if is_coalesced else made

    def _make_tensor(self, params: dict, state) -> tuple[Tensor, dict]:
        size, _, _ = self._get_size_and_steps(params)
        density = params["density"]
        count = math.ceil(sum(size) * density)
        if count > sum(size):
            raise AssertionError("nnz cannot exceed total number of elements")
        sparse_dim = len(size)
        if self._sparse_dim:
            sparse_dim = min(params["sparse_dim"], sparse_dim)
        tensor = self.sparse_tensor_constructor(
            size, self._dtype, sparse_dim, count, params["coalesced"]
        )
        if self._cuda:
            tensor = tensor.cuda()
        return tensor, {
            "numel": tensor.numel(),
            "shape": tensor.size(),
            "is_coalesced": tensor.is_coalesced(),
            "density": density,
            "sparsity": 1.0 - density,
            "sparse_dim": tensor.sparse_dim(),
            "dense_dim": tensor.dense_dim(),
            "is_hybrid": tensor.dense_dim() > 0,
            "dtype": str(self._dtype),
        }
