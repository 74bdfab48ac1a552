"""Stages' common part: microbatches come, pass through, and go."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ... import Tensor, is_grad_enabled, no_grad
from ... import distributed as dist
from ...nn import Module
from ...nn.parallel import DistributedDataParallel
from ..fsdp import FSDPModule
from ._backward import (
    shown,
    stage_backward,
    stage_backward_input,
    stage_backward_weight,
)
from ._utils import Meshes, PipeliningMetadataError, TensorMeta, flatten_args, local_of

__all__ = ["Input", "Output", "PipelineStageBase"]


class Input(NamedTuple):
    """An input that another stage gives: which of its results it is."""

    source: int
    place: int
    meta: TensorMeta


class Output(NamedTuple):
    """A result, and the stages that take it."""

    stages: tuple[int, ...]
    meta: TensorMeta


def as_tuple(output) -> tuple:
    if type(output) is list:
        return tuple(output)
    return output if type(output) is tuple else (output,)


class PipelineStageBase:
    """Stage of a pipeline: its module, its neighbours, and the microbatches that
    are between their passes.

    Args:
        submodule: the module of the stage.
        stage_index, num_stages: its place.
        device: where it is.
        group: the processes of the pipeline; None is the default group.
        dw_builder: called after a pass to inputs; what it gives is called for the
            pass to weights. Without it the pass is divided here.
    """

    def __init__(
        self,
        submodule: Module,
        stage_index: int,
        num_stages: int,
        device,
        group=None,
        dw_builder: Callable | None = None,
    ) -> None:
        if stage_index >= num_stages:
            raise ValueError(
                f"Stage index {stage_index} is out of range of {num_stages}"
            )
        self.submod = submodule
        self.stage_index, self.num_stages = stage_index, num_stages
        self.device, self.group, self.dw_builder = device, group, dw_builder
        self.group_rank = dist.get_rank(group)
        self.group_size = dist.get_world_size(group)
        if self.group_size > num_stages:
            raise RuntimeError(
                f"Pipeline group size {self.group_size} cannot be larger than number "
                f"of stages {num_stages}"
            )
        self.has_backward = False
        self.chunks: int | None = None
        self.log_prefix = f"[Stage {stage_index}]"
        self.stage_index_to_group_rank = {
            i: i % self.group_size for i in range(num_stages)
        }
        # Inputs that come from stages, and results; the first step knows them.
        self._inputs: tuple[Input, ...] | None = None
        self._outputs: tuple[Output, ...] | None = None
        self._meshes = Meshes()
        # By microbatch: what was received, results with inputs, gradients.
        self._activations: dict[int, list] = {}
        self._gradients: dict[int, dict[int, list]] = {}
        self.fwd_cache: dict[int, tuple] = {}
        self.bwd_cache: dict[int, tuple] = {}
        self.backward_state: dict[int, tuple] = {}
        self.dw_runner: dict[int, Callable] = {}
        self.output_chunks: list = []
        self._reduced = False

    @property
    def is_first(self) -> bool:
        """True of the stage that is given the batch."""
        return self.stage_index == 0

    @property
    def is_last(self) -> bool:
        """True of the stage that gives the result."""
        return self.stage_index == self.num_stages - 1

    # --- neighbours ---

    def _prepare(self, args: tuple, kwargs: dict, received=None):
        """Finds out what goes from stage to stage, in the first step.

        Returns what the next stage takes, if it is of this process, too.
        """
        raise NotImplementedError

    def _is_here(self, stage: int) -> bool:
        return self.stage_index_to_group_rank[stage] == self.group_rank

    def _rank_of(self, stage: int) -> int:
        rank = self.stage_index_to_group_rank[stage]
        group = self.group
        return rank if group is None else dist.get_global_rank(group, rank)

    def _check_chunk_id(self, chunk_id: int) -> None:
        if self.chunks is None:
            raise RuntimeError(
                "Attempted to access chunk_id before chunks have been configured."
            )
        if chunk_id >= self.chunks:
            raise RuntimeError(
                f"Chunk id {chunk_id} is out of range [0, {self.chunks})"
            )

    def _message(self, op, tensor: Tensor, stage: int) -> dist.P2POp:
        return dist.P2POp(op, tensor, self._rank_of(stage), self.group)

    def _sorted_inputs(self) -> list[int]:
        """Inputs by who sends them: both sides have the same order."""
        return sorted(
            range(len(self._inputs)),
            key=lambda i: (self._inputs[i].source, self._inputs[i].place),
        )

    def get_fwd_recv_ops(self, fwd_chunk_id: int) -> list[dist.P2POp]:
        """Messages that bring the inputs of a microbatch."""
        buffers = [one.meta.buffer(self.device) for one in self._inputs]
        self._activations[fwd_chunk_id] = buffers
        return [
            self._message(dist.irecv, buffers[i], self._inputs[i].source)
            for i in self._sorted_inputs()
        ]

    def get_fwd_send_ops(self, fwd_chunk_id: int) -> list[dist.P2POp]:
        """Messages that take its results away."""
        outputs = self.fwd_cache[fwd_chunk_id][0]
        ops = []
        for output, known in zip(outputs, self._outputs):
            if known.stages:
                sent = local_of(output)
                for stage in known.stages:
                    ops.append(self._message(dist.isend, sent, stage))
        return ops

    def get_bwd_recv_ops(self, bwd_chunk_id: int) -> list[dist.P2POp]:
        """Messages that bring the gradients of a microbatch's results."""
        if not self.has_backward or self.is_last:
            return []
        found = self._gradients[bwd_chunk_id] = {}
        ops = []
        for place, known in enumerate(self._outputs):
            for stage in known.stages if known.meta.requires_grad else ():
                buffer = known.meta.buffer(self.device)
                found.setdefault(place, []).append(buffer)
                ops.append(self._message(dist.irecv, buffer, stage))
        return ops

    def get_bwd_send_ops(self, bwd_chunk_id: int) -> list[dist.P2POp]:
        """Messages that take the gradients of its inputs back."""
        if not self.has_backward or self.is_first:
            return []
        self._check_chunk_id(bwd_chunk_id)
        grads = self.bwd_cache.pop(bwd_chunk_id)
        ops = []
        for i in self._sorted_inputs():
            source, _, meta = self._inputs[i]
            if not meta.requires_grad:
                continue
            grad = grads[i]
            none = grad is None
            sent = meta.buffer(self.device).zero_() if none else local_of(grad)
            ops.append(self._message(dist.isend, sent, source))
        return ops

    def set_local_fwd_input(self, prev_stage_outputs, mb_index: int) -> None:
        """Takes the results of the stage before, which is of this process."""
        outputs = as_tuple(prev_stage_outputs)
        found = []
        for _, place, _ in self._inputs:
            tensor = outputs[place]
            if not isinstance(tensor, Tensor):
                raise AssertionError(
                    "expected tensor values as outputs from prev stage, got "
                    f"{type(tensor)}"
                )
            # A tensor of its own, as the results are detached in place later.
            found.append(local_of(tensor).detach())
        self._activations[mb_index] = found

    def get_local_bwd_output(self, mb_index: int) -> tuple:
        """The gradients of the inputs, for the stage before."""
        if not self.has_backward:
            raise AssertionError(
                "can't steal_bwd_input if this stage doesn't have backward"
            )
        if self.is_first:
            raise AssertionError("can't get bwd output if this stage is first")
        self._check_chunk_id(mb_index)
        return self.bwd_cache.pop(mb_index)

    def set_local_bwd_input(self, next_stage_bwd_outputs: tuple, mb_index: int) -> None:
        """Takes the gradients of the stage behind, which is of this process."""
        if not isinstance(next_stage_bwd_outputs, tuple):
            raise AssertionError(f"Expected tuple, got {type(next_stage_bwd_outputs)}")
        if not self.has_backward:
            raise AssertionError(
                "can't set bwd input if this stage doesn't have backward"
            )
        if self.is_last:
            raise AssertionError("can't set bwd input if this stage is last")
        places = [i for i, known in enumerate(self._outputs) if known.stages]
        self._gradients[mb_index] = {
            place: [local_of(grad)]
            for place, grad in zip(places, next_stage_bwd_outputs)
            if grad is not None
        }

    def clear_runtime_states(self) -> None:
        """Forgets what the last step left."""
        for kept in (self.fwd_cache, self.bwd_cache, self._activations):
            kept.clear()
        for kept in (self._gradients, self.backward_state, self.dw_runner):
            kept.clear()
        self.output_chunks.clear()
        self._reduced = False

    # --- passes ---

    def _received(self, chunk: int) -> list[Tensor]:
        """The inputs that came, as leaves."""
        wants = self.has_backward and is_grad_enabled()
        found = []
        for tensor, known in zip(self._activations.pop(chunk), self._inputs):
            whole = self._meshes.whole(tensor, known.meta)
            found.append(whole.requires_grad_(wants and known.meta.requires_grad))
        return found

    def _arguments(self, chunk: int, args: tuple, kwargs: dict) -> tuple:
        """Arguments of the module, and which are from other stages."""
        if self.is_first:
            return args, kwargs, []
        received = self._received(chunk)
        return tuple(received), kwargs, received

    def forward_maybe_with_nosync(self, *args, **kwargs):
        """Calls the module; data parallel ones begin to reduce nothing."""
        if isinstance(self.submod, DistributedDataParallel):
            with self.submod.no_sync():
                return self.submod(*args, **kwargs)
        return self.submod(*args, **kwargs)

    def forward_one_chunk(
        self,
        fwd_chunk_id: int,
        args: tuple,
        kwargs: dict | None = None,
        save_forward_output: bool = True,
    ):
        """The forward pass with a microbatch. Returns what the module does.

        Args:
            args: the first stage's; others have what they were sent.
            kwargs: what `step` was called with on this process.
            save_forward_output: whether the last stage keeps its results.

        RuntimeError: the pass fails, or results are not as the next stage takes
        them to be.
        """
        given, named, received = self._arguments(fwd_chunk_id, args, kwargs or {})
        try:
            output = self.forward_maybe_with_nosync(*given, **named)
        except Exception as error:
            raise RuntimeError(
                f"\n            {self.log_prefix} failed to run forward:\n"
                f"            args: {shown(given)}\n"
                f"            kwargs: {shown(named)}\n            "
            ) from error
        outputs = as_tuple(output)
        if self.is_last and save_forward_output:
            self.output_chunks.append(output)
        self._check_outputs(outputs)
        inputs = flatten_args(given) + flatten_args(named)
        self.fwd_cache[fwd_chunk_id] = (outputs, inputs, received)
        return output

    def _check_outputs(self, outputs: tuple) -> None:
        if self.is_last or self._outputs is None:
            return
        if len(outputs) != len(self._outputs):
            raise PipeliningMetadataError(
                f"Stage {self.stage_index} forward outputs: expected "
                f"{len(self._outputs)} tensors, got {len(outputs)}"
            )
        for i, (output, known) in enumerate(zip(outputs, self._outputs)):
            if not known.stages:
                continue
            diffs = known.meta.get_diff(TensorMeta.from_tensor(output))
            diffs = [text for text in diffs if not text.startswith("stride")]
            if diffs:
                raise PipeliningMetadataError(
                    f"Stage {self.stage_index} forward outputs[{i}]: {'; '.join(diffs)}"
                )

    def _output_grads(self, chunk: int) -> tuple:
        """The gradients that came; sums where several stages took a result."""
        came = self._gradients.pop(chunk, {})
        found: list = []
        for place, known in enumerate(self._outputs):
            total = None
            for buffer in came.get(place, ()):
                whole = self._meshes.whole(buffer, known.meta)
                total = whole if total is None else total + whole
            found.append(total)
        return tuple(found)

    def _pass(self, run: Callable, output, last: bool, whole: bool):
        """A backward pass, as data parallel modules want it."""
        module = self.submod
        if isinstance(module, DistributedDataParallel):
            if last and whole:
                module.reducer.prepare_for_backward(output)
                self._reduced = True
                return run()
            with module.no_sync():
                return run()
        if isinstance(module, FSDPModule):
            if not whole:
                raise NotImplementedError(
                    "pipelining: passes to inputs and to weights apart are not "
                    "implemented for fully_shard; take Schedule1F1B, ScheduleGPipe, "
                    "ScheduleInterleaved1F1B or ScheduleLoopedBFS"
                )
            module.set_requires_gradient_sync(last)
        return run()

    def backward_one_chunk(
        self,
        bwd_chunk_id: int,
        loss=None,
        full_backward: bool = True,
        last_backward: bool = False,
    ) -> None:
        """The backward pass with a microbatch, once.

        Args:
            loss: what the last stage begins with.
            full_backward: False for the pass to the inputs alone:
                `backward_weight_one_chunk` follows.
            last_backward: True of the step's last one, which reduces the
                gradients of data parallel modules.
        """
        if not self.has_backward:
            return
        self._check_chunk_id(bwd_chunk_id)
        outputs, inputs, received = self.fwd_cache.pop(bwd_chunk_id)
        output, grads = loss, None
        if not self.is_last:
            output, grads = outputs, self._output_grads(bwd_chunk_id)
        found: tuple = ()

        def whole():
            return stage_backward(output, grads, inputs)

        if full_backward or self.dw_builder:
            found = self._pass(whole, output, last_backward, True)
            if self.dw_builder and full_backward:
                self.dw_builder()()
            elif self.dw_builder:
                self.dw_runner[bwd_chunk_id] = self.dw_builder()
        else:
            groups = None
            if not self.is_first:
                output = (output,) if isinstance(output, Tensor) else output

                def to_inputs():
                    parameters = self.submod.parameters()
                    return stage_backward_input(output, grads, inputs, parameters)

                found, groups = self._pass(to_inputs, output, last_backward, False)
            # The first stage has no inputs to pass to: all is done for weights.
            self.backward_state[bwd_chunk_id] = (inputs, groups, output, grads)
            self.dw_runner[bwd_chunk_id] = lambda: None
        by_input = {id(x): grad for x, grad in zip(inputs, found)}
        self.bwd_cache[bwd_chunk_id] = tuple(by_input.get(id(x)) for x in received)
        if self.is_last and not self.is_first:
            for tensor in outputs:
                if isinstance(tensor, Tensor) and not tensor._is_view():
                    tensor.detach_()

    def backward_weight_one_chunk(
        self, bwd_chunk_id: int, last_backward: bool = False
    ) -> None:
        """The pass to the weights, after that to the inputs."""
        if not self.has_backward:
            return
        if bwd_chunk_id not in self.dw_runner:
            raise AssertionError(
                f"{self.log_prefix} Attempted to run backward_weight_one_chunk for "
                f"chunk {bwd_chunk_id} without first calling "
                "`backward_one_chunk(full_backward=False)`"
            )
        runner = self.dw_runner.pop(bwd_chunk_id)
        if self.dw_builder is not None:
            runner()
            return
        inputs, groups, output, grads = self.backward_state.pop(bwd_chunk_id)
        if groups is None:
            self._pass(
                lambda: stage_backward(output, grads, inputs),
                output,
                last_backward,
                True,
            )
            return
        self._pass(
            lambda: stage_backward_weight(self.submod.parameters(), groups),
            output,
            last_backward,
            False,
        )

    def scale_grads(self, grad_scale_factor: int) -> None:
        """Divides the gradients: of losses that are means, by the microbatches."""
        if grad_scale_factor != 1:
            for parameter in self.submod.parameters():
                if parameter.grad is not None:
                    with no_grad():
                        parameter.grad.div_(grad_scale_factor)

    def perform_reduce_grad(self, grad_scale_factor: int) -> None:
        """Ends a step: gradients that no pass has reduced are reduced, and all
        are scaled.
        """
        module = self.submod
        if isinstance(module, DistributedDataParallel) and not self._reduced:
            size = dist.get_world_size(module.process_group)
            for parameter in module.parameters():
                if parameter.grad is not None:
                    dist.all_reduce(parameter.grad, group=module.process_group)
                    parameter.grad.div_(size)
        self.scale_grads(grad_scale_factor)
