"""Schedules: the order of passes, the messages between them, and a step."""

from __future__ import annotations

from collections.abc import Callable

from ...nn import Module
from . import _orders

# PyTorch's names of what the schedules are made of; its programs import them.
from ._actions import Action as _Action  # noqa: F401
from ._actions import Computation as _ComputationType
from ._actions import format_order as _format_pipeline_order  # noqa: F401
from ._lowering import add_reduce_grad as _add_reduce_grad  # noqa: F401
from ._lowering import add_send_recv as _add_send_recv  # noqa: F401
from ._lowering import add_unshard_reshard as _add_unshard_reshard  # noqa: F401
from ._lowering import defer_recv_ops as _defer_recv_ops  # noqa: F401
from ._lowering import dump_chrometrace as _dump_chrometrace  # noqa: F401
from ._lowering import merge_bw as _merge_bw  # noqa: F401
from ._lowering import simulate as _simulate_comms_compute  # noqa: F401
from ._lowering import validate_schedule as _validate_schedule  # noqa: F401
from ._multi import CustomFunctionProtocol as _CustomFunctionProtocol  # noqa: F401
from ._multi import PipelineContext as _PipelineContext  # noqa: F401
from ._multi import PipelineScheduleMulti
from ._multi import PipelineScheduleRuntime as _PipelineScheduleRuntime
from ._schedule import PipelineSchedule as _PipelineSchedule  # noqa: F401
from ._single import (
    PipelineScheduleSingle,
    Schedule1F1B,
    ScheduleGPipe,
    _ScheduleForwardOnly,  # noqa: F401
)
from .stage import _PipelineStageBase

__all__ = [
    "PipelineScheduleMulti",
    "PipelineScheduleSingle",
    "Schedule1F1B",
    "ScheduleDualPipeV",
    "ScheduleGPipe",
    "ScheduleInterleaved1F1B",
    "ScheduleInterleavedZeroBubble",
    "ScheduleLoopedBFS",
    "ScheduleZBVZeroBubble",
    "get_schedule_class",
]

FORWARD = F = _ComputationType.FORWARD
BACKWARD_INPUT = I = _ComputationType.BACKWARD_INPUT
BACKWARD_WEIGHT = W = _ComputationType.BACKWARD_WEIGHT
FULL_BACKWARD = B = _ComputationType.FULL_BACKWARD
UNSHARD, RESHARD = _ComputationType.UNSHARD, _ComputationType.RESHARD
SEND_F, RECV_F = _ComputationType.SEND_F, _ComputationType.RECV_F
SEND_B, RECV_B = _ComputationType.SEND_B, _ComputationType.RECV_B
OVERLAP_F_B = _ComputationType.OVERLAP_F_B
REDUCE_GRAD = _ComputationType.REDUCE_GRAD


class ScheduleLoopedBFS(_PipelineScheduleRuntime):
    """Several stages a rank; all microbatches of one before the next."""

    def __init__(
        self,
        stages: list[_PipelineStageBase],
        n_microbatches: int,
        loss_fn: Callable | None = None,
        output_merge_spec=None,
        scale_grads: bool = True,
        backward_requires_autograd: bool = True,
        defer_pp_recv: bool = False,
    ) -> None:
        super().__init__(
            stages,
            n_microbatches,
            loss_fn,
            output_merge_spec=output_merge_spec,
            scale_grads=scale_grads,
            backward_requires_autograd=backward_requires_autograd,
            defer_pp_recv=defer_pp_recv,
        )
        self._set_order()

    def _calculate_single_rank_operations(self, rank: int) -> list:
        return _orders.looped_bfs(
            rank, self.pp_group_size, len(self._stages), self._n_microbatches
        )


class _Ordered(_PipelineScheduleRuntime):
    """Schedules that cut arguments, and have an order by rank."""

    _splits_backward = False

    def __init__(
        self,
        stages: list[_PipelineStageBase],
        n_microbatches: int,
        loss_fn: Callable | None = None,
        args_chunk_spec=None,
        kwargs_chunk_spec=None,
        output_merge_spec=None,
        scale_grads: bool = True,
        backward_requires_autograd: bool = True,
        defer_pp_recv: bool = False,
    ) -> None:
        if self._splits_backward:
            _check_torch_compile_compatibility(stages, type(self).__name__)
        super().__init__(
            stages,
            n_microbatches,
            loss_fn,
            args_chunk_spec,
            kwargs_chunk_spec,
            output_merge_spec,
            scale_grads=scale_grads,
            backward_requires_autograd=backward_requires_autograd,
            defer_pp_recv=defer_pp_recv,
        )
        self.n_local_stages = len(stages)
        self._check_counts()
        self._set_order()

    def _check_counts(self) -> None:
        """ValueError: numbers that the order is not made for."""


class _InRounds(_Ordered):
    """Schedules that take microbatches in rounds of about as many as ranks."""

    _called = ""

    def _check_counts(self) -> None:
        count = self._n_microbatches
        self.number_of_rounds = max(1, count // self.pp_group_size)
        self.microbatches_per_round = count // self.number_of_rounds
        if count % self.number_of_rounds:
            raise ValueError(
                f"{self._called} requires the number of microbatches to be a multiple "
                f"of the number of rounds ({self.number_of_rounds}), but got {count}."
            )

    def _calculate_single_rank_operations(self, rank: int) -> list:
        return _orders.interleaved(
            rank,
            self.pp_group_size,
            self.n_local_stages,
            self._n_microbatches,
            self.microbatches_per_round,
            self._splits_backward,
        )


class ScheduleInterleaved1F1B(_InRounds):
    """Several stages a rank, each in turn forward and backward; earlier
    microbatches before later ones.
    """

    _called = "Interleaved 1F1B"


class ScheduleInterleavedZeroBubble(_InRounds):
    """The same with passes to weights where a rank would wait (ZB1P)."""

    _called = "Zero bubble"
    _splits_backward = True

    def _order(self) -> dict[int, list]:
        return _orders.with_bubbles(super()._order(), self._num_stages)


class ScheduleZBVZeroBubble(_Ordered):
    """Two stages a rank, the first and the last of a V, with passes to weights
    where a rank would wait (ZBV).
    """

    _style = "v"
    _splits_backward = True

    def _check_counts(self) -> None:
        _need_two(self.n_local_stages)
        self.num_stages = self._num_stages

    def _calculate_single_rank_operations(self, rank: int) -> list:
        return _orders.zbv(rank, self.pp_group_size, self._n_microbatches)


def _need_two(count: int) -> None:
    if count != 2:
        raise ValueError(f"ZBV requires exactly 2 stages per rank, but got {count}.")


class ScheduleDualPipeV(_Ordered):
    """Two stages a rank, a V; a pass forward of one with one backward of the
    other (DualPipeV).
    """

    _style = "v"
    _splits_backward = True

    def _check_counts(self) -> None:
        _need_two(self.n_local_stages)
        if self._n_microbatches < self._num_stages:
            raise ValueError(
                "DualPipeV requires at least as many microbatches as stages, but got "
                f"{self._n_microbatches} microbatches and {self._num_stages} stages."
            )
        self.num_stages = self._num_stages

    def _calculate_single_rank_operations(self, rank: int) -> list:
        return _orders.dual_pipe_v(rank, self.pp_group_size, self._n_microbatches)


def get_schedule_class(schedule_name: str):
    """The class of a schedule by its name, in letters of any size.

    ValueError: there is none.
    """
    known = {
        "1F1B": Schedule1F1B,
        "Interleaved1F1B": ScheduleInterleaved1F1B,
        "GPipe": ScheduleGPipe,
        "LoopedBFS": ScheduleLoopedBFS,
        "InterleavedZeroBubble": ScheduleInterleavedZeroBubble,
        "PipelineScheduleSingle": PipelineScheduleSingle,
        "PipelineScheduleMulti": PipelineScheduleMulti,
        "ZBVZeroBubble": ScheduleZBVZeroBubble,
        "DualPipeV": ScheduleDualPipeV,
    }
    for name, found in known.items():
        if name.lower() == schedule_name.lower():
            return found
    raise ValueError(
        f"Unknown schedule name '{schedule_name}'. The valid options are {list(known)}"
    )


def _check_torch_compile_compatibility(stages: list, schedule_name: str) -> None:
    """RuntimeError where a compiled module would have its pass divided."""
    for stage in stages:
        if not isinstance(stage.submod, Module):
            continue
        for module in stage.submod.modules():
            if hasattr(module, "_orig_mod"):
                raise RuntimeError(
                    f"The {schedule_name} schedule is not supported with stage modules "
                    "that have used torch.compile. Found OptimizedModule in "
                    f"{type(module).__name__}"
                )
