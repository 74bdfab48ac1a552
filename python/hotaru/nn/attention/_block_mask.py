"""Which blocks of an attention's scores are looked at."""

from __future__ import annotations

import itertools
import math

from ... import _C, Tensor, arange, argsort, int32, zeros

DEFAULT_BLOCK = 128
_LIMIT_TEXT = """
...
To print out more, set BlockMask.to_string(limit=N)
You can also index (BlockMask[batch, head]) to choose a specific batch or head
"""
_TENSORS = (
    "kv_num_blocks",
    "kv_indices",
    "full_kv_num_blocks",
    "full_kv_indices",
    "q_num_blocks",
    "q_indices",
    "full_q_num_blocks",
    "full_q_indices",
)


def noop_mask(batch, head, token_q, token_kv) -> Tensor:
    """Hides nothing."""
    return batch.new_ones(size=(), dtype=_C.bool)


def pair(block_size) -> tuple[int, int]:
    """A block's rows and columns."""
    if isinstance(block_size, int):
        return block_size, block_size
    rows, columns = block_size
    return int(rows), int(columns)


def to_ordered(dense: Tensor) -> tuple[Tensor, Tensor]:
    """The number of blocks of each row, and their columns before the rest's."""
    dense = dense.to(int32)
    order = argsort(dense, dim=-1, descending=True, stable=True)
    return dense.sum(-1).to(int32), order.to(int32).contiguous()


def to_dense(number: Tensor, columns: Tensor, width: int) -> Tensor:
    """The inverse: 1 where a row has a block."""
    places = arange(columns.shape[-1], device=number.device)
    listed = places < number.unsqueeze(-1)
    # Columns that are not listed go to one that is cut off.
    target = columns.long().masked_fill(~listed, width)
    out = zeros(*(*number.shape, width + 1), dtype=int32, device=number.device)
    return out.scatter(-1, target, 1)[..., :width].contiguous()


def _transposed(number, columns, width: int):
    if number is None:
        return None, None
    return to_ordered(to_dense(number, columns, width).transpose(-2, -1))


def _check(error: type, kv_indices, full_kv_num_blocks, full_kv_indices):
    if kv_indices.dim() < 2:
        raise RuntimeError("BlockMask must have at least 2 dimensions")
    if (full_kv_num_blocks is None) != (full_kv_indices is None):
        raise error(
            "full_kv_num_blocks and full_kv_indices must be both provided or omitted"
        )


class BlockMask:
    """Blocks of what `mask_mod` shows.

    Rows of blocks are those of queries. `kv_indices` has for each row the
    columns of the blocks that are shown in part, of which `kv_num_blocks` are
    meant; `full_…` are those without anything hidden, in which `mask_mod` is
    not asked. `q_…` are the same for each column. `create_block_mask` and
    `from_kv_blocks` make them.
    """

    def __init__(
        self,
        seq_lengths,
        kv_num_blocks,
        kv_indices,
        full_kv_num_blocks,
        full_kv_indices,
        q_num_blocks,
        q_indices,
        full_q_num_blocks,
        full_q_indices,
        BLOCK_SIZE=(DEFAULT_BLOCK, DEFAULT_BLOCK),
        mask_mod=noop_mask,
        *,
        dq_write_order=None,
        dq_write_order_full=None,
        dq_kv_order=None,
        dq_kv_order_spt=None,
    ) -> None:
        _check(RuntimeError, kv_indices, full_kv_num_blocks, full_kv_indices)
        self.seq_lengths = tuple(seq_lengths)
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks = full_kv_num_blocks
        self.full_kv_indices = full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks = full_q_num_blocks
        self.full_q_indices = full_q_indices
        self.BLOCK_SIZE = pair(BLOCK_SIZE)
        self.mask_mod = mask_mod
        # The order in which a GPU adds gradients up; kept, not used.
        self.dq_write_order = dq_write_order
        self.dq_write_order_full = dq_write_order_full
        self.dq_kv_order, self.dq_kv_order_spt = dq_kv_order, dq_kv_order_spt

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks,
        kv_indices,
        full_kv_num_blocks=None,
        full_kv_indices=None,
        BLOCK_SIZE=DEFAULT_BLOCK,
        mask_mod=None,
        seq_lengths=None,
        compute_q_blocks=True,
        *,
        dq_write_order=None,
        dq_write_order_full=None,
        dq_kv_order=None,
    ):
        """From the blocks of each row of queries; columns' are found."""
        _check(AssertionError, kv_indices, full_kv_num_blocks, full_kv_indices)
        size = pair(BLOCK_SIZE)
        width = kv_indices.shape[-1]
        q = full_q = (None, None)
        if compute_q_blocks:
            q = _transposed(kv_num_blocks, kv_indices, width)
            full_q = _transposed(full_kv_num_blocks, full_kv_indices, width)
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], width * size[1])
        return cls(
            seq_lengths,
            kv_num_blocks,
            kv_indices,
            full_kv_num_blocks,
            full_kv_indices,
            *q,
            *full_q,
            size,
            mask_mod or noop_mask,
            dq_write_order=dq_write_order,
            dq_write_order_full=dq_write_order_full,
            dq_kv_order=None if isinstance(dq_kv_order, bool) else dq_kv_order,
        )

    def as_tuple(self, flatten: bool = True) -> tuple:
        """Returns the parts it was made of; `flatten` opens the pairs."""
        tensors = tuple(getattr(self, name) for name in _TENSORS)
        tensors += (
            self.dq_write_order,
            self.dq_write_order_full,
            self.dq_kv_order,
            self.dq_kv_order_spt,
        )
        if flatten:
            ends = (*self.BLOCK_SIZE, self.mask_mod)
            return (*self.seq_lengths, *tensors, *ends)
        return (self.seq_lengths, *tensors, self.BLOCK_SIZE, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """The number of scores, shown or hidden."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """How much of the scores is in blocks that are not looked at, in per
        cent; blocks that stand over the end count whole.
        """
        blocks = int(self.kv_num_blocks.sum())
        if self.full_kv_num_blocks is not None:
            blocks += int(self.full_kv_num_blocks.sum())
        seen = blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100 * (1 - seen / self.numel())

    def to_dense(self) -> Tensor:
        """1 for each block that is looked at."""
        width = self.kv_indices.shape[-1]
        dense = to_dense(self.kv_num_blocks, self.kv_indices, width)
        if self.full_kv_num_blocks is None:
            return dense
        full = to_dense(self.full_kv_num_blocks, self.full_kv_indices, width)
        return dense | full

    def _map(self, change) -> BlockMask:
        """With other tensors."""
        made = [
            change(getattr(self, n)) if getattr(self, n) is not None else None
            for n in _TENSORS
        ]
        return type(self)(self.seq_lengths, *made, self.BLOCK_SIZE, self.mask_mod)

    def to(self, device) -> BlockMask:
        return self._map(lambda tensor: tensor.to(device))

    def __getitem__(self, index) -> BlockMask:
        """That of some batches, heads and rows of blocks; `mask_mod` counts
        them from zero, as it does in PyTorch.
        """
        index = index if isinstance(index, tuple) else (index,)
        # A number keeps its dimension.
        index = tuple(
            slice(i, i + 1 or None) if isinstance(i, int) else i for i in index
        )
        taken = {
            name: getattr(self, name)[index]
            for name in _TENSORS[:4]
            if getattr(self, name) is not None
        }
        return type(self).from_kv_blocks(
            **taken,
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The upper left part, for shorter sequences."""
        rows = -(-new_q_len // self.BLOCK_SIZE[0])
        columns = -(-new_kv_len // self.BLOCK_SIZE[1])
        width = self.kv_indices.shape[-1]

        def cut(number, order):
            if number is None:
                return None, None
            dense = to_dense(number, order, width)
            return to_ordered(dense[..., :rows, :columns])

        return type(self).from_kv_blocks(
            *cut(self.kv_num_blocks, self.kv_indices),
            *cut(self.full_kv_num_blocks, self.full_kv_indices),
            self.BLOCK_SIZE,
            self.mask_mod,
            (new_q_len, new_kv_len),
        )

    def shown(self) -> Tensor:
        """1 for scores in blocks that are shown in part, 2 in full ones."""
        width = self.kv_indices.shape[-1]
        state = to_dense(self.kv_num_blocks, self.kv_indices, width)
        if self.full_kv_num_blocks is not None:
            state = state + 2 * to_dense(
                self.full_kv_num_blocks, self.full_kv_indices, width
            )
        rows, columns = self.BLOCK_SIZE
        state = state.repeat_interleave(rows, -2)
        state = state.repeat_interleave(columns, -1)
        return state[..., : self.seq_lengths[0], : self.seq_lengths[1]]

    def to_string(
        self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4
    ) -> str:
        """A picture of each head: blocks that are looked at are filled, and
        half so where a cell stands for several of which some are.

        Args:
            grid_size: the most rows and columns; -1 has one cell a block.
            limit: the most heads that are drawn.
        """
        dense = self.to_dense()
        ahead = dense.shape[:-2]
        rows, columns = dense.shape[-2:]
        if isinstance(grid_size, int):
            grid_size = (rows, columns) if grid_size == -1 else [grid_size] * 2
        down = -(-rows // grid_size[0])
        across = -(-columns // grid_size[1])
        parts = []
        heads = itertools.product(*(range(n) for n in ahead))
        for index in itertools.islice(heads, limit):
            lines = [str(index)]
            for i in range(0, rows, down):
                line = ""
                for j in range(0, columns, across):
                    cell = dense[index][i : i + down, j : j + across]
                    some, all_ = bool(cell.any()), bool(cell.all())
                    line += ("██" if all_ else "░░") if some else "  "
                lines.append(line)
            parts.append("\n".join(lines) + "\n")
        text = "\n".join(parts)
        if math.prod(ahead) > limit:
            text += _LIMIT_TEXT
        return text.strip()

    def __str__(self) -> str:
        head = f"shape={self.shape}, sparsity={self.sparsity():.2f}%"
        return f"BlockMask({head}, \n{self.to_string()}\n)"

    def __repr__(self) -> str:
        lines = [
            f"    {name}={value.shape if value is not None else None}"
            for name, value in ((n, getattr(self, n)) for n in _TENSORS)
        ]
        mask = getattr(self.mask_mod, "__name__", self.mask_mod)
        lines += [
            f"    BLOCK_SIZE={self.BLOCK_SIZE}",
            f"    shape={self.shape}",
            f"    sparsity={self.sparsity():.2f}%",
            f"    mask_mod={mask}",
        ]
        return "BlockMask(\n" + ",\n".join(lines) + "\n)"
