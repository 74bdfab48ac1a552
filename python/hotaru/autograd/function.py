"""Differentiable functions written in Python.

The native side provides the base of contexts, `_C._FunctionBase`, and

    _C._make_python_node(
        name, context, inputs, outputs, differentiable, dirty, saved
    )

which makes a node called `name` whose edges lead to `inputs` (tensors), makes
it the `grad_fn` of every output whose entry of `differentiable` is true, gives
outputs marked `dirty` (inputs changed in place) their new history, keeps the
tensors `saved`, and returns the outputs as a tuple. From then on `context` is
what stands for the node in Python: the engine calls `context._run(grads)` with
one gradient (or None) an output and takes one (or None) an input back, and
`context._saved` gives the tensors.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import warnings

from .. import _C, Tensor, is_grad_enabled, no_grad, zeros, zeros_like
from .._own_names import is_own
from . import _pushing, _tangent_rules, forward_ad
from ._transforms import _are_functorch_transforms_active, note_applied

_NO_BACKWARD = (
    "You must implement either the backward or vjp method for your custom "
    "autograd.Function to use it with backward mode AD."
)
_BOTH = (
    "Implementing both 'backward' and 'vjp' for a custom Function is not "
    "allowed. You should only implement one of them."
)
_TWICE = (
    b"trying to differentiate twice a function that was marked with "
    b"@once_differentiable"
)
_LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. "
    "Please use new-style autograd function with static forward method. "
    "(Example: https://pytorch.org/docs/stable/autograd.html"
    "#torch.autograd.Function)"
)
_DIRTY_LOST = (
    "Some elements marked as dirty during the forward method were not returned "
    "as output. The inputs that are modified inplace must all be outputs of "
    "the Function."
)
_numbers = itertools.count()


class FunctionCtx(_C._FunctionBase):
    """State `forward` leaves to `backward`; attributes may be set freely."""

    materialize_grads = True
    needs_input_grad: tuple[bool, ...] = ()
    to_save: tuple | None = None
    non_differentiable: tuple | None = None
    dirty_tensors: tuple | None = None
    saved_for_forward: tuple | None = None
    output_grad_dtypes: tuple | None = None
    _materialize_non_diff_grads = True

    @property
    def input_grad_buffers(self) -> tuple[None, ...]:
        """For each argument of `forward` the buffer in which gradients of it
        add up: None, as here each node's gradient is its own until it is added.
        """
        return (None,) * len(self.needs_input_grad)

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps inputs, outputs or intermediate values for `backward`.

        To be called once, in `forward` or `setup_context`. The call that ran
        it raises TypeError for what is no tensor and not None.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for `jvp`, in `saved_tensors` there."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Says that `forward` changed these inputs in place."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Says that these outputs have no gradient."""
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs) -> None:
        """Deprecated, and without effect: views are noticed by themselves."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages "
            "are automatically tracked. Note that calls to `set_()` are not "
            "tracked",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Chooses zeros (default) or None as gradients of unused outputs."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of "
                "arguments - got (), but expected (bool)"
            )
        self.materialize_grads = value

    def set_output_grad_dtype(self, *dtypes) -> None:
        """Says of which dtype `backward` gets the gradient of each output.

        One for each value that `forward` returns: a dtype, which is only for
        tensors with gradients, or None for any. Without this call it is the
        output's own. What does not fit is an error of the call that ran
        `forward`.

        RuntimeError: called twice.
        """
        if self.output_grad_dtypes is not None:
            raise RuntimeError("set_output_grad_dtype can only be called once")
        self.output_grad_dtypes = dtypes


class BackwardCFunction(FunctionCtx):
    """A context that is the node of one call of a `Function`."""

    _forward_cls: type
    _is_tensor: tuple[bool, ...] = ()
    _outputs: tuple = ()
    #: Facts of the arguments that tangents need, where there is a `jvp`.
    _arguments: tuple | None = None
    #: While `jvp` runs.
    _for_jvp = False

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """Tensors that `save_for_backward` kept.

        RuntimeError if the graph was freed, or a tensor changed in place since.
        """
        if self._for_jvp:
            return self.saved_for_forward or ()
        if not self._recorded:
            return ()
        values = self._saved
        if self._forward_cls.clear_saved_tensors_on_access:
            self._release()
        return values

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The same under its old name."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.saved_tensors

    def apply(self, *grads):
        """Calls the function's `backward`.

        Raises:
            RuntimeError: there is none, or two (`backward` and `vjp`).
        """
        function = self._forward_cls
        backward, vjp = function.backward, function.vjp
        if vjp is not Function.vjp:
            if backward is not Function.backward:
                raise RuntimeError(_BOTH)
            backward = vjp
        return backward(self, *grads)

    def apply_jvp(self, *args):
        """Calls the function's `jvp`.

        RuntimeError: see `Function.jvp`.
        """
        before, self._for_jvp = self._for_jvp, True
        try:
            return self._forward_cls.jvp(self, *args)
        finally:
            self._for_jvp = before

    def _run(self, grads: tuple) -> tuple:
        if self._arguments is not None and _pushing.is_pushing():
            return self._per_tensor(_pushing.gradients(self, self._arguments, grads))
        result = self.apply(*self._full(grads))
        return self._per_tensor(result if isinstance(result, tuple) else (result,))

    def _full(self, grads: tuple) -> list:
        """One gradient an output: None for what is no tensor, zeros for none
        that arrived, where they are asked for.
        """
        full = []
        for output, grad in zip(self._outputs, grads):
            if grad is None and output is not None and self.materialize_grads:
                shape, dtype, device, differentiable = output
                if differentiable or self._materialize_non_diff_grads:
                    grad = (
                        zeros_like(shape)
                        if isinstance(shape, Tensor)
                        else zeros(shape, dtype=dtype, device=device)
                    )
            full.append(grad)
        return full

    def _per_tensor(self, result: tuple) -> tuple:
        """The gradients of the tensor arguments, after checking all of them."""
        name = self.name()
        count = len(self._is_tensor)
        if len(result) > count and all(extra is None for extra in result[count:]):
            result = result[:count]
        if len(result) != count:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients "
                f"(expected {count}, got {len(result)})"
            )
        for i, (grad, is_tensor) in enumerate(zip(result, self._is_tensor)):
            if grad is None:
                continue
            if not is_tensor:
                raise RuntimeError(
                    f"function {name} returned a gradient different than None "
                    f"at position {i + 1}, but the corresponding forward input "
                    "was not a Variable"
                )
            if not isinstance(grad, Tensor):
                raise RuntimeError(
                    f"expected Variable or None (got {type(grad).__name__})"
                )
        return tuple(g for g, is_tensor in zip(result, self._is_tensor) if is_tensor)


class FunctionMeta(type):
    """Gives each `Function` its class of nodes, `_backward_cls`."""

    def __init__(cls, name: str, bases: tuple, attrs: dict) -> None:
        cls._backward_cls = type(
            f"{name}Backward",
            (BackwardCFunction,),
            {"_forward_cls": cls, "__module__": BackwardCFunction.__module__},
        )
        cls._autograd_function_id = next(_numbers)
        super().__init__(name, bases, attrs)


class Function(metaclass=FunctionMeta):
    """Base class of differentiable functions written in Python.

    Subclasses define the static methods `forward(ctx, *args)`, or
    `forward(*args)` with `setup_context(ctx, inputs, output)`, and
    `backward(ctx, *grad_outputs)` (or `vjp`, its other name), which returns one
    gradient (or None) an argument. They are called through `apply`; tensors
    inside of lists are not seen.
    """

    generate_vmap_rule = False
    #: Frees what was saved as soon as `backward` has asked for it.
    clear_saved_tensors_on_access = False

    def __init__(self, *args, **kwargs) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd "
            "functions are all static, so you should invoke them on the class "
            "itself. Instantiating an autograd function will raise an error in "
            "a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError(_LEGACY)

    @staticmethod
    def forward(*args, **kwargs):
        """Computes the result."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple, output) -> None:
        """Saves what `backward` needs, where `forward` takes no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs):
        """Computes the gradients of the arguments."""
        raise NotImplementedError(_NO_BACKWARD)

    #: Another name of `backward`.
    vjp = backward

    @staticmethod
    def jvp(ctx: FunctionCtx, *grad_inputs):
        """Computes the tangents of the outputs."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function "
            "to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info, in_dims: tuple, *args):
        """Computes the result for arguments with a further dimension."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the "
            "vmap staticmethod or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs `forward` and records it if a gradient is wanted.

        Raises:
            TypeError: saved was what is no tensor; an argument that can be
                given by its name only, and so is no input.
            RuntimeError: a tensor marked as dirty was not returned.
        """
        separate = cls.setup_context is not Function.setup_context
        if not separate and _are_functorch_transforms_active():
            _refuse_old(cls)
        if separate:
            args = bound_arguments(cls.forward, args, kwargs)
        elif kwargs:
            args = _in_order(cls.forward, (None, *args), kwargs)[1:]
        needs = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        ctx = cls._backward_cls()
        ctx.needs_input_grad = needs
        recording = any(needs) and is_grad_enabled()
        dual = forward_ad._current_level >= 0 and any(
            isinstance(a, Tensor) and _C._carries_tangent(a) for a in args
        )
        tangents = _tangents(args) if dual else []
        with no_grad(), _only_values(dual):
            if separate:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
            else:
                result = cls.forward(ctx, *args)
        many = isinstance(result, tuple)
        outputs = list(result) if many else [result]
        if _is_traced((*args, *outputs)):
            return result  # the program has what forward did
        _check_marks(ctx, outputs)
        _check_grad_dtypes(ctx, outputs)
        _separate(outputs, args, ctx)
        dirty = {id(tensor) for tensor in ctx.dirty_tensors or ()}
        if recording:
            _record(cls, ctx, args, outputs)
        _mark_views(outputs, args, ctx)
        if dual:
            tangents = _materialized(ctx, args, tangents)
            _push_forward(cls, ctx, args, tangents, outputs, dirty)
        ctx.to_save = ctx.non_differentiable = ctx.dirty_tensors = None
        found = tuple(outputs) if many else outputs[0]
        if separate and not dirty and cls.vmap is not Function.vmap:
            note_applied(cls, args, found)
        return found


def _refuse_old(cls) -> None:
    """RuntimeError, within a transform of `func`, for a class of a program's
    whose `forward` is given the context.
    """
    if not is_own(cls.__module__):
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms "
            "(vmap, grad, jvp, jacrev, ...), it must override the "
            "setup_context staticmethod. For more details, please see "
            "https://pytorch.org/docs/main/notes/extending.func.html"
        )


def _is_traced(args: tuple) -> bool:
    """True if stand-ins of `jit.trace` are among the values."""
    return any(
        isinstance(arg, Tensor) and not issubclass(type(arg), Tensor) for arg in args
    )


def _only_values(dual: bool):
    """Where `forward` runs on dual numbers: tangents are for `jvp`."""
    if dual:
        return forward_ad._set_fwd_grad_enabled(False)
    return contextlib.nullcontext()


def _tangents(args: tuple) -> list:
    """The tangent (or None) of each argument."""
    return [
        forward_ad.unpack_dual(a).tangent if isinstance(a, Tensor) else None
        for a in args
    ]


def _materialized(ctx: FunctionCtx, args: tuple, tangents: list) -> list:
    """Zeros for tensors without a tangent, where they are asked for."""
    if not ctx.materialize_grads:
        return tangents
    return [
        zeros(a.shape, dtype=a.dtype, device=a.device)
        if t is None
        and isinstance(a, Tensor)
        and (a.is_floating_point() or a.is_complex())
        else t
        for a, t in zip(args, tangents)
    ]


def _push_forward(
    cls: type, ctx, args: tuple, tangents: list, outputs: list, dirty: set[int]
) -> None:
    """Gives the outputs the tangents that `jvp` makes of the arguments'."""
    given = _tangent_rules.given_to(args, tangents)
    ctx._for_jvp = True
    try:
        found = cls.jvp(ctx, *tangents)
    finally:
        ctx._for_jvp = False
    found = found if isinstance(found, tuple) else (found,)
    _tangent_rules.check_count(found, outputs)
    constant = {id(tensor) for tensor in ctx.non_differentiable or ()}
    for place, (output, tangent) in enumerate(zip(outputs, found)):
        if not isinstance(output, Tensor):
            continue
        written = id(output) in dirty
        differentiable = id(output) not in constant and (
            output.is_floating_point() or output.is_complex()
        )
        _tangent_rules.check_tangent(
            place, output, tangent, given, written, differentiable
        )
        if tangent is not None:
            _C._give_tangent(output, tangent, written)


def bound_arguments(forward, args: tuple, kwargs: dict) -> tuple:
    """The arguments of `forward` in their order, with its defaults."""
    bound, _ = _bound(forward, args, kwargs)
    return bound.args


def _in_order(forward, args: tuple, kwargs: dict) -> tuple:
    """The arguments of `forward` in their order, up to the last one that is
    given: each of them counts as an input, which has a gradient.
    """
    bound, given = _bound(forward, args, kwargs)
    places = [i for i, name in enumerate(bound.arguments) if name in given]
    count = max(places[-1] + 1, len(args))
    return bound.args[:count]


def unexpected(name: str) -> TypeError:
    return TypeError(f"forward() got an unexpected keyword argument '{name}'")


def _bound(forward, args: tuple, kwargs: dict):
    """The arguments of `forward` with its defaults, and the names of those
    that are given. TypeError for one that has no place among the inputs.
    """
    import inspect  # slow to import

    signature = inspect.signature(forward)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"forward() {error}") from None
    given = set(bound.arguments)
    for name in kwargs:
        parameter = signature.parameters.get(name)
        if parameter is None or parameter.kind is parameter.KEYWORD_ONLY:
            raise unexpected(name)
    bound.apply_defaults()
    return bound, given


def _check_marks(ctx: FunctionCtx, outputs: list) -> None:
    for i, tensor in enumerate(ctx.to_save or ()):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                "save_for_backward can only save variables, but argument "
                f"{i} is of type {type(tensor).__name__}"
            )
    for tensor in ctx.non_differentiable or ():
        if not isinstance(tensor, Tensor):
            raise RuntimeError(
                "mark_non_differentiable only accepts variable arguments, but "
                f"got {type(tensor).__name__}"
            )
    returned = {id(output) for output in outputs}
    for tensor in ctx.dirty_tensors or ():
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "mark_dirty can only accept variables, but argument is of type "
                f"{type(tensor).__name__}"
            )
        if id(tensor) not in returned:
            raise RuntimeError(_DIRTY_LOST)


def _separate(outputs: list, args: tuple, ctx: FunctionCtx) -> None:
    """Replaces outputs that are untouched inputs by views of them, and those
    that are marked as non-differentiable by what has no history.
    """
    inputs = {id(arg) for arg in args if isinstance(arg, Tensor)}
    dirty = {id(tensor) for tensor in ctx.dirty_tensors or ()}
    constant = {id(tensor) for tensor in ctx.non_differentiable or ()}
    for i, output in enumerate(outputs):
        if id(output) not in inputs:
            continue
        if id(output) in constant:
            if output.requires_grad or id(output) not in dirty:
                outputs[i] = output.detach()
                ctx.non_differentiable = (*ctx.non_differentiable, outputs[i])
        elif id(output) not in dirty:
            with no_grad():
                outputs[i] = output.view_as(output)


def _mark_views(outputs: list, args: tuple, ctx: FunctionCtx) -> None:
    """Has writes into what are views of the arguments refused."""
    dirty = {id(tensor) for tensor in ctx.dirty_tensors or ()}
    tensors = [o for o in outputs if isinstance(o, Tensor)]
    given = [a for a in args if isinstance(a, Tensor)]
    for output in tensors:
        if id(output) in dirty:
            continue
        # Outputs with an argument's memory are not asked: a capture would take
        # that for a question of the program's.
        if any(_C._shares_storage(output, a) for a in given) or output._is_view():
            _C._mark_view(output, len(tensors) > 1)


def _differentiable(ctx: FunctionCtx, outputs: list) -> tuple[bool, ...]:
    """Tells which outputs are tensors with gradients."""
    no_gradient = {id(tensor) for tensor in ctx.non_differentiable or ()}
    return tuple(
        isinstance(o, Tensor)
        and id(o) not in no_gradient
        and (o.is_floating_point() or o.is_complex())
        for o in outputs
    )


def _check_grad_dtypes(ctx: FunctionCtx, outputs: list) -> None:
    """RuntimeError for what `set_output_grad_dtype` was not to be given."""
    dtypes = ctx.output_grad_dtypes
    if dtypes is None:
        return
    if len(dtypes) != len(outputs):
        raise RuntimeError(
            "set_output_grad_dtype expected the number of declarations to match "
            f"the number of outputs: the Function returned {len(outputs)} values "
            f"but {len(dtypes)} declarations were provided"
        )
    for i, (dtype, has) in enumerate(zip(dtypes, _differentiable(ctx, outputs))):
        if dtype is None:
            continue
        if not isinstance(dtype, _C.dtype):
            raise RuntimeError(
                "set_output_grad_dtype expects each declaration to be a "
                f"torch.dtype or None, but got {type(dtype).__name__}"
            )
        if not has:
            raise RuntimeError(
                f"set_output_grad_dtype: got a concrete dtype for output {i}, but "
                "that output is not a differentiable tensor (it is a non-tensor, "
                "was marked non-differentiable, or has a non-differentiable "
                f"dtype). Pass None for output {i} instead."
            )
        if not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError(
                f"set_output_grad_dtype: {dtype} of output {i} is no dtype of gradients"
            )


def _record(cls: type, ctx: FunctionCtx, args: tuple, outputs: list) -> None:
    """Makes `ctx` the node of the outputs; what is no tensor counts as one."""
    dirty = {id(tensor) for tensor in ctx.dirty_tensors or ()}
    tensors = [o if isinstance(o, Tensor) else None for o in outputs]
    differentiable = _differentiable(ctx, outputs)
    ctx._outputs = tuple(
        None
        if t is None
        # A nested tensor stands for its own sizes.
        else (
            t.detach() if _C._answering_class(t).is_nested is True else t.shape,
            t.dtype,
            t.device,
            d,
        )
        for t, d in zip(tensors, differentiable)
    )
    ctx._is_tensor = tuple(isinstance(arg, Tensor) for arg in args)
    if cls.jvp is not Function.jvp:
        ctx._arguments = _pushing.described(args)
    results = _C._make_python_node(
        f"{cls.__name__}Backward",
        ctx,
        tuple(arg for arg in args if isinstance(arg, Tensor)),
        tuple(tensors),
        differentiable,
        tuple(id(t) in dirty for t in tensors),
        ctx.to_save or (),
        ctx.output_grad_dtypes,
    )
    for i, result in enumerate(results):
        if result is not None:
            outputs[i] = result


class InplaceFunction(Function):
    """A function that may work in place; kept for old programs."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def once_differentiable(fn):
    """Decorates a `backward` that cannot be differentiated itself."""

    @functools.wraps(fn)
    def run(ctx, *grads):
        with no_grad():
            result = fn(ctx, *grads)
        if not is_grad_enabled() or not any(
            isinstance(g, Tensor) and g.requires_grad for g in grads
        ):
            return result
        many = isinstance(result, tuple)
        found = result if many else (result,)
        # The error needs something to hang on: leaves of nobody's.
        fresh = [
            v.detach().requires_grad_() if isinstance(v, Tensor) else v for v in found
        ]
        failing = _C._functions.DelayedError(_TWICE, len(fresh))
        marked = failing(*fresh)
        return marked if many and len(fresh) > 1 else (marked,)

    return run


def _nested_map(condition, fn, condition_msg: str | None = None):
    """A function that puts `fn(x)` in the place of every x with `condition(x)`
    in tuples, lists and dicts; None stays.

    The function raises ValueError for anything else, and says with
    `condition_msg` what it takes.
    """

    def mapped(value):
        if condition(value):
            return fn(value)
        if value is None:
            return None
        if isinstance(value, (list, tuple)):
            items = [mapped(item) for item in value]
            named = hasattr(value, "_fields")
            return type(value)(*items) if named else type(value)(items)
        if isinstance(value, dict):
            return {key: mapped(item) for key, item in value.items()}
        raise ValueError(
            "Auto nesting doesn't know how to process an input object of type "
            f"{type(value).__name__}"
            + (
                f". Accepted types: {condition_msg}, or lists/tuples of them"
                if condition_msg
                else ""
            )
        )

    return mapped
