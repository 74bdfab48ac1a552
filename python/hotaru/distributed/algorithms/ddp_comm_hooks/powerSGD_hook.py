"""Gradients sent as products of two thin matrices.

The algorithm is that of Vogels, Karimireddy and Jaggi, "PowerSGD: Practical
Low-Rank Gradient Compression for Distributed Optimization" (2019): one step of
the power method from where the last one ended, and what it leaves is added to
the next gradient.
"""

from __future__ import annotations

import math

from .... import Generator, matmul, randn
from ....linalg import qr
from ...collectives import all_reduce
from ...groups import default_group
from ...reduce_op import ReduceOp
from ...reducer import views_like
from .default_hooks import allreduce_hook

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]


class PowerSGDState:
    """State that the hook keeps between iterations; arguments as PyTorch's.

    Raises:
        ValueError: compression would begin before the buckets are final.
    """

    def __init__(
        self,
        process_group,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or "
                "`warm_start` is enabled, because PowerSGD can only be applied "
                "after the first two iterations in DDP."
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback = use_error_feedback
        self.warm_start = warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.generator = Generator().manual_seed(random_seed)
        self.iter = 0
        self.error_dict: dict = {}
        self.q_memory_dict: dict = {}
        self.total_numel_before_compression = 0
        self.total_numel_after_compression = 0

    def compression_stats(self) -> tuple[float, int, int]:
        """How many times fewer numbers travelled, and both counts."""
        before = self.total_numel_before_compression
        after = self.total_numel_after_compression
        return (before / after if after else 0), before, after


def _pays(rows: int, columns: int, rank: int, rate: float) -> bool:
    return (rows + columns) * rank * rate < rows * columns


def _begins(state: PowerSGDState, bucket) -> bool:
    """Tells whether the iteration is one of the first, and counts those."""
    if state.iter >= state.start_powerSGD_iter:
        return False
    if bucket.is_last():
        state.iter += 1
    return True


def powerSGD_hook(state: PowerSGDState, bucket):  # noqa: N802
    """The average, of matrices by their best directions.

    Vectors, and matrices that would not shrink by `min_compression_rate`, go as
    they are; so does everything in the first `start_powerSGD_iter` iterations.
    """
    group = state.process_group or default_group()
    if _begins(state, bucket):
        return allreduce_hook(group, bucket)
    flat = bucket.buffer()
    index = bucket.index()
    error = None
    if state.use_error_feedback:
        error = state.error_dict.get(index)
        if error is not None:
            flat.add_(error)
        error = flat.clone()
    plain, matrices = [], []
    for gradient in bucket.gradients():
        matrix = gradient.view(gradient.size(0), -1) if gradient.dim() else None
        if (
            matrix is not None
            and gradient.dim() > 1
            and _pays(*matrix.shape, _rank(state, matrix), state.min_compression_rate)
        ):
            matrices.append(matrix)
        else:
            plain.append(gradient)
    _average(plain, group)
    _compress(state, index, matrices, group)
    state.total_numel_before_compression += flat.numel()
    state.total_numel_after_compression += sum(
        sum(m.shape) * _rank(state, m) for m in matrices
    ) + sum(g.numel() for g in plain)
    if error is not None:
        state.error_dict[index] = error.sub_(flat)
    return _done(state, bucket, flat)


def batched_powerSGD_hook(state: PowerSGDState, bucket):  # noqa: N802
    """The average, of each bucket as one square matrix, filled with zeros.

    That is faster than a matrix for each gradient and less exact, unless the rank
    is 1. The first `start_powerSGD_iter` iterations send buckets as they are.
    """
    group = state.process_group or default_group()
    if _begins(state, bucket):
        return allreduce_hook(group, bucket)
    flat = bucket.buffer()
    index, count = bucket.index(), flat.numel()
    side = math.ceil(math.sqrt(count))
    square = flat.new_zeros(side * side)
    square[:count] = flat
    error = None
    if state.use_error_feedback:
        if index in state.error_dict:
            square.add_(state.error_dict[index])
        error = square.clone()
    matrix = square.view(side, side)
    _compress(state, index, [matrix], group)
    state.total_numel_before_compression += count
    state.total_numel_after_compression += 2 * side * _rank(state, matrix)
    if error is not None:
        state.error_dict[index] = error.sub_(square)
    flat.copy_(square[:count])
    return _done(state, bucket, flat)


def _done(state: PowerSGDState, bucket, flat):
    """The future of a bucket that has travelled."""
    if bucket.is_last():
        state.iter += 1
    from ....futures import Future

    done = Future()
    done.set_result(flat)
    return done


def _rank(state: PowerSGDState, matrix) -> int:
    return min(*matrix.shape, state.matrix_approximation_rank)


def _average(tensors: list, group) -> None:
    """In as few messages as there are dtypes: one."""
    if not tensors:
        return
    from .... import cat

    flat = cat([t.reshape(-1) for t in tensors])
    all_reduce(flat, ReduceOp.AVG, group)
    for t, view in zip(tensors, views_like(flat, tensors), strict=True):
        t.copy_(view)


def _orthogonal(matrix, epsilon: float):
    """Its columns made orthonormal."""
    if epsilon and matrix.size(1) == 1:
        return matrix / (matrix.norm() + epsilon)
    return qr(matrix)[0]


def _compress(state: PowerSGDState, index: int, matrices: list, group) -> None:
    """Each becomes the average of all processes' approximations."""
    remembered = state.q_memory_dict.get(index)
    if remembered is None or not state.warm_start:
        remembered = [
            _orthogonal(
                randn(m.size(1), _rank(state, m), generator=state.generator).to(
                    m.dtype
                ),
                state.orthogonalization_epsilon,
            )
            for m in matrices
        ]
    else:
        remembered = [
            _orthogonal(q, state.orthogonalization_epsilon) for q in remembered
        ]
    left = [matmul(m, q) for m, q in zip(matrices, remembered, strict=True)]
    _average(left, group)
    left = [_orthogonal(p, state.orthogonalization_epsilon) for p in left]
    right = [matmul(m.t(), p) for m, p in zip(matrices, left, strict=True)]
    _average(right, group)
    state.q_memory_dict[index] = right
    for m, p, q in zip(matrices, left, right, strict=True):
        m.copy_(matmul(p, q.t()))
