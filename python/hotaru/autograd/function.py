"""Differentiable functions written in Python.

The native side provides one function:

    _C._make_python_node(name, backward, inputs, outputs, differentiable, dirty)

which makes a node called `name` whose edges lead to `inputs` (tensors), makes
it the `grad_fn` of every output whose entry of `differentiable` is true, gives
outputs marked `dirty` (inputs changed in place) their new history, and returns
the outputs as a tuple. The engine calls `backward(node, grads)` with one
gradient (or None) an output and takes one (or None) an input back; it calls
`backward.release()` when it frees the graph. `node.attach(data, index)` gives a
tensor on the values of `data` that counts as the node's output `index`.
"""

from __future__ import annotations

import functools

from .. import _C, Tensor, is_grad_enabled, no_grad, zeros

_FREED = (
    "Trying to backward through the graph a second time (or directly access "
    "saved tensors "
    "after they have already been freed). Saved intermediate values of the "
    "graph are freed "
    "when you call .backward() or autograd.grad(). Specify retain_graph=True "
    "if you need to "
    "backward through the graph a second time or if you need to access saved "
    "tensors after calling backward."
)


class FunctionCtx:
    """What `forward` leaves for `backward`; attributes may be set freely."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.materialize_grads = True
        self.to_save = ()
        self.non_differentiable = ()
        self.dirty_tensors = ()
        self._saved = None
        self._node = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps inputs, outputs or intermediate values for `backward`.

        To be called once, in `forward` or `setup_context`. TypeError for
        anything that is no tensor and not None.
        """
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    "save_for_backward can only save variables, but argument "
                    f"{tensors.index(tensor)} is of type "
                    f"{type(tensor).__name__}"
                )
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Accepted for compatibility: there is no forward-mode derivative."""

    def mark_dirty(self, *args: Tensor) -> None:
        """Says that `forward` changed these inputs in place."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Says that these outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Chooses zeros (default) or None as gradients of unused outputs."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` kept.

        RuntimeError if the graph was freed, or a tensor changed in place since.
        """
        if self._saved is None:
            raise RuntimeError(_FREED)
        return tuple(
            None if saved is None else saved.unpack(self._node)
            for saved in self._saved
        )

    def _keep(self, name: str, outputs: list) -> None:
        """Turns `to_save` into saved tensors, once the outputs are known."""
        places = {id(output): i for i, output in enumerate(outputs)}
        self._saved = tuple(
            None if t is None else _Saved(t, places.get(id(t)), name)
            for t in self.to_save
        )
        self.to_save = ()


class _Saved:
    """A saved tensor and the version that it had.

    An output is kept without its history: it refers to the node, which refers
    to this.
    """

    def __init__(
        self, tensor: Tensor, output_index: int | None, name: str
    ) -> None:
        self._index = output_index
        self._tensor = tensor if output_index is None else tensor.detach()
        self._version = tensor._version
        self._name = name

    def unpack(self, node) -> Tensor:
        tensor = self._tensor
        if tensor._version != self._version:
            shape = list(tensor.shape)
            raise RuntimeError(
                "one of the variables needed for gradient computation has been "
                "modified "
                f"by an inplace operation: [{tensor.type()} {shape}] is at "
                f"version {tensor._version}; expected version {self._version} "
                f"instead (saved by {self._name})."
            )
        if self._index is None or node is None:
            return tensor
        return node.attach(tensor, self._index)


class _Backward:
    """What the engine calls for one application of a `Function`."""

    def __init__(
        self, function: type, ctx: FunctionCtx, args: tuple, outputs: list
    ) -> None:
        self._function = function
        self._ctx = ctx
        self._is_tensor = tuple(isinstance(arg, Tensor) for arg in args)
        # None for a result that is no tensor: its gradient is None as well.
        self._outputs = [
            (o.shape, o.dtype, o.device) if isinstance(o, Tensor) else None
            for o in outputs
        ]

    def __call__(self, node, grads: tuple) -> tuple:
        ctx = self._ctx
        arrived = iter(grads)
        full = []
        for output in self._outputs:
            grad = None if output is None else next(arrived)
            if grad is None and output is not None and ctx.materialize_grads:
                shape, dtype, device = output
                grad = zeros(shape, dtype=dtype, device=device)
            full.append(grad)
        ctx._node = node
        try:
            result = self._function.backward(ctx, *full)
        finally:
            ctx._node = None
        return self._per_tensor(
            result if isinstance(result, tuple) else (result,)
        )

    def _per_tensor(self, result: tuple) -> tuple:
        """The gradients of the tensor arguments, after checking all of them."""
        name = f"{self._function.__name__}Backward"
        count = len(self._is_tensor)
        if len(result) > count and all(
            extra is None for extra in result[count:]
        ):
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
                raise TypeError(
                    f"expected Variable or None (got {type(grad).__name__})"
                )
        return tuple(
            g for g, is_tensor in zip(result, self._is_tensor) if is_tensor
        )

    def release(self) -> None:
        """Drops the saved tensors: the graph was freed."""
        self._ctx._saved = None


class Function:
    """Base class of differentiable functions written in Python.

    Subclasses define the static methods `forward(ctx, *args)`, or
    `forward(*args)` with `setup_context(ctx, inputs, output)`, and
    `backward(ctx, *grad_outputs)`, which returns one gradient (or None) an
    argument. They are called through `apply`; tensors inside of lists are not
    seen.
    """

    def __init__(self, *args, **kwargs) -> None:
        raise RuntimeError(
            f"{type(self)} should not be instantiated. Methods on autograd "
            "functions are "
            "all static, so you should invoke them on the class itself. "
            "Instantiating an "
            "autograd function will raise an error in a future version of "
            "PyTorch."
        )

    @staticmethod
    def forward(*args, **kwargs):
        """Computes the result."""
        raise NotImplementedError(
            "You must implement the forward function for custom "
            "autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple, output) -> None:
        """Saves what `backward` needs, where `forward` takes no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs):
        """Computes the gradients of the arguments."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your "
            "custom autograd.Function to use it with backward mode AD."
        )

    @classmethod
    def apply(cls, *args):
        """Runs `forward` and records it if a gradient is wanted."""
        needs = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        ctx = FunctionCtx(needs)
        recording = any(needs) and is_grad_enabled()
        with no_grad():
            if cls.setup_context is Function.setup_context:
                result = cls.forward(ctx, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
        many = isinstance(result, tuple)
        outputs = list(result) if many else [result]
        places = [i for i, o in enumerate(outputs) if isinstance(o, Tensor)]
        tensors = cls._separate([outputs[i] for i in places], args, ctx)
        for place, output in zip(places, tensors):
            outputs[place] = output
        if recording:
            backward = _Backward(cls, ctx, args, outputs)
            tensors = cls._record(ctx, args, tensors, backward)
            for place, output in zip(places, tensors):
                outputs[place] = output
        return tuple(outputs) if many else outputs[0]

    @staticmethod
    def _separate(outputs: list, args: tuple, ctx: FunctionCtx) -> list:
        """Replaces outputs that are untouched inputs by views of them."""
        inputs = {id(arg) for arg in args if isinstance(arg, Tensor)}
        dirty = {id(tensor) for tensor in ctx.dirty_tensors}
        final = []
        for output in outputs:
            if id(output) in inputs and id(output) not in dirty:
                with no_grad():
                    alias = output.view_as(output)
                ctx.to_save = tuple(
                    alias if t is output else t for t in ctx.to_save
                )
                if any(t is output for t in ctx.non_differentiable):
                    ctx.non_differentiable = (*ctx.non_differentiable, alias)
                output = alias
            final.append(output)
        return final

    @classmethod
    def _record(
        cls, ctx: FunctionCtx, args: tuple, outputs: list, backward: _Backward
    ) -> list:
        name = f"{cls.__name__}Backward"
        no_gradient = {id(tensor) for tensor in ctx.non_differentiable}
        dirty = {id(tensor) for tensor in ctx.dirty_tensors}
        ctx._keep(name, outputs)
        results = _C._make_python_node(
            name,
            backward,
            tuple(arg for arg in args if isinstance(arg, Tensor)),
            tuple(outputs),
            tuple(
                id(o) not in no_gradient
                and (o.is_floating_point() or o.is_complex())
                for o in outputs
            ),
            tuple(id(o) in dirty for o in outputs),
        )
        ctx.non_differentiable = ctx.dirty_tensors = ()
        return list(results)


class _TwiceDifferentiated(Function):
    """Passes values on; differentiating it is an error."""

    @staticmethod
    def forward(ctx, *tensors):
        return tuple(t.detach() for t in tensors)

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with "
            "@once_differentiable"
        )


def once_differentiable(fn):
    """Decorates a `backward` that cannot be differentiated itself."""

    @functools.wraps(fn)
    def run(ctx, *grads):
        with no_grad():
            result = fn(ctx, *grads)
        tensors = [g for g in grads if isinstance(g, Tensor)]
        if not is_grad_enabled() or not any(t.requires_grad for t in tensors):
            return result
        many = isinstance(result, tuple)
        found = list(result) if many else [result]
        # The error node needs an edge: it hangs on the incoming gradients.
        for i, value in enumerate(found):
            if isinstance(value, Tensor):
                found[i] = _TwiceDifferentiated.apply(value, *tensors)[0]
        return tuple(found) if many else found[0]

    return run
