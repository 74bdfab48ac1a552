"""Sequences of different lengths in one batch: padded or packed."""

from __future__ import annotations

import warnings
from collections import namedtuple

import hotaru

from ... import Tensor, ops


class PackedSequence(
    namedtuple(
        "PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"]
    )
):
    """A batch without padding: all first steps, then all second steps, ….

    Fields: data (sum of lengths, *); batch_sizes (longest length), on the CPU,
    how many sequences reach each step; the order from the given batch to that
    of decreasing length, and back, or None.
    """

    __slots__ = ()
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None

    def __new__(
        cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None
    ):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            # An early calling convention: one pair.
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. "
                "Instances of PackedSequence should never be created manually. "
                "They should be instantiated by functions like pack_sequence "
                "and pack_padded_sequences in nn.utils.rnn. "
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs) -> PackedSequence:
        """As `Tensor.to` on the data; the orders follow to its device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        orders = (
            None if order is None else order.to(data.device)
            for order in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, *orders)

    def cuda(self, *args, **kwargs) -> PackedSequence:
        """Moves to a GPU."""
        return self.to(*args, device="cuda", **kwargs)

    def cpu(self, *args, **kwargs) -> PackedSequence:
        """Moves to the CPU."""
        return self.to(*args, device="cpu", **kwargs)

    def pin_memory(self) -> PackedSequence:
        """Copies the data to page-locked memory."""
        return type(self)(
            self.data.pin_memory(),
            self.batch_sizes,
            self.sorted_indices,
            self.unsorted_indices,
        )

    def double(self) -> PackedSequence:
        """Data as float64."""
        return self.to(dtype=hotaru.double)

    def float(self) -> PackedSequence:
        """Data as float32."""
        return self.to(dtype=hotaru.float32)

    def half(self) -> PackedSequence:
        """Data as float16."""
        return self.to(dtype=hotaru.half)

    def long(self) -> PackedSequence:
        """Data as int64."""
        return self.to(dtype=hotaru.long)

    def int(self) -> PackedSequence:
        """Data as int32."""
        return self.to(dtype=hotaru.int32)

    def short(self) -> PackedSequence:
        """Data as int16."""
        return self.to(dtype=hotaru.short)

    def char(self) -> PackedSequence:
        """Data as int8."""
        return self.to(dtype=hotaru.int8)

    def byte(self) -> PackedSequence:
        """Data as uint8."""
        return self.to(dtype=hotaru.uint8)

    @property
    def is_cuda(self) -> bool:
        """True if the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """True if the data is in page-locked memory."""
        return self.data.is_pinned()


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes `permutation` (N)."""
    if permutation is None:
        return None
    output = hotaru.empty_like(permutation)
    steps = hotaru.arange(0, permutation.numel(), device=permutation.device)
    return output.scatter_(0, permutation, steps)


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | list[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Packs (L, N, *), or (N, L, *), of which `lengths` (N) steps are valid.

    Raises:
        RuntimeError: lengths that do not fit, or are not decreasing although
            `enforce_sorted`.
    """
    if not isinstance(lengths, Tensor):
        if hotaru.jit.is_tracing():
            warnings.warn(
                "pack_padded_sequence has been called with a Python list of "
                "sequence lengths. The tracer cannot track the data flow of "
                "Python values, and it will treat them as constants, likely "
                "rendering the trace incorrect for any other combination of "
                "lengths.",
                stacklevel=2,
            )
        lengths = hotaru.as_tensor(lengths, dtype=hotaru.int64, device="cpu")
    else:
        lengths = lengths.to(dtype=hotaru.int64)
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    order = None
    if not enforce_sorted:
        lengths, order = hotaru.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = ops._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, order)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Undoes `pack_padded_sequence`.

    Returns:
        Padded batch (L, N, *), or (N, L, *), with L the longest length or
        `total_length`, and the lengths (N).
    """
    steps = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the "
                "longest sequence in "
                f"input, but got total_length={total_length} and max sequence "
                f"length being {steps}"
            )
        steps = total_length
    padded, lengths = ops._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, steps
    )
    order = sequence.unsorted_indices
    if order is not None:
        padded = padded.index_select(0 if batch_first else 1, order)
        lengths = lengths[order.cpu()]
    return padded, lengths


def pad_sequence(
    sequences,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stacks (L_i, *), padded to the longest, to (L, N, *) or (N, L, *)."""
    if not hasattr(sequences, "__iter__"):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg "
            f"of type: {type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    for i, sequence in enumerate(sequences):
        if not isinstance(sequence, Tensor):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got "
                f"{type(sequence).__name__}"
            )
    longest = max(sequence.size(0) for sequence in sequences)
    rows = []
    for sequence in sequences:
        missing = longest - sequence.size(0)
        if missing:
            ends = (missing, 0) if padding_side == "left" else (0, missing)
            pads = (*((0, 0) * (sequence.dim() - 1)), *ends)
            sequence = ops.pad(sequence, pads, "constant", padding_value)
        rows.append(sequence)
    return hotaru.stack(rows, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences of a padded batch, each with its length."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [
        sequence[: int(length)] for sequence, length in zip(padded_sequences, lengths)
    ]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True):
    """Packs tensors (L_i, *)."""
    lengths = [sequence.size(0) for sequence in sequences]
    padded = pad_sequence(sequences)
    return pack_padded_sequence(padded, lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed batch."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
