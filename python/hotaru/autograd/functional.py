"""Products with Jacobians and Hessians, and these matrices themselves.

Functions of tensors come in as Python functions; nothing is left in any
tensor's `.grad`. Jacobian-vector products are backward passes over the
backward pass, which is linear in its vector: functions must be differentiable
twice. Errors have PyTorch's types and texts.
"""

from __future__ import annotations

from .. import Tensor, enable_grad, is_grad_enabled, set_grad_enabled, stack, zeros_like
from .._late import lent
from ._entry import grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_OUTPUTS = "outputs of the user-provided function"
_FORBIDDEN = "This is not allowed in strict mode"


def _tensors(value, what: str, api: str) -> tuple[bool, tuple]:
    """Tells whether it came as a tuple, and the tuple; TypeError for others."""
    several = isinstance(value, tuple)
    values = value if several else (value,)
    for place, entry in enumerate(values):
        if not isinstance(entry, Tensor):
            which = f"value at index {place}" if several else f"given {what}"
            raise TypeError(
                f"The {what} given to {api} must be either a Tensor or a tuple "
                f"of Tensors but the {which} has type {type(entry)}."
            )
    return several, values


def _own(tensors: tuple, create_graph: bool, need_graph: bool) -> tuple:
    """Tensors to derive by: the caller's may be captured by the function."""
    return tuple(
        t.view_as(t)
        if create_graph and t.requires_grad
        else t.detach().requires_grad_(need_graph)
        for t in tensors
    )


def _cut(nest, create_graph: bool):
    """Cuts what the caller gets: no history unless wanted."""
    if create_graph:
        return nest
    if isinstance(nest, Tensor):
        return nest.detach()
    return tuple(_cut(entry, create_graph) for entry in nest)


def _as_given(values, several: bool):
    return values if several else values[0]


def _vector(v, other: tuple, several: bool, api: str, create_graph: bool):
    """The vector as a tuple that matches `other`; RuntimeError if it does not.

    `several` tells whether `other` came as a tuple.
    """
    _, values = _tensors(v, "v", api)
    values = _own(values, create_graph, False)
    if len(values) != len(other):
        if several:
            raise RuntimeError(
                "v is a tuple of invalid length: should be "
                f"{len(other)} but got {len(values)}."
            )
        raise RuntimeError("The given v should contain a single Tensor.")
    for place, (mine, theirs) in enumerate(zip(values, other)):
        if mine.size() != theirs.size():
            entry = f"Entry {place} in " if several else ""
            raise RuntimeError(
                f"{entry}v has invalid size: should be {theirs.size()} but got "
                f"{mine.size()}."
            )
    return values


def _input_vector(v, inputs, several, api, create_graph):
    """A vector for the inputs, which only a single number may go without."""
    if v is not None:
        return _vector(v, inputs, several, api, create_graph)
    if len(inputs) != 1 or inputs[0].nelement() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided "
            "function is a single Tensor with a single element."
        )
    return None


def _derive(outputs, inputs, vectors=None, create_graph=False, keep=None):
    """`grad` that takes outputs without history, and None among them."""
    pairs = [
        (output, vector)
        for output, vector in zip(outputs, vectors or (None,) * len(outputs))
        if output is not None and output.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [output for output, _ in pairs],
        inputs,
        [vector for _, vector in pairs],
        allow_unused=True,
        create_graph=create_graph,
        retain_graph=keep,
    )


# Errors of a strict call: what is wrong with tensor number {} that has no
# history.
_NO_HISTORY = {
    "outputs": (
        "Output {} of the user-provided function does not require gradients. "
        "The outputs must be computed in a differentiable manner from the "
        "input when running in strict mode."
    ),
    "gradients": (
        "The gradient with respect to input {} is independent of the inputs of "
        f"the user-provided function. {_FORBIDDEN}."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the "
        "user-provided function with respect to input {} is independent of the "
        f"input. {_FORBIDDEN}. You should ensure that your function is twice "
        "differentiable and that the jacobian depends on the inputs (this "
        "would be violated by a linear function for example)."
    ),
    "hessian": (
        "The hessian of the user-provided function with respect to input {} is "
        f"independent of the input. {_FORBIDDEN}. You should ensure that your "
        "function is thrice differentiable and that the hessian depends on the "
        "inputs."
    ),
}


def _need_history(tensors: tuple, kind: str, strict: bool) -> None:
    for place, tensor in enumerate(tensors if strict else ()):
        if tensor is None:
            raise RuntimeError(
                "The output of the user-provided function is independent of "
                f"input {place}. {_FORBIDDEN}."
            )
        if not tensor.requires_grad:
            raise RuntimeError(_NO_HISTORY[kind].format(place))


# Errors of a strict call: what a missing derivative of number {} says.
_MISSING = {
    "vjp": (
        "The output of the user-provided function is independent of input {}. "
        f"{_FORBIDDEN}."
    ),
    "jvp": (
        "The gradient with respect to the input is independent of entry {} in "
        "the grad_outputs when using the double backward trick to compute "
        f"forward mode gradients. {_FORBIDDEN}."
    ),
    "vhp": (
        "The jacobian of the user-provided function is independent of input "
        f"{{}}. {_FORBIDDEN}."
    ),
    "hvp": (
        "The hessian of the user-provided function is independent of entry {} "
        f"in the grad_jacobian. {_FORBIDDEN} as it prevents from using the "
        "double backward trick to replace forward mode AD."
    ),
}


def _filled(found, like, api: str, strict: bool, create_graph: bool) -> tuple:
    """Zeros for missing derivatives, which are errors of a strict call."""
    result = []
    for place, (value, reference) in enumerate(zip(found, like)):
        if value is None:
            if strict:
                raise RuntimeError(_MISSING[api].format(place))
            value = zeros_like(reference)
        elif strict and create_graph and not value.requires_grad:
            order = "jacobian" if api in ("vjp", "jvp") else "hessian"
            raise RuntimeError(
                f"The {order} of the user-provided function is independent of "
                f"input {place}. {_FORBIDDEN} when create_graph=True."
            )
        result.append(value)
    return tuple(result)


class _Call:
    """One application of the function to tensors of our own."""

    def __init__(self, func, inputs, api, create_graph, strict) -> None:
        self.several_inputs, inputs = _tensors(inputs, "inputs", api)
        self.inputs = _own(inputs, create_graph, True)
        self._func, self._api, self._strict = func, api, strict

    def run(self) -> None:
        result = self._func(*self.inputs)
        self.several, self.outputs = _tensors(result, _OUTPUTS, self._api)
        _need_history(self.outputs, "outputs", self._strict)

    def run_scalar(self) -> None:
        """`run`, for functions with Hessians: one number comes out."""
        self.run()
        if self.several:
            raise RuntimeError(
                f"The function given to {self._api} should return a single Tensor"
            )
        if self.outputs[0].nelement() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {self._api} "
                "should contain a single element"
            )


def _finish(call: _Call, value: tuple, several: bool, create_graph: bool):
    outputs = _as_given(_cut(call.outputs, create_graph), call.several)
    return outputs, _as_given(_cut(value, create_graph), several)


def vjp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """The function's output and the product of a vector and its Jacobian.

    Args:
        func: takes tensors; returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of them.
        v: of the outputs' shapes; may be missing for a single number.
        create_graph: both results are differentiable.
        strict: what does not depend on an input is an error instead of zeros.

    Returns:
        (output, product), the latter like `inputs`.

    Raises:
        TypeError: inputs or outputs that are no tensors.
        RuntimeError: a vector of another shape, or what `strict` forbids.
    """
    with enable_grad():
        call = _Call(func, inputs, "vjp", create_graph, strict)
        call.run()
        if v is not None:
            v = _vector(v, call.outputs, call.several, "vjp", create_graph)
        elif len(call.outputs) != 1 or call.outputs[0].nelement() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function "
                "returns a single Tensor with a single element."
            )
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _derive(call.outputs, call.inputs, v, create_graph)
        found = _filled(found, call.inputs, "vjp", strict, create_graph)
    return _finish(call, found, call.several_inputs, create_graph)


def jvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """The function's output and the product of its Jacobian and a vector.

    Two backward passes. Arguments, results and errors are as of `vjp`, but `v`
    is of the inputs' shapes and the product like the outputs.
    """
    with enable_grad():
        call = _Call(func, inputs, "jvp", create_graph, strict)
        v = _input_vector(v, call.inputs, call.several_inputs, "jvp", create_graph)
        call.run()
        vectors = tuple(zeros_like(o, requires_grad=True) for o in call.outputs)
        products = _derive(call.outputs, call.inputs, vectors, True)
        _need_history(products, "gradients", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _derive(products, vectors, v, create_graph)
        found = _filled(found, call.outputs, "jvp", strict, create_graph)
    return _finish(call, found, call.several, create_graph)


def vhp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """The function's output and the product of a vector and its Hessian.

    As `vjp`, for a function that returns one number and `v` like `inputs`.
    RuntimeError for other functions.
    """
    with enable_grad():
        call, v, first = _first_order(func, inputs, v, "vhp", create_graph, strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _derive(first, call.inputs, v, create_graph)
        found = _filled(found, call.inputs, "vhp", strict, create_graph)
    return _finish(call, found, call.several_inputs, create_graph)


def hvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False):
    """The function's output and the product of its Hessian and a vector.

    As `vhp`, whose product is the same for functions that are twice
    continuously differentiable and needs one backward pass less.
    """
    with enable_grad():
        call, v, first = _first_order(func, inputs, v, "hvp", create_graph, strict)
        vectors = tuple(zeros_like(i, requires_grad=True) for i in call.inputs)
        second = _derive(first, call.inputs, vectors, True)
        _need_history(first, "hessian", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _derive(second, vectors, v, create_graph)
        found = _filled(found, call.inputs, "hvp", strict, create_graph)
    return _finish(call, found, call.several_inputs, create_graph)


def _first_order(func, inputs, v, api, create_graph, strict) -> tuple:
    """The call, its vector, and the function's differentiable gradient."""
    call = _Call(func, inputs, api, create_graph, strict)
    v = _input_vector(v, call.inputs, call.several_inputs, api, create_graph)
    call.run_scalar()
    first = _derive(call.outputs, call.inputs, create_graph=True)
    _need_history(first, "jacobian", strict)
    return call, v, first


def jacobian(
    func,
    inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
):
    """The Jacobian of a function.

    Args:
        func: takes tensors; returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of them.
        create_graph: the result is differentiable.
        strict: what does not depend on an input is an error instead of zeros.
        vectorize: accepted, with PyTorch's rules for what it goes with; rows
            are computed one by one.
        strategy: "reverse-mode" (a backward pass for each element of the
            output), or "forward-mode" with `vectorize` (one for each element
            of the input).

    Returns:
        A tensor of the output's shape and the input's behind it; a tuple by
        outputs and/or by inputs where these are tuples.

    Raises:
        AssertionError: another strategy.
        NotImplementedError: "forward-mode" with `create_graph` or without
            `vectorize`.
        TypeError: inputs or outputs that are no tensors.
        RuntimeError: what `strict` forbids, or `strict` with `vectorize`.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". '
            "Hint: If your function has more outputs than inputs, "
            '"forward-mode" tends to be more performant. Otherwise, prefer to '
            'use "reverse-mode".'
        )
    if strategy == "forward-mode":
        return _by_columns(func, inputs, create_graph, strict, vectorize)
    with enable_grad():
        call = _Call(func, inputs, "jacobian", create_graph, strict)
        call.run()
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and "
                "`vectorized=True` are not supported together. "
                "Please either set `strict=False` or `vectorize=False`."
            )
        found = tuple(
            _rows(i, output, call.inputs, create_graph, strict)
            for i, output in enumerate(call.outputs)
        )
    return _matrices(found, call.several, call.several_inputs, create_graph)


def _matrices(found, by_output: bool, by_input: bool, create_graph: bool):
    found = _cut(found, create_graph)
    if not by_input:
        found = tuple(row[0] for row in found)
    return _as_given(found, by_output)


def _rows(place, output, inputs, create_graph, strict) -> tuple:
    """The Jacobian of one output, a tensor for each input."""
    columns: list[list] = [[] for _ in inputs]
    for element in output.reshape(-1).unbind() if output.numel() else ():
        found = _derive((element,), inputs, None, create_graph, True)
        for i, (column, value) in enumerate(zip(columns, found)):
            if value is None and strict:
                raise RuntimeError(
                    f"Output {place} of the user-provided function is "
                    f"independent of input {i}. {_FORBIDDEN}."
                )
            if value is None:
                value = zeros_like(inputs[i])
            elif strict and create_graph and not value.requires_grad:
                raise RuntimeError(
                    "The jacobian of the user-provided function is independent "
                    f"of input {place}. {_FORBIDDEN} when create_graph=True."
                )
            column.append(value)
    return tuple(
        _shaped(column, 0, output, leaf) for column, leaf in zip(columns, inputs)
    )


def _shaped(parts: list, dim: int, output: Tensor, leaf: Tensor) -> Tensor:
    shape = output.shape + leaf.shape
    if not parts:
        return leaf.new_zeros(shape)
    return stack(parts, dim).reshape(shape)


def _by_columns(func, inputs, create_graph, strict, vectorize):
    """The Jacobian by Jacobian-vector products, a column for each element."""
    if create_graph:
        raise NotImplementedError(
            "torch.autograd.functional.jacobian: `create_graph=True` and "
            '`strategy="forward-mode"` are not supported together (yet). '
            "Please either set `create_graph=False` or "
            '`strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and "
            '`strategy="forward-mode"` are not supported together (yet). '
            "Please either set `strict=False` or "
            '`strategy="reverse-mode"`.'
        )
    several, inputs = _tensors(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse "
            "Hessian isonly implemented for `vectorize=True`."
        )
    given: list[bool] = []

    def listed(*own):
        by_output, outputs = _tensors(func(*own), "outputs", "jacobian")
        given.append(by_output)
        return outputs

    push = lent("pushforward")(listed, inputs, None, False)
    parts = _columns(push, inputs)
    rows = tuple(
        tuple(
            _shaped([column[i] for column in part], -1, output, leaf)
            for leaf, part in zip(inputs, parts)
        )
        for i, output in enumerate(push.leaves)
    )
    return _matrices(rows, given[0], several, True)


def _construct_standard_basis_for(tensors: tuple, tensor_numels: tuple):
    """Unit vectors of all tensors together, one a row, cut by tensors."""
    total = sum(tensor_numels)
    parts, start = [], 0
    for tensor, numel in zip(tensors, tensor_numels):
        part = tensor.new_zeros(total, numel)
        part[start : start + numel].diagonal().fill_(1)
        parts.append(part)
        start += numel
    return tuple(parts)


def _columns(push, inputs: tuple) -> list[list]:
    """For each input, the products with its unit vectors."""
    numels = tuple(leaf.numel() for leaf in inputs)
    units = _construct_standard_basis_for(inputs, numels)
    products = iter(
        push([unit.view_as(leaf) for unit, leaf in zip(row, inputs)])
        for row in zip(*units)
    )
    return [[next(products) for _ in range(numel)] for numel in numels]


def hessian(
    func,
    inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
):
    """The Hessian of a function that returns one number.

    Arguments and errors are as of `jacobian`, whose Jacobian this is.

    Returns:
        A tensor of the input's shape twice; a tuple of tuples for several.
    """
    several, inputs = _tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode".'
        )

    def number(*own):
        result = func(*own)
        by_output, outputs = _tensors(result, _OUTPUTS, "hessian")
        _need_history(outputs, "outputs", strict)
        if by_output:
            raise RuntimeError(
                "The function given to hessian should return a single Tensor"
            )
        if result.nelement() != 1:
            raise RuntimeError(
                "The Tensor returned by the function given to hessian should "
                "contain a single element"
            )
        return result.squeeze()

    def gradient(*own):
        first = jacobian(number, own, create_graph=True)
        _need_history(first, "jacobian", strict)
        return first

    result = jacobian(
        gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy
    )
    return result if several else result[0][0]
