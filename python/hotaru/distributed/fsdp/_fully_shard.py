"""`fully_shard`: modules whose parameters lie in parts on several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...nn import Module, Parameter
from ..device_mesh import DeviceMesh, init_device_mesh
from ..groups import get_world_size
from ..tensor.placement_types import Shard
from ._group import ParameterGroup
from ._policies import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy
from ._state import State

_classes: dict[type, type] = {}


class UnshardHandle:
    """Parameters that are about to be whole."""

    def __init__(self, states: Sequence[State]) -> None:
        self._states = list(states)

    def wait(self) -> None:
        """Returns when they are."""
        for state in self._states:
            if state.group is not None:
                state.group.make_whole()
        self._states.clear()


class FSDPModule:
    """A module that `fully_shard` was called for: what can be set of it."""

    def __new__(cls, *args, **kwargs):
        """An object of the class that the module was of: a new one is whole."""
        original = cls.__mro__[2]
        made = original.__new__(original, *args, **kwargs)
        made.__init__(*args, **kwargs)
        return made

    def _get_fsdp_state(self) -> State:
        return self._fsdp_state

    def _states(self, recurse: bool = True) -> list[State]:
        if not recurse:
            return [self._fsdp_state]
        found: list[State] = []
        for module in self.modules():
            state = getattr(module, "_fsdp_state", None)
            if state is not None and state not in found:
                found.append(state)
        return found

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Makes this module's own parameters whole; with `async_op` begins to,
        and what it returns waits for them.
        """
        state = self._fsdp_state
        if state.group is not None:
            state.group.begin(async_op)
        handle = UnshardHandle([state])
        if async_op:
            return handle
        handle.wait()
        return None

    def reshard(self) -> None:
        """Gives them up again."""
        group = self._fsdp_state.group
        if group is not None:
            group.give_up()

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Says whether the next backward pass is the last one before a step;
        all passes end with their gradients reduced here, so it changes nothing.
        """

    def set_requires_gradient_sync(
        self, requires_gradient_sync: bool, *, recurse: bool = True
    ) -> None:
        """Sets whether backward passes reduce gradients; without that they add
        up, whole, until one does.
        """
        for state in self._states(recurse):
            if state.group is not None:
                state.group.synchronize = requires_gradient_sync

    def set_requires_all_reduce(
        self, requires_all_reduce: bool, *, recurse: bool = True
    ) -> None:
        """Sets if the copies of a mesh of two dimensions reduce theirs, too."""
        for state in self._states(recurse):
            if state.group is not None:
                state.group.synchronize_copies = requires_all_reduce

    def set_reshard_after_forward(
        self, reshard_after_forward: bool, recurse: bool = True
    ) -> None:
        """Sets whether whole parameters are given up after the forward pass."""
        for state in self._states(recurse):
            state.reshard_option = reshard_after_forward
            state.reshard_after_forward = bool(reshard_after_forward)

    def set_reshard_after_backward(
        self, reshard_after_backward: bool, *, recurse: bool = True
    ) -> None:
        """Sets whether they are given up after the backward pass."""
        for state in self._states(recurse):
            state.reshard_after_backward = reshard_after_backward

    def set_unshard_in_backward(self, unshard_in_backward: bool) -> None:
        """Sets whether the backward pass makes them whole: not for a module of
        which it needs no parameter (an embedding).
        """
        self._fsdp_state.unshard_in_backward = unshard_in_backward

    def set_modules_to_forward_prefetch(self, modules: Iterable[FSDPModule]) -> None:
        """Modules whose parameters begin to be whole when this one's are, in
        the forward pass.
        """
        self._fsdp_state.forward_prefetch = [m._fsdp_state for m in modules]

    def set_modules_to_backward_prefetch(self, modules: Iterable[FSDPModule]) -> None:
        """The same of the backward pass; unless set, the module before it."""
        self._fsdp_state.backward_prefetch = [m._fsdp_state for m in modules]

    def set_gradient_divide_factor(self, factor: float) -> None:
        """By what the sum of the ranks' gradients is divided, in place of
        their number.
        """
        for state in self._states(False):
            if state.group is not None:
                state.group.divide_by = float(factor)

    set_reduce_scatter_divide_factor = set_gradient_divide_factor

    def set_force_sum_reduction_for_comms(self, enable: bool) -> None:
        """Sets if gradients are divided before a sum, not averaged by it."""
        for state in self._states():
            if state.group is not None:
                state.group.sum_only = enable

    def _apply(self, *args, **kwargs):
        self.reshard()
        return super()._apply(*args, **kwargs)


def fully_shard(
    module,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Callable | None = None,
    mp_policy: MixedPrecisionPolicy = MixedPrecisionPolicy(),  # noqa: B008
    offload_policy: OffloadPolicy = OffloadPolicy(),  # noqa: B008
    ignored_params: set[Parameter] | None = None,
    dp_mesh_dims=None,
):
    """Shares a module's parameters out among the ranks of a mesh, in place.

    Each rank keeps its rows (`Shard(0)`) of every parameter that no module
    inside has taken already; so call it for the blocks of a model, then for the
    model. A forward or backward pass makes a block's parameters whole when it
    comes to it, and gradients are averaged into DTensors in the backward pass.
    Optimizers are made after it, of `module.parameters()`.

    Args:
        module: a module, or several that are whole at the same time.
        mesh: of one dimension (all ranks unless given), or of two: copies, then
            the ranks that share. Parameters that are in parts already
            (`parallelize_module`) are shared out among those of another
            dimension of the same mesh.
        reshard_after_forward: whether whole parameters are given up between
            forward and backward pass; None: all but the outermost module's.

    Raises:
        ValueError: a mesh of more dimensions, a list or dict of modules, a
            parameter without dimensions, several dtypes without one to cast
            to.
        NotImplementedError: a `shard_placement_fn` that asks for another
            dimension than 0, a DTensor on another mesh, a number for
            `reshard_after_forward`, `dp_mesh_dims`.
    """
    modules = [module] if isinstance(module, Module) else list(module)
    for each in modules:
        _check_module(each)
    if dp_mesh_dims is not None:
        raise NotImplementedError(
            "fully_shard: give the mesh of the data parallel ranks "
            "(mesh['dp']) in place of dp_mesh_dims"
        )
    if not isinstance(reshard_after_forward, (bool, type(None))):
        raise NotImplementedError(
            "fully_shard: reshard_after_forward is True, False or None, not a "
            "number of ranks"
        )
    mesh = mesh or init_device_mesh("cpu", (get_world_size(),))
    if isinstance(offload_policy, CPUOffloadPolicy) and mesh.device_type != "cpu":
        raise NotImplementedError(
            f"fully_shard: parts stay on the mesh's {mesh.device_type}; leave "
            "offload_policy out, or give a mesh of CPUs"
        )
    if mesh.ndim not in (1, 2):
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {mesh}")
    params = _own_parameters(modules, ignored_params or set())
    for param in params:
        _check_parameter(param, shard_placement_fn)
    group = ParameterGroup(params, modules, mesh, mp_policy) if params else None
    state = State(modules, group, mp_policy, reshard_after_forward)
    for each in modules:
        _prepare(each, state)
    return module


def _check_module(module) -> None:
    from ...nn import ModuleDict, ModuleList

    if isinstance(module, (ModuleList, ModuleDict)):
        raise ValueError(
            f"fully_shard does not support containers that do not implement "
            f"forward: {module}"
        )
    if not isinstance(module, Module):
        raise ValueError(f"fully_shard: {type(module).__name__} is no module")
    if isinstance(module, FSDPModule):
        raise AssertionError(
            f"Each distinct composable distributed API can only be applied to "
            f"a module once: fully_shard was, to {type(module).__name__}"
        )


def _check_parameter(param: Parameter, placement_of: Callable | None) -> None:
    if param.dim() == 0:
        raise ValueError(
            "fully_shard doesn't support scalar parameters. "
            "Change it to a 1D tensor with numel equal to 1."
        )
    placed = placement_of(param) if placement_of is not None else None
    if placed is not None and placed != Shard(0):
        raise NotImplementedError(
            f"fully_shard: parameters are cut along dimension 0, not {placed}"
        )


def _own_parameters(modules, ignored: set) -> list[Parameter]:
    """Parameters that no module inside has taken, in order."""
    skipped = {id(p) for p in ignored}
    found: dict[int, Parameter] = {}

    def visit(module: Module, outermost: bool) -> None:
        if not outermost and isinstance(module, FSDPModule):
            return
        for param in module._parameters.values():
            if param is not None and id(param) not in skipped:
                found.setdefault(id(param), param)
        for child in module.children():
            visit(child, False)

    for module in modules:
        visit(module, True)
    taken = {
        id(each.sharded)
        for module in modules
        for inner in module.modules()
        if isinstance(inner, FSDPModule) and inner._fsdp_state.group is not None
        for each in inner._fsdp_state.group.shared
    }
    return [p for key, p in found.items() if key not in taken]


def _prepare(module: Module, state: State) -> None:
    kind = type(module)
    if kind not in _classes:
        _classes[kind] = type(f"FSDP{kind.__name__}", (FSDPModule, kind), {})
    module.__class__ = _classes[kind]
    object.__setattr__(module, "_fsdp_state", state)
    module.register_forward_pre_hook(state.before, prepend=True, with_kwargs=True)
    module.register_forward_hook(state.after, with_kwargs=True)
    module.register_forward_hook(
        lambda mod, args, output: state.left(mod), always_call=True
    )
    module.register_state_dict_pre_hook(_reshard_all)
    module.register_load_state_dict_pre_hook(_reshard_all)


def _reshard_all(module: Module, *args) -> None:
    """Before values are read or written: the parts are what counts."""
    for each in module.modules():
        if isinstance(each, FSDPModule):
            each.reshard()


def register_fsdp_forward_method(module: Module, method_name: str) -> None:
    """Has another method of a module that is shared out find whole parameters,
    as its `forward` does. Nothing for another module.
    """
    if not isinstance(module, FSDPModule):
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    method, state = getattr(module, method_name), module._fsdp_state

    def wrapped(*args, **kwargs):
        args, kwargs = state.before(module, args, kwargs)
        try:
            output = method(*args, **kwargs)
            return state.after(module, args, kwargs, output)
        finally:
            state.left(module)

    object.__setattr__(module, method_name, wrapped)
