"""Functional operators with their kernels and derivatives in one object."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .._function_schema import FunctionSchema
from .._library import utils
from .._operators import keys, table
from ..library import Library, get_ctx, infer_schema
from . import formula

__all__ = ["CustomOp", "custom_op", "get_ctx", "infer_schema"]

SUPPORTED_DEVICE_TYPE_TO_KEY = {"cpu": "CPU", "cuda": "CUDA"}
RESERVED_NS = {"prim", "prims", "aten", "at", "torch", "pytorch"}
_COMPOSITE = (
    "{}: the operator {} already has an implementation for this device type "
    "via a pre-existing registration to "
    "DispatchKey::CompositeImplicitAutograd.CompositeImplicitAutograd "
    "operators do not need {}; instead, the operator will decompose into its "
    "constituents and those can have {}s defined on them."
)
_DIFFERENTIABILITY = (
    "impl_backward(output_differentiability): expected "
    "output_differentiability to be a list of bools with length equal to the "
    "number of outputs of this CustomOp got: {}"
)
_MATCH = (
    "custom_op(..., manual_schema)(func): When passing in a manual schema, we "
    "expect `func`'s signature to match `manual_schema` (aside from type "
    "annotations). func's signature: {}, manual_schema: {}"
)

# By "ns::name".
global_registry: dict[str, CustomOp] = {}


@dataclass(frozen=True)
class FuncAndLocation:
    """A function and the line that registered it."""

    func: Callable
    location: str


def parse_qualname(qualname: str) -> tuple[str, str]:
    """("ns", "name") of "ns::name"; ValueError for overloads and others."""
    namespace, found, name = qualname.partition("::")
    if not found:
        raise ValueError(
            f"Expected there to be a namespace in {qualname}, i.e. "
            "The operator name should look something like ns::foo"
        )
    if "." in name:
        raise ValueError(
            "The torch.custom_ops APIs do not handle overloads, i.e. "
            "operator names with '.' in them. "
            f"Please name your operator something like ns::foo. Got: {qualname}"
        )
    return namespace, name


def validate_namespace(ns: str) -> None:
    """ValueError for PyTorch's own namespaces and those with a dot."""
    if "." in ns:
        raise ValueError(
            f'custom_op(..., ns="{ns}"): expected ns to not contain any . '
            "(and be a valid variable name)"
        )
    if ns in RESERVED_NS:
        raise ValueError(
            f"custom_op(..., ns='{ns}'): '{ns}' is a reserved namespace, "
            "please choose something else. "
        )


def check_function(qualname: str, function) -> None:
    """ValueError for what is no function, or one of another name."""
    if not inspect.isfunction(function):
        raise ValueError(
            "custom_op(...)(func): Expected `func` to be a Python function, "
            f"got: {type(function)}"
        )
    name = parse_qualname(qualname)[1]
    if function.__name__ != name:
        raise ValueError(
            f"custom_op(qualname='{qualname}', ...)(func): expected `func` to "
            f"have name '{name}' but got '{function.__name__}'. "
            "Please either change the name of `func` or the qualname that is "
            "passed to `custom_op`"
        )


def _validated(library: Library, text: str) -> FunctionSchema:
    try:
        schema = library._parsed(text)
    except RuntimeError as error:
        raise AssertionError(f"Invalid function schema: {text}: {error}") from None
    if not utils.is_functional_schema(schema):
        raise ValueError(
            "custom_op only supports functional operators (ops that do not "
            "mutate any inputs, do not return views of the inputs, and has at "
            "least one return). "
            f"Got the following non-functional schema: {schema}"
        )
    if any(a.name == "self" for a in schema.arguments):
        raise ValueError(
            "custom_op does not support arguments named 'self'. "
            f"Please rename your argument. Got: {schema}"
        )
    return schema


def define(qualname: str, text: str) -> CustomOp:
    """Defines an operator with the schema "(Tensor x) -> Tensor"."""
    namespace, name = parse_qualname(qualname)
    library = Library(namespace, "FRAGMENT")
    schema = _validated(library, name + text)
    library.define(name + text)
    made = CustomOp(library, namespace, schema, name, None, _private=True)
    library.impl(name, made._unmade, "CompositeExplicitAutograd")
    made._derive()
    return made


def custom_op(qualname: str, manual_schema: str | None = None) -> Callable:
    """A decorator that makes a CustomOp; the function is its prototype."""
    _warn_deprecated()

    def make(function: Callable) -> CustomOp:
        check_function(qualname, function)
        namespace, name = parse_qualname(qualname)
        validate_namespace(namespace)
        text = manual_schema
        if text is None:
            text = infer_schema(function, mutates_args=())
        else:
            library = Library(namespace, "FRAGMENT")
            _check_match(_validated(library, name + text), function)
        made = define(qualname, text)
        made.__name__, made.__doc__ = function.__name__, function.__doc__
        made.__module__ = function.__module__
        return made

    return make


def _warn_deprecated() -> None:
    warnings.warn(
        "torch._custom_op is deprecated and will be removed in PyTorch 2.6, "
        "please use the equivalent torch.library API instead.",
        DeprecationWarning,
        stacklevel=3,
    )


def _check_match(schema: FunctionSchema, function: Callable) -> None:
    signature = inspect.signature(function)
    given = signature.parameters.values()
    kinds = inspect.Parameter
    start = "custom_op(..., manual_schema)(func): "
    if any(
        p.kind not in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY) for p in given
    ):
        raise ValueError(
            f"{start}positional-only args, varargs, and kwargs are not "
            "supported. Please rewrite `func` to not have them. "
            f"Got `func` with signature: {signature}"
        )
    annotated = any(p.annotation is not kinds.empty for p in given)
    if annotated or signature.return_annotation is not kinds.empty:
        raise ValueError(
            f"{start}When passing in a manual schema, we expect `func` to have "
            "no type annotations to avoid ambiguity. "
            f"Got `func` with signature: {signature}"
        )
    mine = [(p.name, p.kind is kinds.KEYWORD_ONLY) for p in given]
    if mine != [(a.name, a.kwarg_only) for a in schema.arguments]:
        raise ValueError(_MATCH.format(signature, schema))
    if any(p.default is not kinds.empty for p in given) or any(
        a.has_default_value() for a in schema.arguments
    ):
        raise ValueError(
            f"{start}neither func nor manual_schema should have default "
            "arguments. "
            f"Got func's signature: {signature}, manual_schema: {schema}"
        )


class CustomOp:
    """An operator and what is registered for it, by kind."""

    def __init__(
        self, lib, cpp_ns, schema, operator_name, ophandle, *, _private=False
    ) -> None:
        if not _private:
            raise RuntimeError(
                "The CustomOp constructor is private and we do not guarantee "
                "BC for it. "
                "Please use custom_op(...) to create a CustomOp object"
            )
        self._lib = lib
        self._schema = schema
        self._cpp_ns = cpp_ns
        self._opname = operator_name
        self._qualname = f"{cpp_ns}::{operator_name}"
        self._impls: dict[str, FuncAndLocation] = {}
        self._derives = False
        self._differentiable: list[bool] | None = None
        global_registry[self._qualname] = self

    def __repr__(self) -> str:
        return f'<CustomOp(op="{self._qualname}")>'

    def __call__(self, /, *args, **kwargs):
        return get_op(self._qualname)(*args, **kwargs)

    def _destroy(self) -> None:
        self._lib._destroy()
        global_registry.pop(self._qualname, None)

    def _unmade(self, *args, **kwargs):
        """Runs where no kernel is registered."""
        tensors = formula.tensors_in(args, kwargs)
        if not tensors:
            raise NotImplementedError(
                f"{self}: There were no Tensor inputs to this operator (e.g. "
                "you passed an empty list of Tensors). "
                "If your operator is a factory function (that is, it takes no "
                "Tensors and constructs a new one), then please use "
                "CustomOp.impl_factory to register an implementation for it"
            )
        kind = tensors[0].device.type
        if kind == "meta":
            raise NotImplementedError(
                f"{self._qualname}: attempted to run this operator with Meta "
                "tensors, but there was no fake impl or Meta kernel registered."
            )
        raise NotImplementedError(
            f"{self}: when running with device='{kind}' tensors: there is no "
            f"{kind} impl registered for this CustomOp. "
            f"Please register one via CustomOp.impl(device_type='{kind}')"
        )

    def _register_impl(self, kind: str, func: Callable, stacklevel: int):
        known = self._impls.get(kind)
        if known is not None:
            raise RuntimeError(
                f"Attempting to register a {kind} impl for operator "
                f"{self._qualname} that already has a {kind} impl registered "
                f"from Python at {known.location}. This is not supported."
            )
        location = utils.get_source(stacklevel + 1)
        self._impls[kind] = FuncAndLocation(func, location)

    def _operator(self) -> table.Operator:
        return table.find(self._qualname)

    def impl(self, device_types: str | Iterable[str], _stacklevel: int = 2) -> Callable:
        """A decorator for the kernel of device types, "cpu" and "cuda"."""
        if isinstance(device_types, str):
            device_types = [device_types]
        for kind in device_types:
            if kind not in SUPPORTED_DEVICE_TYPE_TO_KEY:
                raise ValueError(
                    f"CustomOp.impl(device_types=[{kind}, ...]): we only "
                    "support device_type in "
                    f"{SUPPORTED_DEVICE_TYPE_TO_KEY.keys()}."
                )

        def register(function: Callable) -> Callable:
            for kind in sorted(set(device_types)):
                self._check_free(kind)
                self._register_impl(kind, function, _stacklevel)
                key = SUPPORTED_DEVICE_TYPE_TO_KEY[kind]
                self._lib.impl(self._opname, function, key)
            return function

        return register

    def _check_free(self, kind: str) -> None:
        key = SUPPORTED_DEVICE_TYPE_TO_KEY[kind]
        found = self._operator().kernel(key)
        if kind not in self._impls and found not in (None, self._unmade):
            raise RuntimeError(
                f"impl(..., device_types={kind}): the operator "
                f"{self._qualname} already has an implementation for this "
                "device type via a pre-existing torch.library or TORCH_LIBRARY "
                "registration."
            )

    def impl_factory(self) -> Callable:
        """A decorator for the kernel of calls without tensors."""

        def register(function: Callable) -> Callable:
            self._register_impl("factory", function, 2)
            self._lib.impl(self._opname, function, "BackendSelect")
            return function

        return register

    def impl_abstract(self, _stacklevel: int = 2) -> Callable:
        """A decorator for what says how results look."""

        def register(function: Callable) -> Callable:
            self._register_impl("abstract", function, _stacklevel)
            self._lib._register_fake(self._opname, function)
            return function

        return register

    def _check_backward(self) -> None:
        schema = self._schema

        def refuse(detail: str):
            raise RuntimeError(
                "Cannot use torch._custom_ops APIs to register backward "
                f"formula for {detail}. "
                f"Got operator {self._qualname} with schema: {schema}"
            )

        if schema.is_mutable:
            refuse("non-functional operator")
        if not schema.returns:
            refuse("operator with no returns")
        if any(r.alias_info is not None for r in schema.returns):
            refuse("operator that returns views")
        if not self._derives:
            self._check_underived()

    def _check_underived(self) -> None:
        operator = self._operator()
        if operator.has(keys.COMPOSITE):
            raise RuntimeError(
                _COMPOSITE.format(
                    "impl_backward/impl_save_for_backward",
                    self._qualname,
                    "an autograd formula",
                    "autograd formula",
                )
            )
        for key in ("Autograd", "AutogradCPU", "AutogradCUDA"):
            if operator.has(key):
                raise RuntimeError(
                    "impl_backward/impl_save_for_backward: the operator "
                    f"{self._qualname} already has an Autograd kernel "
                    f"registered to DispatchKey::{key} vi a pre-existing "
                    "torch.library or TORCH_LIBRARY registration. "
                    "Please either remove those registrations or don't use the "
                    "torch._custom_ops APIs"
                )

    def _derive(self) -> None:
        if not self._derives:
            self._lib.impl(self._opname, formula.kernel(self), "Autograd")
            self._derives = True

    def impl_save_for_backward(self, _stacklevel: int = 2) -> Callable:
        """A decorator for `func(inputs, output)`, which returns what the
        formula needs.
        """

        def register(function: Callable) -> None:
            self._check_backward()
            self._derive()
            self._register_impl("save_for_backward", function, _stacklevel)

        return register

    def impl_backward(
        self, output_differentiability=None, _stacklevel: int = 2
    ) -> Callable:
        """A decorator for `func(ctx, saved, *grads)`, which returns a
        dictionary of gradients.
        """
        which = output_differentiability
        if which is not None and not (
            isinstance(which, list)
            and all(isinstance(x, bool) for x in which)
            and len(which) == len(self._schema.returns)
        ):
            raise RuntimeError(_DIFFERENTIABILITY.format(which))

        def register(function: Callable) -> None:
            self._check_backward()
            self._derive()
            self._register_impl("backward", function, _stacklevel)
            self._differentiable = which

        return register


def find(qualname: str, known: bool = False) -> CustomOp:
    """The CustomOp of a name. One that a Library defined gets one, unless
    `known`.

    RuntimeError where there is no operator of that name.
    """
    if qualname in global_registry:
        return global_registry[qualname]
    operator = table.find(qualname)
    if known or operator is None:
        raise RuntimeError(
            f'Could not find custom op "{qualname}". Did you register it via '
            "the torch._custom_ops API?"
        )
    namespace, name = parse_qualname(qualname)
    library = Library(namespace, "FRAGMENT")
    return CustomOp(library, namespace, operator.schema, name, None, _private=True)


def get_op(qualname: str):
    """The overload "ns::name"; ValueError if there is none."""
    try:
        return utils.lookup_op(qualname)
    except AttributeError:
        raise ValueError(
            f"Could not find the operator {qualname}. "
            "Please make sure you have already registered the operator and (if "
            "registered from C++) loaded it via torch.ops.load_library."
        ) from None


def get_abstract_impl(qualname: str) -> Callable | None:
    """Returns what `impl_abstract` registered."""
    found = find(qualname)._impls.get("abstract")
    return None if found is None else found.func
