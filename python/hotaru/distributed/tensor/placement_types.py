"""How a tensor lies on the ranks along a dimension of a mesh."""

from __future__ import annotations

import dataclasses

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """Base of the kinds, with what they have in common."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Tells whether ranks have parts, of this dimension if one is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """True if every rank has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """True if it is the reduction of what the ranks have."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclasses.dataclass(frozen=True)
class Shard(Placement):
    """Each rank has a part of dimension `dim`: as `chunk` cuts it."""

    dim: int

    @staticmethod
    def local_shard_size_and_offset(
        curr_local_size: int, num_chunks: int, rank: int
    ) -> tuple[int, int]:
        """How long a rank's part is, and where it begins."""
        most = -(-curr_local_size // num_chunks)
        begin = min(most * rank, curr_local_size)
        return min(most, curr_local_size - begin), begin

    _local_shard_size_and_offset = local_shard_size_and_offset

    def _split_tensor(
        self,
        tensor,
        num_chunks: int,
        *,
        with_padding: bool = True,
        contiguous: bool = True,
    ) -> tuple[list, list[int]]:
        """The ranks' parts of a whole, and how much each lacks to the longest:
        with zeros in their place, if they are wanted.
        """
        if self.dim >= tensor.dim():
            raise AssertionError(
                f"Sharding dim {self.dim} greater than tensor ndim {tensor.dim()}"
            )
        size = tensor.size(self.dim)
        most = -(-size // num_chunks)
        parts, lacking = [], []
        for rank in range(num_chunks):
            length, begin = self.local_shard_size_and_offset(size, num_chunks, rank)
            part = tensor.narrow(self.dim, begin, length)
            lacks = most - length
            if with_padding and lacks:
                shape = list(tensor.shape)
                shape[self.dim] = most
                whole = tensor.new_zeros(shape)
                whole.narrow(self.dim, 0, length).copy_(part)
                part = whole
            parts.append(part.contiguous() if contiguous else part)
            lacking.append(lacks if with_padding else 0)
        return parts, lacking

    def __repr__(self) -> str:
        """`Shard(dim=0)`."""
        return f"Shard(dim={self.dim})"

    def __str__(self) -> str:
        """`S(0)`."""
        return f"S({self.dim})"


@dataclasses.dataclass(frozen=True)
class _StridedShard(Placement):
    """Each rank has a part of each of `split_factor` equal pieces of `dim`,
    which another dimension of a mesh has cut, or will.
    """

    dim: int
    split_factor: int = dataclasses.field(kw_only=True)

    def __repr__(self) -> str:
        """`_StridedShard(dim=0, sf=2)`."""
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self) -> str:
        """`_S(0, 2)`."""
        return f"_S({self.dim}, {self.split_factor})"


@dataclasses.dataclass(frozen=True)
class Replicate(Placement):
    """Every rank has all of it."""

    def __repr__(self) -> str:
        """`Replicate()`."""
        return "Replicate()"

    def __str__(self) -> str:
        """`R`."""
        return "R"


@dataclasses.dataclass(frozen=True)
class Partial(Placement):
    """It is the reduction of what the ranks have: their "sum", "avg",
    "product", "max" or "min".
    """

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        """`Partial(sum)`."""
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        """`P(sum)`."""
        return f"P({self.reduce_op})"
