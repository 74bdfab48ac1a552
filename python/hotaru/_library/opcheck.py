"""Checks that an operator is registered as its schema says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import _C, Tensor, _ops, equal
from .._operators import arguments, fallback, keys, table
from .._prims_common import check_equal
from .._trees import flat as _tree
from .custom_ops import CustomOpDef
from .utils import zip_schema

_NO_TRACER = (
    "needs PyTorch's tracer, which hotaru has not: gradients can be compared "
    "with torch.autograd.gradcheck"
)
_BACKEND_FORMULA = (
    "{}: at least one output of this operator has requires_grad=True but the "
    "operator does not have an autograd kernel defined at an autograd key "
    "(e.g. DispatchKey::Autograd). This could mean that you have incorrectly "
    "registered an autograd kernel to a non-Autograd DispatchKey, which may "
    "lead to silently incorrect results."
)


class OpCheckError(Exception):
    """An operator does not do what it says."""


def _copied(value):
    if not isinstance(value, Tensor):
        return value
    copy = value.detach().clone()
    return copy.requires_grad_(value.requires_grad)


def copies(args, kwargs):
    """Arguments whose tensors are copies, leaves that want gradients as theirs."""
    return _tree.mapped(_copied, (tuple(args), dict(kwargs)))


def _on_meta(args, kwargs) -> bool:
    return any(t.is_meta for t in arguments.tensors_in(args, kwargs))


def check_schema(op, args, kwargs):
    """Runs an overload and compares what happened to memory with its schema.

    RuntimeError where it wrote to, or returned memory of, what the schema
    does not say. Returns what the operator returned.
    """
    schema = op._schema
    before = {
        argument.name: [t.detach().clone() for t in _inside(value)]
        for argument, value in zip_schema(schema, args, kwargs)
    }
    result = op(*args, **kwargs)
    outputs = _tree.flatten(result)[0]
    for argument, value in zip_schema(schema, args, kwargs):
        tensors = _inside(value)
        if not argument.is_write and not all(
            map(_same, before[argument.name], tensors)
        ):
            raise RuntimeError(
                f"Argument {argument.name} is not defined as mutable but was mutated"
            )
        if argument.alias_info is None and _shared(tensors, outputs):
            raise RuntimeError(
                f"Argument {argument.name} is not defined to alias output but "
                "was aliasing"
            )
    return result


def _inside(value) -> list[Tensor]:
    return arguments.tensors_in((value,), {})


def _same(before: Tensor, after: Tensor) -> bool:
    if before.shape != after.shape or before.dtype != after.dtype:
        return False
    both = before.detach(), after.detach()
    if both[0].is_floating_point() or both[0].is_complex():
        both = tuple(x.nan_to_num() for x in both)
    return equal(*both)


def _shared(tensors: list[Tensor], outputs: list) -> bool:
    return any(
        isinstance(out, Tensor) and _C._shares_storage(out, tensor)
        for out in outputs
        for tensor in tensors
    )


def _schema_test(op, args, kwargs) -> None:
    if not _on_meta(args, kwargs):
        check_schema(op, *copies(args, kwargs))


def _registration_test(op, args, kwargs) -> None:
    args, kwargs = copies(args, kwargs)
    tensors = arguments.tensors_in(args, kwargs)
    if _on_meta(args, kwargs) or not any(t.requires_grad for t in tensors):
        return
    operator = table.find(op._name)
    derives = (*keys.AUTOGRAD_KEYS.values(), "Autograd", keys.COMPOSITE)
    if operator is None or any(map(operator.has, derives)):
        return
    mode = fallback.get_mode()
    fallback.set_mode("nothing")
    try:
        outputs = _tree.flatten(op(*args, **kwargs))[0]
    finally:
        fallback.set_mode(mode)
    for out in outputs:
        own = any(out is tensor for tensor in tensors)
        if isinstance(out, Tensor) and out.requires_grad and not own:
            raise AssertionError(_BACKEND_FORMULA.format(op.name()))


def check_meta(op, args, kwargs) -> None:
    """The meta kernel says shapes, dtypes and strides of the real one."""
    if _on_meta(args, kwargs):
        return
    args, kwargs = copies(args, kwargs)

    def to_meta(value):
        return value.to("meta") if isinstance(value, Tensor) else value

    fake_args, fake_kwargs = _tree.mapped(to_meta, (args, kwargs))
    real = _tree.flatten(op(*args, **kwargs))[0]
    try:
        fake = _tree.flatten(op(*fake_args, **fake_kwargs))[0]
    except RuntimeError as error:
        if "data-dependent shape" in str(error):
            return
        raise
    for mine, theirs in zip(real, fake):
        if isinstance(mine, Tensor):
            _compare(mine, theirs)


def _compare(real: Tensor, fake: Tensor) -> None:
    for what, get in (
        ("Shapes", lambda t: tuple(t.shape)),
        ("Dtypes", lambda t: t.dtype),
        ("Strides", lambda t: t.stride()),
    ):
        check_equal(what, get(real), get(fake))


def _no_tracer(op, args, kwargs) -> None:
    raise NotImplementedError(f"test_aot_dispatch {_NO_TRACER}")


TESTS: dict[str, Callable] = {
    "test_schema": _schema_test,
    "test_autograd_registration": _registration_test,
    "test_faketensor": check_meta,
    "test_aot_dispatch_static": _no_tracer,
    "test_aot_dispatch_dynamic": _no_tracer,
}
# Tests that run where nothing else is asked for: what hotaru can check.
DEFAULT = tuple(TESTS)[:3]


def opcheck(
    op,
    args: tuple,
    kwargs: dict | None = None,
    *,
    test_utils: str | Sequence[str] = DEFAULT,
    raise_exception: bool = True,
    atol=None,
    rtol=None,
) -> dict:
    """Tests whether an operator is registered as its schema says.

    Args:
        op: an overload, an operator with one overload, or a CustomOpDef.
        args, kwargs: arguments to call it with; they stay as they are.
        test_utils: of `test_schema` (what is written to and shared),
            `test_autograd_registration` (derivatives belong to an autograd
            key) and `test_faketensor` (the results on the meta device). There
            is no counterpart of `test_aot_dispatch_*`, which raise
            NotImplementedError, and which the default therefore lacks.
        raise_exception: whether a failure raises.
        atol, rtol: for comparisons of values, which these tests do not make.

    Returns:
        "SUCCESS", or what was raised, by the test's name.

    Raises:
        OpCheckError: a test failed.
        ValueError: `op` or `test_utils` are none.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "opcheck(op, ...): if you specify one of rtol/atol, you must specify both"
        )
    op = overload(op)
    if test_utils == "ALL":
        test_utils = tuple(TESTS)
    if isinstance(test_utils, str):
        test_utils = (test_utils,)
    if not set(test_utils) <= set(TESTS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={test_utils}), expected test_utils "
            f"to be subset of {tuple(TESTS)} but it was not"
        )
    found = {}
    for name in test_utils:
        try:
            TESTS[name](op, args, kwargs or {})
            found[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up "
                    "for stack trace)"
                ) from error
            found[name] = error
    return found


def overload(op):
    """The overload that is meant.

    Raises RuntimeError for an operator of several, ValueError for none.
    """
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, _ops.OpOverloadPacket):
        names = op.overloads()
        if len(names) != 1:
            raise RuntimeError(
                f"opcheck can only test operator without overloads. Got the "
                f"following overloads for {op._qualified_op_name}: {names}"
            )
        return getattr(op, names[0])
    if not isinstance(op, _ops.OpOverload):
        raise ValueError(
            "opcheck(op, ...): op must be instance of torch._ops.OpOverload, "
            f"e.g. torch.ops.aten.sin.default, got {type(op)}"
        )
    return op
