"""Results of a captured function: values, classes and histories.

Calls rebuild a result in memory of an argument, or of another result, as a view
of that. Which elements it looks at is all that this tells, and nothing of what
else the function has put into the history of such a result.
"""

from __future__ import annotations

import enum

from .. import _C, Tensor, empty_strided, enable_grad
from . import _state, _tree

#: Objects that never change, which arguments and results may hold.
CONSTANTS = (_C.dtype, _C.device, _C.layout, _C.memory_format, enum.Enum, type(...))
_AMBIGUOUS = (
    "a result is a view of an argument that requires grad, made without "
    "gradients or of elements that share memory"
)
_FUNCTION = "a result is a view that an autograd.Function made"
_HOOKS = "a result is a view, and the call registers hooks"
_CLASS = "a result is a {}, made in the call"
_ATTRIBUTES = "the call gives attributes to a result"
_STRIDED = (
    "a result is a view by as_strided of another view, whose gradient leaves "
    "out what that one does not show"
)
_INFERENCE = "a result comes from another inference mode"
_RETAINS = "a result retains its gradient"
_NEW = "a result is a view that requires grad by itself"
_CUT = "a result is a view whose history does not lead to what it is a view of"
_ENDS = (
    "a result depends on a view that requires grad but was made without "
    "gradients, whose backward leads nowhere"
)
_CONSTANT = "a result was made of numbers of Python's"
_COMPUTED = "does not exist before the graph is replayed"
_REPLACED = "a result is the state of before, which the call replaces"
_OUTSIDE = "a result is a tensor from outside, of which an argument is a view"


def check_form(form: tuple) -> None:
    """TypeError for results of what no graph can make."""
    for value in _tree.objects(form):
        if not isinstance(value, CONSTANTS):
            raise TypeError(
                "a graphed callable returns tensors, numbers, text and nests "
                f"of them, not {type(value).__name__}"
            )


def has_attributes(tensor: Tensor) -> bool:
    """Beside the marks of `_dynamo`, which change nothing."""
    names = vars(tensor)
    return bool(names) and not all(n.startswith("_dynamo") for n in names)


def find_histories(results: list[Tensor]) -> None:
    """Views of what was written find theirs when they are asked for it: on the
    stream that is captured, so that their backward can be, too.
    """
    for result in results:
        for tensor in (result, result._base):
            if tensor is not None and tensor.requires_grad:
                _ = tensor.grad_fn


def check(
    results: list, statics: list, tensors: tuple, hooked: bool, inference: bool
) -> list:
    """Results whose history calls would not give back, each with the reason;
    UnfitError where a result is something else than a tensor like others.

    Args:
        results: what the function has returned.
        statics: its arguments.
        tensors: these, and what else it can read.
        hooked: whether it may have registered hooks.
        inference: whether the call happens in inference mode.
    """
    _check_overlaps(results, statics)
    known = set(map(id, tensors))
    lasting = [t for t in tensors if t.requires_grad]
    found = []
    for result in results:
        if id(result) in known:
            _check_itself(result, statics)
            continue
        kind = _C._answering_class(result)
        if kind is not Tensor:
            raise _state.UnfitError(_CLASS.format(kind.__name__))
        if has_attributes(result):
            raise _state.UnfitError(_ATTRIBUTES)
        if result.is_inference() != inference and not _looks_into(result, tensors):
            raise _state.UnfitError(_INFERENCE)
        if not result.requires_grad:
            continue
        if result.is_leaf:
            if result._is_view() and not _looks_into(result, tensors):
                raise _state.UnfitError(_NEW)
            continue
        if _looks_into(result, tensors):
            _check_end(result, tensors)
        if result.retains_grad:
            raise _state.UnfitError(_RETAINS)
        if _looks_into(result, lasting):
            root = None
        elif result._base is None or not any(
            other is not result and _C._shares_storage(result, other)
            for other in results
        ):
            continue  # its history is captured
        else:
            root = result._base.grad_fn
        if hooked:
            found.append((result, _HOOKS))
            continue
        for node in _nodes([result], root):
            if isinstance(node, _C._FunctionBase):
                found.append((result, _FUNCTION))
                break
            _check_strided(node, root)
    return found


def _check_strided(node, root) -> None:
    """UnfitError for a step that addresses the memory of another view: of what
    that one does not show it passes no gradient on, which strides do not tell.
    """
    if node.name().startswith("AsStridedBackward"):
        ((before, _),) = node.next_functions
        if before is not root and not hasattr(before, "variable"):
            raise _state.UnfitError(_STRIDED)


def _looks_into(result: Tensor, tensors) -> bool:
    """True if it is memory of one of them."""
    return any(_C._shares_storage(result, t) for t in tensors)


def some_views(results: list, statics: list) -> bool:
    """Tells whether results are views of arguments: theirs follow the strides
    that these have, also of dimensions of one element.
    """
    return any(
        not any(result is s for s in statics) and _looks_into(result, statics)
        for result in results
    )


def _check_itself(result: Tensor, statics: list) -> None:
    """UnfitError for a tensor from outside in memory of an argument: calls
    would give a view of the argument in its place.
    """
    if not any(result is s for s in statics) and _looks_into(result, statics):
        raise _state.UnfitError(_OUTSIDE)


def _check_end(result: Tensor, tensors) -> None:
    """UnfitError where the history of a result in memory of one of the tensors
    leads to none of those, as that of a view does that was made of one without
    gradients: calls would send the gradient on.
    """
    known = [t for t in tensors if _C._shares_storage(result, t)]
    leaves = {id(t) for t in known}
    steps = {t.grad_fn for t in known} - {None}
    if not any(
        node in steps or id(getattr(node, "variable", None)) in leaves
        for node in _nodes([result])
    ):
        raise _state.UnfitError(_CUT)


def constants(results: list, tensors) -> list:
    """Amid a capture: results that host code has filled, each with the reason.
    No replay fills them again, should their receiver write to them. New leaves
    are refused anyway.
    """
    return [
        (result, _CONSTANT)
        for result in results
        if result.numel()
        and not (result.requires_grad and result.is_leaf)
        and not _looks_into(result, tensors)
        and _has_values(result)
    ]


def computed(results: list) -> list:
    """Amid a capture: those that have no values by now, as what its calls alone
    have filled.
    """
    return [result for result in results if not _has_values(result)]


def _has_values(tensor: Tensor) -> bool:
    try:
        tensor.untyped_storage().data_ptr()
    except RuntimeError as error:
        return _COMPUTED not in str(error)
    return True


def replaced_states(results: list, changed: list) -> list:
    """Results in memory of states that the call replaces, each with the reason:
    new values come there, while theirs are the old ones.

    Args:
        results: what the function has returned.
        changed: attributes, and the tensors that they are bound to by now.
    """
    olds = [
        old
        for attribute, leaves in changed
        for old, new in zip(attribute.leaves, leaves)
        if not _same_elements(old, new)
    ]
    return [(result, _REPLACED) for result in results if _looks_into(result, olds)]


def _same_elements(a: Tensor, b: Tensor) -> bool:
    """Compares the places of two tensors of one shape and dtype."""
    return a is b or (
        _C._shares_storage(a, b)
        and a.storage_offset() == b.storage_offset()
        and a.stride() == b.stride()
    )


def own_memory(results: list, found: list) -> list:
    """The results with copies in place of those that were found: of these, too,
    the history is captured.
    """
    with enable_grad():
        copies = {id(result): _copied(result) for result, _ in found}
    return [copies.get(id(result), result) for result in results]


def _copied(result: Tensor) -> Tensor:
    """A copy with the strides of the result, unless its elements overlap in
    other ways than by being one for a whole dimension.
    """
    part = result
    for dim, (size, stride) in enumerate(zip(result.shape, result.stride())):
        if stride == 0 and size > 1:
            part = part.narrow(dim, 0, 1)
    if _C._answering_class(result) is not Tensor or _overlaps(part):
        return result.clone()
    memory = empty_strided(
        part.shape, part.stride(), dtype=part.dtype, device=part.device
    )
    copy = memory.copy_(part)
    return copy if part is result else copy.expand(result.shape)


def _check_overlaps(results: list[Tensor], statics: list[Tensor]) -> None:
    """UnfitError for a result with a history that is a view of an argument in
    which elements share memory: which of them it looks at its strides do not
    tell. The same where a view has none though it requires grad.
    """
    for static in statics:
        if not static.requires_grad:
            continue
        overlaps = _overlaps(static)
        for result in results:
            if result is static or not _C._shares_storage(result, static):
                continue
            if overlaps or (result.requires_grad and result.is_leaf):
                raise _state.UnfitError(_AMBIGUOUS)


def _overlaps(tensor: Tensor) -> bool:
    """True if elements may share memory."""
    last = 0
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size > 1:
            if stride <= last:
                return True
            last += (size - 1) * stride
    return False


def leaves_of(outputs) -> list[Tensor]:
    """The leaf tensors that results depend on."""
    variables = [getattr(n, "variable", None) for n in _nodes(outputs)]
    return [
        *(o for o in outputs if o.grad_fn is None),
        *(v for v in variables if v is not None),
    ]


def check_ends(outputs: list[Tensor]) -> None:
    """UnfitError where a step of the history leads to no leaf, as one does that
    reads a view of a leaf made without gradients. A backward pass runs it, and
    fails where what it reads was written; one towards the leaves does not.
    """
    for node in _nodes(outputs):
        if getattr(node, "variable", None) is None and not any(
            following for following, _ in node.next_functions
        ):
            raise _state.UnfitError(_ENDS)


def sources(outputs: list[Tensor], leaves) -> list[list[int]]:
    """For each leaf the places of the outputs that depend on it; nothing where
    each of the outputs that have a history depends on each leaf.
    """
    live = [i for i, output in enumerate(outputs) if output.requires_grad]
    if len(live) < 2:
        return []
    reached = [{id(leaf) for leaf in leaves_of([outputs[i]])} for i in live]
    found = [[i for i, ids in zip(live, reached) if id(leaf) in ids] for leaf in leaves]
    return [] if all(len(places) == len(live) for places in found) else found


def _nodes(outputs, stop=None):
    """The steps that made them, as far as one that stays out."""
    seen = {stop, None}
    stack = [o.grad_fn for o in outputs]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        stack += [following for following, _ in node.next_functions]
