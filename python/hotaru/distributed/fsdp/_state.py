"""When the parameters of modules are whole, in forward and backward passes."""

from __future__ import annotations

from ... import _C, Tensor, is_grad_enabled
from ...autograd.graph import saved_tensors_hooks
from ...nn import Module
from ...utils import _pytree
from ._group import ParameterGroup
from ._policies import MixedPrecisionPolicy


class Kept:
    """Stands for a tensor that looks into a whole parameter, in a graph."""

    def __init__(self, state: State, index: int, tensor: Tensor) -> None:
        self.state, self.index = state, index
        self.geometry = (tuple(tensor.shape), tensor.stride(), tensor.storage_offset())
        self.dtype = tensor.dtype

    def tensor(self) -> Tensor:
        """That tensor; its parameter becomes whole if it is not, until the
        end of the pass.
        """
        group = self.state.group
        if _C._current_graph_task_id() != -1:
            self.state._note_pass()
        group.make_whole()
        whole = group.shared[self.index].memory
        return whole.as_strided(*self.geometry)


class Root:
    """Members that the states of one model share."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self.order: list[State] = []  # of forward passes
        self.passing = False  # a backward pass is under way
        self.is_last_backward = True


class State:
    """State of one module (or several that are one group)."""

    def __init__(
        self,
        modules: list[Module],
        group: ParameterGroup | None,
        policy: MixedPrecisionPolicy,
        reshard: bool | int | None,
    ) -> None:
        self.modules, self.group, self.policy = modules, group, policy
        self.reshard_option = reshard
        self.reshard_after_forward = bool(reshard)
        self.reshard_after_backward = True
        self.unshard_in_backward = True
        self.root: Root | None = None
        self.is_root = False
        self.forward_prefetch: list[State] = []
        self.backward_prefetch: list[State] | None = None
        self._hooks = None
        self._left = 0
        self._inside: set[int] = set()
        if group is not None:
            group.on_gradients = self._gradients_came

    # Forward.

    def _find_root(self) -> None:
        if self.root is not None:
            return
        self.root, self.is_root = Root(), True
        for module in self.modules[0].modules():
            state = getattr(module, "_fsdp_state", None)
            if state is not None and state not in self.root.states:
                state.root = self.root
                state.is_root = state is self
                self.root.states.append(state)
        for state in self.root.states:
            if state.reshard_option is None:
                state.reshard_after_forward = not state.is_root
        self._check_parameters()

    def _check_parameters(self) -> None:
        """ValueError for a parameter that two groups have taken."""
        names = {id(m): name for name, m in self.modules[0].named_modules()}
        seen: set[int] = set()
        for state in self.root.states:
            for each in state.group.shared if state.group is not None else ():
                if each.number not in seen:
                    seen.add(each.number)
                    continue
                place = each.places[0]
                prefix = names.get(id(place.module), "")
                name = f"{prefix}.{place.name}" if prefix else place.name
                raise ValueError(
                    f"Parameter '{name}' is shared with a parameter already "
                    "managed by another FSDP group. "
                    "For shared/tied parameters, use fully_shard([module_a, "
                    "module_b]) to place them in the same FSDP group."
                )

    def before(self, module: Module, args: tuple, kwargs: dict):
        """Makes the parameters whole; casts what the module gets."""
        self._find_root()
        if self._left == 0:
            self._left = len(self.modules)
        self._inside.add(id(module))
        if self.is_root and not self.root.passing:
            self.root.order.clear()
        if self.group is not None:
            self.group.make_whole()
            for state in self.forward_prefetch:
                if state.group is not None:
                    state.group.begin()
        if not self.root.passing and self not in self.root.order:
            self.root.order.append(self)
        if self._hooks is None and self._keeps_nothing():
            self._hooks = saved_tensors_hooks(self._pack, _unpack)
            self._hooks.__enter__()
        if self.policy.cast_forward_inputs and self.policy.param_dtype:
            args = _cast(args, self.policy.param_dtype)
            kwargs = _cast(kwargs, self.policy.param_dtype)
        return args, kwargs

    def _keeps_nothing(self) -> bool:
        # Nor where parameters stay whole behind the forward pass: the first
        # of two backward passes gives them up.
        return self.group is not None and is_grad_enabled()

    def _pack(self, tensor: Tensor):
        # Tensors of this module or one around it, whose hooks this one hides.
        for state in self.root.states:
            if state.group is None:
                continue
            held = state.group.holds(tensor)
            if held is not None:
                return Kept(state, state.group.shared.index(held), tensor)
        return tensor

    def after(self, module: Module, args: tuple, kwargs: dict, output):
        """Gives the whole parameters up; waits for the backward pass."""
        self._inside.discard(id(module))
        self._left -= 1
        if self._left > 0:
            return output
        if self._hooks is not None:
            self._hooks.__exit__(None, None, None)
            self._hooks = None
        if (
            self.group is not None
            and not self.root.passing
            and (self.reshard_after_forward or not is_grad_enabled())
        ):
            self.group.give_up()
        if self.policy.output_dtype is not None:
            output = _cast(output, self.policy.output_dtype)
        if is_grad_enabled():
            for leaf in _pytree.tree_leaves(output):
                if isinstance(leaf, Tensor) and leaf.requires_grad:
                    leaf.register_hook(self._before_backward)
        return output

    def left(self, module: Module) -> None:
        """After every forward pass: one that raised leaves nothing behind."""
        if id(module) not in self._inside:
            return
        self._inside.clear()
        if self.group is not None and not self.root.passing:
            self.group.give_up()
        if self._hooks is not None:
            self._hooks.__exit__(None, None, None)
            self._hooks = None
        self._left = 0

    # Backward.

    def _before_backward(self, grad: Tensor):
        self._note_pass()
        if self.group is not None and self.unshard_in_backward:
            self.group.make_whole()
            self._prefetch()
        return grad

    def _note_pass(self) -> None:
        if not self.root.passing:
            self.root.passing = True
            _C._queue_callback(self.root_finished)

    def _prefetch(self) -> None:
        if self.backward_prefetch is not None:
            following = self.backward_prefetch
        else:
            order = self.root.order
            place = order.index(self) if self in order else 0
            following = order[place - 1 : place] if place else []
        for state in following:
            if state.group is not None and state.unshard_in_backward:
                state.group.begin()

    def _gradients_came(self) -> None:
        """In the backward pass, when every parameter has its gradient."""
        self._note_pass()
        self.group.reduce()
        if self.reshard_after_backward:
            self.group.give_up()

    def root_finished(self) -> None:
        """At the end of a backward pass."""
        states = self.root.states
        for state in states:
            if state.group is None:
                continue
            state.group.reduce()
            if state.reshard_after_backward:
                state.group.give_up()
        for state in states:
            if state.group is not None:
                state.group.finish()
        self.root.passing = False


def _unpack(kept):
    return kept.tensor() if isinstance(kept, Kept) else kept


def _cast(values, dtype):
    def cast(x):
        if isinstance(x, Tensor) and x.is_floating_point():
            return x.to(dtype)
        return x

    return _pytree.tree_map(cast, values)
