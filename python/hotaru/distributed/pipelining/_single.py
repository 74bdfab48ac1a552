"""Schedules with one stage a rank."""

from __future__ import annotations

from collections.abc import Callable

from ...profiler import record_function
from . import _orders
from ._schedule import PipelineSchedule, begin, wait
from ._stage_base import PipelineStageBase

__all__ = ["PipelineScheduleSingle", "Schedule1F1B", "ScheduleGPipe"]


class PipelineScheduleSingle(PipelineSchedule):
    """A schedule with one stage a rank.

    Args:
        stage: the stage of this process.
        n_microbatches: how many parts a batch has.
        loss_fn: of results and targets; None: passes are forward alone.
        args_chunk_spec, kwargs_chunk_spec: how arguments are cut.
        output_merge_spec: how results go together.
        scale_grads: whether gradients are divided by the number of microbatches,
            for losses that are means.
    """

    def __init__(
        self,
        stage: PipelineStageBase,
        n_microbatches: int,
        loss_fn: Callable | None = None,
        args_chunk_spec=None,
        kwargs_chunk_spec=None,
        output_merge_spec=None,
        scale_grads: bool = True,
    ) -> None:
        super().__init__(
            n_microbatches,
            loss_fn,
            args_chunk_spec,
            kwargs_chunk_spec,
            output_merge_spec,
            scale_grads,
        )
        self._stage = stage
        self._stages = [stage]
        self._num_stages = stage.num_stages
        self.pipeline_order = self._get_pipeline_order()

    def _get_pipeline_order(self) -> dict[int, list] | None:
        """The passes of each rank, for tables."""
        return None

    def _run_forward(self, index: int, *facts):
        wait(begin(self._stage.get_fwd_recv_ops(index)))
        with record_function(f"Forward {index}"):
            return self._forward(self._stage, index, *facts)

    def _run_backward(self, index: int) -> None:
        wait(begin(self._stage.get_bwd_recv_ops(index)))
        with record_function(f"Backward {index}"):
            self._stage.backward_one_chunk(
                index,
                loss=self._maybe_get_loss(self._stage, index),
                last_backward=index == self._n_microbatches - 1,
            )


class _ScheduleForwardOnly(PipelineScheduleSingle):
    """Forward passes alone."""

    def _step_microbatches(
        self,
        arg_mbs=None,
        kwarg_mbs=None,
        target_mbs=None,
        losses=None,
        return_outputs: bool = True,
        loss_kwargs=None,
    ) -> None:
        if target_mbs is not None or losses is not None:
            raise RuntimeError(
                "Forward-only schedule does not support loss computation"
            )
        args, kwargs = self._check_inputs(arg_mbs, kwarg_mbs, target_mbs, losses)
        self._initialize(args[0], kwargs[0])
        sends: list = []
        for i in range(self._n_microbatches):
            self._run_forward(i, args, kwargs, None, return_outputs, None)
            sends += begin(self._stage.get_fwd_send_ops(i))
        wait(sends)


class ScheduleGPipe(PipelineScheduleSingle):
    """All microbatches forward, then all backward."""

    def _step_microbatches(
        self,
        arg_mbs=None,
        kwarg_mbs=None,
        target_mbs=None,
        losses=None,
        return_outputs: bool = True,
        loss_kwargs=None,
    ) -> None:
        args, kwargs = self._check_inputs(arg_mbs, kwarg_mbs, target_mbs, losses)
        self._initialize(args[0], kwargs[0])
        stage = self._stage
        sends: list = []
        for i in range(self._n_microbatches):
            self._run_forward(i, args, kwargs, target_mbs, return_outputs, loss_kwargs)
            sends += begin(stage.get_fwd_send_ops(i))
        wait(sends)
        sends = []
        if self._has_backward:
            for i in range(self._n_microbatches):
                self._run_backward(i)
                sends += begin(stage.get_bwd_send_ops(i))
            wait(sends)
        self._update_losses(stage, losses)
        if self._has_backward:
            stage.perform_reduce_grad(self._scale())

    def _get_pipeline_order(self) -> dict[int, list]:
        return _orders.gpipe(self._num_stages, self._n_microbatches)


class Schedule1F1B(PipelineScheduleSingle):
    """One microbatch forward and one backward in turn, once the last stage has
    one: a rank keeps no more of them than there are stages.

    ValueError: there are fewer microbatches than stages.
    """

    def __init__(
        self,
        stage: PipelineStageBase,
        n_microbatches: int,
        loss_fn: Callable | None = None,
        args_chunk_spec=None,
        kwargs_chunk_spec=None,
        output_merge_spec=None,
        scale_grads: bool = True,
    ) -> None:
        super().__init__(
            stage,
            n_microbatches,
            loss_fn,
            args_chunk_spec,
            kwargs_chunk_spec,
            output_merge_spec,
            scale_grads,
        )
        if n_microbatches < self._num_stages:
            raise ValueError(
                f"Number of microbatches ({n_microbatches}) must be greater than "
                f"or equal to the number of stages ({self._num_stages})."
            )

    def _step_microbatches(
        self,
        arg_mbs=None,
        kwarg_mbs=None,
        target_mbs=None,
        losses=None,
        return_outputs: bool = True,
        loss_kwargs=None,
    ) -> None:
        args, kwargs = self._check_inputs(arg_mbs, kwarg_mbs, target_mbs, losses)
        self._initialize(args[0], kwargs[0])
        stage, count = self._stage, self._n_microbatches
        warm = min(count, self._num_stages - stage.stage_index)
        facts = args, kwargs, target_mbs, return_outputs, loss_kwargs
        sends: list = []
        for i in range(warm):
            self._run_forward(i, *facts)
            sends += begin(stage.get_fwd_send_ops(i))
        for i in range(count):
            if self._has_backward:
                self._run_backward(i)
                sends += begin(stage.get_bwd_send_ops(i))
            if i + warm < count:
                self._run_forward(i + warm, *facts)
                sends += begin(stage.get_fwd_send_ops(i + warm))
        wait(sends)
        self._update_losses(stage, losses)
        if self._has_backward:
            stage.perform_reduce_grad(self._scale())

    def _get_pipeline_order(self) -> dict[int, list]:
        return _orders.one_forward_one_backward(self._num_stages, self._n_microbatches)
