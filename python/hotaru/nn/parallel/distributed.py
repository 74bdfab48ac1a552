"""A module whose gradients are averaged over the processes of a group."""

from __future__ import annotations

import contextlib
import inspect
import itertools

from ... import device, distributed, is_grad_enabled
from ...distributed import reducer
from ...distributed.algorithms.ddp_comm_hooks import default_hooks
from ...distributed.algorithms.join import Join, Joinable
from ...distributed.algorithms.join_module import JoinModule, common_rank, take_part
from ...futures import Future
from ..modules import Embedding, EmbeddingBag, Module
from .data_parallel import index_of, moved

_MB = 1 << 20


def _group_of(process_group, device_mesh):
    """The group that is meant: given, a mesh's or all processes."""
    if process_group is not None and device_mesh is not None:
        raise RuntimeError(
            "Cannot specify both process_group and device_mesh arguments."
        )
    if device_mesh is not None:
        process_group = device_mesh.get_group(mesh_dim=0)
    group = process_group or distributed.group.WORLD
    if group is None:
        distributed.get_rank()  # raises, and says what is missing
    return group


class DistributedDataParallel(Module):
    """Runs a module; every process ends a backward pass with equal gradients.

    They are the averages over the processes of `process_group`, each of which
    made the same module, used it the same way, and has its own part of the
    data. Gradients travel in buckets of `bucket_cap_mb` (25; the greatest of
    `bucket_cap_mb_list`), the first one being 1 MB, while the backward pass goes
    on. With `gradient_as_bucket_view` they are views of the buckets and not
    copied back. Memory of buckets is taken when it is first needed, with
    `lazy_bucket_allocation` and without.

    Parameters and buffers begin as those of the group's first process
    (`init_sync`), and buffers are its own again before each forward pass
    (`forward_sync_buffers`; with `broadcast_buffers=False`, its old name, they
    are each process's own from the beginning). Parameters without a gradient
    on some process are found with `find_unused_parameters`. `device_ids` names
    the one GPU that inputs are moved to, where the module is; without it they
    stay where they are.

    Raises:
        ValueError: there is no process group; see `distributed`.
        RuntimeError: no parameter needs a gradient; the processes' modules
            differ; a parameter had no gradient in the last backward pass.
    """

    def __init__(
        self,
        module: Module,
        device_ids=None,
        output_device=None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params=None,
        param_to_hook_all_reduce=None,
        mixed_precision=None,
        device_mesh=None,
        skip_all_reduce_unused_params=False,
        bucket_cap_mb_list: list[int] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
        lazy_bucket_allocation: bool = False,
    ) -> None:
        super().__init__()
        if mixed_precision is not None:
            raise NotImplementedError(
                "DistributedDataParallel: mixed_precision is not there; use "
                "autocast, or the hook bf16_compress_hook for what travels"
            )
        self.process_group = _group_of(process_group, device_mesh)
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't "
                "have any parameters that require a gradient."
            )
        self.device_ids = _devices_of(module, device_ids) or None
        self.device = next(module.parameters()).device
        self.device_type = self.device.type
        self.module = module
        self.dim = dim
        self.output_device = None
        if self.device_ids:
            self.output_device = index_of(
                self.device_ids[0] if output_device is None else output_device
            )
        if bucket_cap_mb_list:
            bucket_cap_mb = max(bucket_cap_mb_list)
        # An old argument that says it of both the beginning and each pass.
        at_first = True
        if forward_sync_buffers is None:
            at_first = forward_sync_buffers = broadcast_buffers is not False
        self.forward_sync_buffers = forward_sync_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self._iteration, self._error = 0, ""
        self._join_config = None  # of distributed.algorithms.join
        self.bucket_bytes_cap = int(
            (25 if bucket_cap_mb is None else bucket_cap_mb) * _MB
        )
        ignored = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self.parameters_to_ignore = ignored
        self._first_bytes = reducer.FIRST_BUCKET_BYTES
        if bucket_cap_mb is not None:
            self._first_bytes = min(self._first_bytes, self.bucket_bytes_cap)
        names = self._take_parameters()
        if init_sync:
            reducer.verify_shapes(self._parameters_taken, self.process_group)
            self._sync_module_states(at_first)
        self._make_reducer(names)
        if static_graph:
            self._set_static_graph()

    def _take_parameters(self) -> dict[int, str]:
        """Takes those to average, and the buffers; names by their index."""
        ignored = self.parameters_to_ignore
        taken = [
            (name, p)
            for name, p in self.module.named_parameters()
            if p.requires_grad and name not in ignored
        ]
        self._parameters_taken = [p for _, p in taken]
        self._buffers_taken = [
            b for name, b in self.module.named_buffers() if name not in ignored
        ]
        return {i: name for i, (name, _) in enumerate(taken)}

    def _make_reducer(self, names: dict[int, str]) -> None:
        self.reducer = reducer.Reducer(
            self._parameters_taken,
            self.process_group,
            self.bucket_bytes_cap,
            self._first_bytes,
            self.find_unused_parameters,
            self.gradient_as_bucket_view,
            names,
            _sparse_ones(self.module, self._parameters_taken),
        )

    def _set_static_graph(self) -> None:
        """The same parameters have gradients in every iteration.

        RuntimeError after the first one.
        """
        with self._noting_errors():
            if self.reducer.began:
                raise RuntimeError(
                    "self.logger.iteration == 0: _set_static_graph() should be "
                    "called before training loop starts and after Distributed"
                    "Parallel is constructed."
                )
        self.static_graph = self.reducer.static_graph = True

    @property
    def broadcast_buffers(self) -> bool:
        """As `forward_sync_buffers`, by its old name."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    def _sync_module_states(self, buffers: bool) -> None:
        ignored = self.parameters_to_ignore
        states = [
            t
            for name, t in itertools.chain(
                self.module.named_parameters(),
                self.module.named_buffers() if buffers else (),
            )
            if name not in ignored
        ]
        if states:
            _broadcast(states, self.process_group)

    def _sync_buffers(self) -> None:
        if (
            self.broadcast_buffers
            and self._buffers_taken
            and self.require_forward_param_sync
            and self.process_group.size() > 1
        ):
            root = 0
            if self._join_config is not None and self._join_config.enable:
                root = common_rank(self, True)
            _broadcast(self._buffers_taken, self.process_group, root)

    def register_comm_hook(self, state, hook) -> None:
        """Reduces buckets by hook(state, GradBucket) -> Future[Tensor].

        Raises:
            TypeError: it cannot be called.
            RuntimeError: there is a hook already.
        """
        with self._noting_errors():
            _check_hook(hook)
            if self.reducer.hook is not None:
                raise RuntimeError(
                    "register_comm_hook or register_builtin_comm_hook can only "
                    "be called once."
                )
        self.reducer.hook = lambda bucket: hook(state, bucket)

    def _register_builtin_comm_hook(self, comm_hook_type) -> None:
        """The hook that a `distributed.BuiltinCommHookType` names."""
        kinds = reducer.BuiltinCommHookType
        hooks = {
            kinds.ALLREDUCE: default_hooks.allreduce_hook,
            kinds.FP16_COMPRESS: default_hooks.fp16_compress_hook,
        }
        self.register_comm_hook(self.process_group, hooks[comm_hook_type])

    @contextlib.contextmanager
    def _noting_errors(self):
        """Errors raised inside are told by `_get_ddp_logging_data`, too."""
        try:
            yield
        except Exception as error:
            self._error = str(error)
            raise

    @contextlib.contextmanager
    def no_sync(self):
        """Gradients of this process alone, until the next pass outside."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, *inputs, **kwargs):
        """Returns the module's result."""
        syncs = is_grad_enabled() and self.require_backward_grad_sync
        if self._join_config is not None and self._join_config.enable:
            take_part(self, syncs)
        if syncs:
            self.reducer._rebuild_buckets()
        self._sync_buffers()
        if self.device_ids:
            place = device("cuda", self.device_ids[0])
            inputs, kwargs = moved(inputs, place), moved(kwargs, place)
        output = self.module(*inputs, **kwargs)
        if syncs:
            self._iteration += 1
            self.require_forward_param_sync = True
            with self._noting_errors():
                self.reducer.prepare_for_backward(output)
        else:
            self.require_forward_param_sync = False
            self.reducer.unprepare()
        return output

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(
        module: Module, params_and_buffers_to_ignore
    ) -> None:
        """Names of the module that no process tells another."""
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ):
        """A context around a loop over different amounts of data.

        Gradients are divided by the number of processes, or by how many still
        have data. See `distributed.algorithms.join`.
        """
        return Join(
            [self],
            enable,
            throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )

    def join_hook(self, **kwargs):
        """The module's collectives, for a process without data."""
        divides = kwargs.get("divide_by_initial_world_size", True)
        return JoinModule(self, divides)

    @property
    def join_device(self):
        """The module's."""
        return self.device

    def __getstate__(self) -> dict:
        """Without what is of this world of processes."""
        if self.process_group is not distributed.group.WORLD:
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP "
                "with the default process group. "
                "That is, when you have called init_process_group and have not "
                "passed process_group argument to DDP constructor"
            )
        state = dict(self.__dict__)
        for name in ("process_group", "reducer", "_parameters_taken", "_buffers_taken"):
            del state[name]
        return state

    def __setstate__(self, state: dict) -> None:
        """In the default group that there is."""
        super().__setstate__(state)
        self.process_group = distributed.group.WORLD
        self._make_reducer(self._take_parameters())
        if self.static_graph:
            self.reducer.static_graph = True

    @property
    def join_process_group(self):
        """Whose gradients are averaged."""
        return self.process_group

    def _get_ddp_logging_data(self) -> dict:
        """Fields of PyTorch's logging of a module, as far as known here."""
        return {
            "iteration": self._iteration,
            "has_error": int(bool(self._error)),
            "error": self._error,
            "world_size": self.process_group.size(),
            "rank": self.process_group.rank(),
            "backend_name": self.process_group.name(),
            "bucket_cap_bytes": self.bucket_bytes_cap,
            "find_unused_parameters": self.find_unused_parameters,
            "gradient_as_bucket_view": self.gradient_as_bucket_view,
            "static_graph": self.static_graph,
            "num_parameter_tensors": len(self._parameters_taken),
            "bucket_sizes": [
                sum(p.nbytes for p in b.parameters) for b in self.reducer.buckets
            ],
        }


# Methods that `Join` asks for are there.
Joinable.register(DistributedDataParallel)


def _sparse_ones(module: Module, parameters) -> frozenset[int]:
    """Which of the parameters get sparse gradients: some of embeddings."""
    found = {
        id(m.weight)
        for m in module.modules()
        if isinstance(m, (Embedding, EmbeddingBag)) and m.sparse
    }
    return frozenset(i for i, p in enumerate(parameters) if id(p) in found)


def _check_hook(hook) -> None:
    """As far as it says by annotations what it takes and gives."""
    if not callable(hook):
        raise TypeError("Communication hook must be callable.")
    try:
        signature = inspect.signature(hook)
    except (TypeError, ValueError):  # made in C
        return
    none = inspect.Parameter.empty
    bucket = signature.parameters.get("bucket")
    if bucket is not None and bucket.annotation not in (
        none,
        reducer.GradBucket,
        "GradBucket",
        "dist.GradBucket",
    ):
        raise ValueError(
            "Communication hook: bucket annotation should be dist.GradBucket."
        )
    given = signature.return_annotation
    plain = getattr(given, "__origin__", given)
    if plain not in (none, Future) and "Future" not in str(plain):
        raise ValueError(
            "Communication hook: return annotation should be "
            f"torch.futures.Future[torch.Tensor], not {given}"
        )


def _broadcast(tensors, group, root: int = 0) -> None:
    """One process's to all."""
    reducer.broadcast_coalesced(tensors, group, root)


def _devices_of(module: Module, device_ids) -> list[int]:
    """The one GPU that a module is on and inputs go to, as it was named."""
    kinds = {p.device.type for p in module.parameters()}
    if len(kinds) > 1:
        raise ValueError(
            "DistributedDataParallel's input module must be on the same type "
            f"of devices, but input module parameters locate in {kinds}."
        )
    if not device_ids:
        return []
    if len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    places = {p.device for p in module.parameters()}
    if kinds == {"cpu"} or len(places) > 1:
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments "
            "only work with single-device/multiple-device GPU modules or CPU "
            f"modules, but got device_ids {device_ids}, and module parameters "
            f"{places}."
        )
    return [index_of(device_ids[0])]
