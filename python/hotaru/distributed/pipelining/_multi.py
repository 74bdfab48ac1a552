"""Schedules with several stages a rank: steps of an order that has messages."""

from __future__ import annotations

import collections
import csv
import logging
import typing
from collections.abc import Callable
from dataclasses import dataclass

from ...profiler import record_function
from ._actions import Action, Computation, format_order, placed_stages
from ._lowering import (
    add_reduce_grad,
    add_send_recv,
    add_unshard_reshard,
    defer_recv_ops,
    simulate,
    validate_schedule,
)
from ._schedule import PipelineSchedule, begin, wait
from ._stage_base import PipelineStageBase

__all__ = [
    "CustomFunctionProtocol",
    "PipelineContext",
    "PipelineScheduleMulti",
    "PipelineScheduleRuntime",
]

logger = logging.getLogger(__name__)

F, B = Computation.FORWARD, Computation.FULL_BACKWARD
I, W = Computation.BACKWARD_INPUT, Computation.BACKWARD_WEIGHT
UNSHARD, RESHARD = Computation.UNSHARD, Computation.RESHARD
SEND_F, RECV_F = Computation.SEND_F, Computation.RECV_F
SEND_B, RECV_B = Computation.SEND_B, Computation.RECV_B
REDUCE_GRAD = Computation.REDUCE_GRAD


class PipelineScheduleMulti(PipelineSchedule):
    """A schedule with several stages a rank.

    Args:
        stages: those of this process.
        n_microbatches: how many parts a batch has.
        loss_fn: of results and targets; None: passes are forward alone.
        args_chunk_spec, kwargs_chunk_spec: how arguments are cut.
        output_merge_spec: how results go together.
        use_full_backward: no longer looked at.
        scale_grads: whether gradients are divided by the number of microbatches.
        backward_requires_autograd: False for passes of the program's own, which
            need no recording.
    """

    _style = "loop"

    def __init__(
        self,
        stages: list[PipelineStageBase],
        n_microbatches: int,
        loss_fn: Callable | None = None,
        args_chunk_spec=None,
        kwargs_chunk_spec=None,
        output_merge_spec=None,
        use_full_backward: bool | None = None,
        scale_grads: bool = True,
        backward_requires_autograd: bool = True,
    ) -> None:
        super().__init__(
            n_microbatches,
            loss_fn,
            args_chunk_spec,
            kwargs_chunk_spec,
            output_merge_spec,
            scale_grads,
        )
        self._stages = stages
        self._num_stages = stages[0].num_stages
        self.pp_group_size, self.rank = stages[0].group_size, stages[0].group_rank
        self._place(placed_stages(self.pp_group_size, self._num_stages, self._style))
        self._backward_requires_autograd = backward_requires_autograd
        self.pipeline_order: dict[int, list] = {}
        self.pipeline_order_with_comms: dict[int, list] | None = None
        self._defer_pp_recv = False
        self._functions: dict = {}
        self._receiving: dict[tuple, list] = {}
        self.backward_counter: collections.Counter[int] = collections.Counter()
        if use_full_backward is not None:
            logger.warning(
                "Deprecation warning: 'use_full_backward' is no longer supported. "
                "Simply stop passing it, and everything should still work fine."
            )

    def _place(self, ranks: dict[int, int]) -> None:
        self.stage_index_to_group_rank = ranks
        for stage in self._stages:
            stage.stage_index_to_group_rank = ranks

    def _needs_autograd(self) -> bool:
        return self._has_backward and self._backward_requires_autograd

    # --- the order ---

    def _validate_and_set_stage_mapping(self, actions: dict[int, list]) -> None:
        self._place(
            validate_schedule(
                actions, self.pp_group_size, self._num_stages, self._n_microbatches
            )
        )

    def _prepare_schedule_with_comms(
        self, actions: dict[int, list], format: str = "compute_only"
    ) -> None:
        """Takes an order of passes, and adds messages; with "compute_comms" one
        that has them.
        """
        if format not in ("compute_only", "compute_comms"):
            raise NotImplementedError(f"format={format!r} is not implemented")
        self._validate_and_set_stage_mapping(actions)
        if format == "compute_comms":
            for steps in actions.values():
                if any(action is None for action in steps):
                    raise AssertionError("Expected action to be not None")
            self.pipeline_order_with_comms = {r: list(s) for r, s in actions.items()}
            return
        made = {}
        for rank, steps in actions.items():
            for place, action in enumerate(steps):
                if action is not None and not action.is_compute_op:
                    raise ValueError(
                        "Expected compute-only schedule but found communication "
                        f"action '{action}' at rank {rank}, position {place}. "
                        "Communication actions (e.g. SEND_F, RECV_F, etc.) should not "
                        "be present when format='compute_only'."
                    )
            whole = add_unshard_reshard(steps)
            made[rank] = add_reduce_grad(whole, self._n_microbatches)
        ranks = self.stage_index_to_group_rank
        made = add_send_recv(made, lambda s: ranks[s], self._num_stages)
        if self._defer_pp_recv:
            made = defer_recv_ops(made, lambda s: ranks[s])
        self.pipeline_order_with_comms = made

    def _dump_csv(self, filename: str, format: str = "compute_only") -> None:
        """Writes the order, a line for each rank."""
        order = self.pipeline_order
        if format == "compute_comms":
            order = self.pipeline_order_with_comms
        with open(filename, "w", newline="") as file:
            writer = csv.writer(file)
            for rank in order:
                writer.writerow(order[rank])

    def _load_csv(self, filename: str, format: str = "compute_only") -> None:
        """Takes the order of a file."""
        with open(filename, newline="") as file:
            rows = [[Action.from_str(s) for s in row] for row in csv.reader(file)]
        order = dict(enumerate(rows))
        if format == "compute_only":
            self.pipeline_order = order
        self._prepare_schedule_with_comms(order, format)

    def _simulate(self) -> dict[int, list]:
        """The steps of all ranks in time."""
        ranks = self.stage_index_to_group_rank
        passes = {
            rank: [
                part
                for a in steps
                if a.computation_type not in (UNSHARD, RESHARD, REDUCE_GRAD)
                for part in a.parts()
            ]
            for rank, steps in self.pipeline_order_with_comms.items()
        }
        return simulate(passes, lambda s: ranks[s], self._num_stages)

    # --- a step ---

    def register_custom_function(
        self, computation_type: Computation, custom_function: Callable
    ) -> None:
        """Has a function called in place of a kind of step, with it and the
        `PipelineContext`.

        ValueError: a kind that cannot be replaced.
        """
        if computation_type in (SEND_F, RECV_F, SEND_B, RECV_B):
            raise ValueError(
                f"Invalid computation type {computation_type}. Only FORWARD, "
                "FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT, OVERLAP_F_B, UNSHARD, "
                "RESHARD and REDUCE_GRAD are supported."
            )
        if computation_type in self._functions:
            logger.warning(
                "Computation type %s is already registered. Overwriting the existing "
                "custom function.",
                computation_type,
            )
        self._functions[computation_type] = custom_function

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
        if self.pipeline_order_with_comms is None:
            if not self.pipeline_order:
                raise AssertionError(
                    "Must call _prepare_schedule_with_comms() before calling "
                    "_step_microbatches()"
                )
            self._prepare_schedule_with_comms(self.pipeline_order)
        if not self._prepared:
            self._initialize(args[0], kwargs[0])
            self._check_neighbours()
        here = {stage.stage_index: stage for stage in self._stages}
        facts = args, kwargs, target_mbs, return_outputs, loss_kwargs
        context = PipelineContext(self, args, kwargs, target_mbs, losses)
        sends: list = []
        self.backward_counter.clear()
        self._receiving.clear()
        steps = self.pipeline_order_with_comms[self.rank]
        for time, action in enumerate(steps):
            kind = action.computation_type
            try:
                with record_function(f"PP:{action}"):
                    if kind in self._functions:
                        self._functions[kind](action, context)
                        continue
                    for part in action.parts():
                        self._perform(part, here, sends, facts)
            except Exception as error:
                logger.error(
                    "[Rank %s] pipeline schedule %s caught the following exception "
                    "'%s' at time_step %s when running action %s\n%s",
                    self.rank,
                    type(self).__name__,
                    error,
                    time,
                    action,
                    format_order(self.pipeline_order_with_comms, time),
                )
                raise
        wait(sends)
        self._update_losses(self._stages, losses)

    def _perform(self, action: Action, here: dict, sends: list, facts: tuple) -> None:
        place, kind, index, _ = action
        stage = here[place]
        if kind in (UNSHARD, RESHARD):
            return  # modules make their parameters whole themselves
        if index is None and kind is not REDUCE_GRAD:
            raise AssertionError(f"{action=} missing mb_index")
        backward = kind in (SEND_B, RECV_B, B, I, W, REDUCE_GRAD)
        if backward and not self._has_backward:
            return
        if kind is SEND_F:
            sends += begin(stage.get_fwd_send_ops(index))
        elif kind is SEND_B:
            sends += begin(stage.get_bwd_send_ops(index))
        elif kind in (RECV_F, RECV_B):
            ops = stage.get_fwd_recv_ops if kind is RECV_F else stage.get_bwd_recv_ops
            if (kind, place, index) in self._receiving:
                raise AssertionError(
                    f"Recv twice for stage_idx={place} mb_index={index} without "
                    "executing it"
                )
            self._receiving[(kind, place, index)] = begin(ops(index))
        elif kind is F:
            if not stage.is_first and place - 1 not in here:
                self._received(RECV_F, action)
            output = self._forward(stage, index, *facts)
            if place + 1 in here:
                here[place + 1].set_local_fwd_input(output, index)
        elif kind in (B, I):
            if not stage.is_last and place + 1 not in here:
                self._received(RECV_B, action)
            self._backward(stage, kind, index)
            if place - 1 in here:
                grads = stage.get_local_bwd_output(index)
                here[place - 1].set_local_bwd_input(grads, index)
        elif kind is W:
            stage.backward_weight_one_chunk(index, self._is_last_backward(place))
        elif kind is REDUCE_GRAD:
            stage.perform_reduce_grad(self._scale())
        else:
            raise ValueError(f"{action=} is unknown or unsupported")

    def _received(self, kind: Computation, action: Action) -> None:
        """Waits for what a pass takes."""
        key = (kind, action.stage_index, action.microbatch_index)
        if key not in self._receiving:
            raise AssertionError(f"Computing {action=} before receiving input")
        wait(self._receiving.pop(key))

    def _is_last_backward(self, place: int) -> bool:
        self.backward_counter[place] += 1
        return self.backward_counter[place] == self._n_microbatches

    def _backward(self, stage, kind, index: int) -> None:
        whole = kind is B
        stage.backward_one_chunk(
            index,
            loss=self._maybe_get_loss(stage, index),
            full_backward=whole,
            last_backward=whole and self._is_last_backward(stage.stage_index),
        )

    def _check_neighbours(self) -> None:
        """RuntimeError where results go further than to the next stage."""
        for stage in self._stages:
            place = stage.stage_index
            self._check_stages(
                place,
                "forward recv",
                {one.source for one in stage._inputs},
                set() if stage.is_first else {place - 1},
            )
            self._check_stages(
                place,
                "forward send",
                {s for one in stage._outputs for s in one.stages},
                set() if stage.is_last else {place + 1},
            )

    def _check_stages(self, place: int, way: str, found: set, allowed: set) -> None:
        if found - allowed:
            raise RuntimeError(
                "PipelineScheduleMulti only supports adjacent-stage communication, but "
                f"stage {place} has {way} stages {sorted(found)} with non-adjacent "
                f"stages {sorted(found - allowed)} (allowed adjacent stages: "
                f"{sorted(allowed)}). This commonly indicates skip connections, which "
                "are unsupported in this schedule runtime."
            )


@dataclass
class PipelineContext:
    """Facts of a step, for functions in place of its parts."""

    schedule_ref: PipelineSchedule
    arg_mbs: list | None = None
    kwarg_mbs: list | None = None
    target_mbs: list | None = None
    losses: list | None = None


class CustomFunctionProtocol(typing.Protocol):
    def __call__(self, action: Action, ctx: PipelineContext) -> None: ...


class PipelineScheduleRuntime(PipelineScheduleMulti):
    """A schedule from an order of passes, or from a file (`_load_csv`)."""

    def __init__(self, *args, defer_pp_recv: bool = False, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self._defer_pp_recv = defer_pp_recv

    def _order(self) -> dict[int, list]:
        """Passes of each rank."""
        return {
            rank: self._calculate_single_rank_operations(rank)
            for rank in range(self.pp_group_size)
        }

    def _set_order(self) -> None:
        self.pipeline_order = self._order()
        self._prepare_schedule_with_comms(self.pipeline_order)

    def _dump_csv(self, filename: str, format: str = "compute_comms") -> None:
        super()._dump_csv(filename, format)
