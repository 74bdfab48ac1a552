"""Operators made of one Python function: `hotaru.library.custom_op`."""

from __future__ import annotations

import contextlib
import inspect
import logging
import weakref
from collections.abc import Callable, Iterable, Sequence

from .. import _C, device
from .._functorch import config
from .._operators import arguments, keys, table
from .._operators.dispatch import on_device, run
from .._operators.tags import Tag
from . import rules, utils
from .autograd import Info, make_autograd_impl
from .definitions import Library, device_type_to_key
from .infer_schema import infer_schema

log = logging.getLogger("torch._library.custom_ops")
_defined: weakref.WeakValueDictionary[str, CustomOpDef] = weakref.WeakValueDictionary()
_libraries: dict[str, object] = {}
_NO_DEVICE = (
    "Functions without tensor inputs are required to have a `device: "
    "torch.device` argument"
)


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags=None,
):
    """Makes an operator of a Python function.

    Args:
        name: "namespace::name".
        fn: the function; without it, a decorator is returned.
        mutates_args: the parameters that it writes to, or "unknown".
        device_types: what `fn` is for, "cpu"; None for all devices.
        schema: "(Tensor x) -> Tensor"; None takes the annotations of `fn`.
        tags: of the operator.

    Returns:
        A CustomOpDef, which is called like the function.

    Raises:
        ValueError: annotations that no schema can say, or a schema that
            contradicts `mutates_args`.
    """

    def make(function: Callable) -> CustomOpDef:
        text = schema
        if text is None:
            text = infer_schema(function, mutates_args=mutates_args)
        namespace, short = utils.parse_namespace(name)
        made = CustomOpDef(namespace, short, text, function, tags)
        if schema is not None:
            _check_mutated(made, schema, mutates_args)
        made.register_kernel(device_types)(function)
        return made

    return make if fn is None else make(fn)


def _check_mutated(made: CustomOpDef, schema: str, mutates_args) -> None:
    expected = {a.name for a in made._opoverload._schema.arguments if a.is_write}
    if mutates_args == "unknown" or set(mutates_args) == expected:
        return
    raise ValueError(
        f"Attempted to create a custom op with `mutates_args={mutates_args}` "
        f"and `schema={schema}. The schema suggests that the op mutates "
        f"{expected}which is different from what was provided to us in "
        "`mutates_args`. Please make these consistent."
    )


class CustomOpDef:
    """An operator made of a Python function; see `custom_op`.

    Calling it calls the operator, which `torch.ops` has too.
    """

    def __init__(
        self, namespace: str, name: str, schema: str, fn: Callable, tags=None
    ) -> None:
        self._namespace = namespace
        self._name = name
        self._schema = schema
        self._init_fn = fn
        self._backend_fns: dict[str | None, Callable] = {}
        self._disabled: set[str] = set()
        self._fake: Callable | None = None
        self._info = None
        self._tags = [] if tags is None else tags
        self._lib = _fresh_library(namespace, name)
        self._register()
        _defined[self._qualname] = self

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    @property
    def _vmap_rule(self) -> Callable | None:
        return self._operator.vmap

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, /, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types: str | Sequence[str] | None, fn=None, /):
        """Takes a function as the kernel of device types, None for all.

        ValueError for an operator without tensors and without an argument
        `device`.
        """

        def register(function: Callable) -> Callable:
            types = device_types
            if types is None or isinstance(types, str):
                types = [types]
            schema = self._opoverload._schema
            if (
                types != [None]
                and not utils.has_tensor_arg(schema)
                and utils.get_device_arg_index(schema) is None
            ):
                raise ValueError(_NO_DEVICE)
            for kind in types:
                self._add_kernel(kind, function)
            return function

        return register if fn is None else register(fn)

    def _add_kernel(self, kind: str | None, function: Callable) -> None:
        first = kind not in self._backend_fns
        self._backend_fns[kind] = function
        if not first:
            return

        def kernel(*args, **kwargs):
            chosen = kind
            if kind in self._disabled:
                chosen = None
            chosen = self._backend_fns.get(chosen, self._init_fn)
            result = chosen(*args, **kwargs)
            self._check_result(chosen, args, kwargs, result)
            return result

        if kind is None:
            self._lib.impl(self._name, kernel, "CompositeExplicitAutograd")
            return
        key = device_type_to_key(kind)
        self._lib.impl(self._name, kernel, key)

    def _check_result(self, run, args, kwargs, result) -> None:
        if config.check_custom_op_aliasing:
            utils.check_aliasing_constraint(
                self._qualname,
                arguments.tensors_in(args, kwargs),
                result,
                inspect.unwrap(run),
            )

    def register_fake(self, fn: Callable, /) -> Callable:
        """Takes a function that says what results look like: it gets meta
        tensors and returns such.
        """
        self._fake = fn
        return fn

    def register_autograd(
        self, backward: Callable, /, *, setup_context: Callable | None = None
    ) -> None:
        """Takes a derivative.

        Args:
            backward: gets a context and the gradients of the results, returns
                a gradient (or None) for each argument.
            setup_context: gets `ctx, inputs, output` and saves what `backward`
                needs; `keyword_only_inputs` too where there are such.

        Raises:
            RuntimeError: the operator writes to arguments or returns views.
        """
        rules.require_functional(self, self._opoverload._schema)
        self._info.backward = backward
        self._info.setup_context = setup_context

    def register_vmap(self, func: Callable | None = None):
        """Takes a batching rule; see `library.register_vmap`."""
        return rules.register_vmap(self._operator, func)

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        """Takes the answer of a mode or class; see
        `library.register_torch_dispatch`.
        """

        def register(function: Callable) -> Callable:
            self._lib._register_torch_dispatch_rule(
                self._name, torch_dispatch_class, function
            )
            return function

        return register if fn is None else register(fn)

    def register_autocast(self, device_type: str, cast_inputs) -> None:
        """Casts floating point arguments under autocast."""
        rules.register_autocast(self._operator, device_type, cast_inputs)

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True):
        """Inside, the kernel of a device type is used or not; if not, the
        function that the operator was made of runs.
        """
        change = "enable" if enabled else "disable"
        before = set(self._disabled)
        if device_type not in self._backend_fns:
            log.warning(
                "Attempted to %s kernel for %s but no kernel was registered "
                "for this device type.",
                change,
                device_type,
            )
        elif enabled == (device_type not in self._disabled):
            log.warning(
                "Attempted to %s kernel for %s but it is already %sd.",
                change,
                device_type,
                change,
            )
        elif enabled:
            self._disabled.discard(device_type)
        else:
            self._disabled.add(device_type)
        try:
            yield
        finally:
            self._disabled.clear()
            self._disabled.update(before)

    def _register(self) -> None:
        lib = self._lib
        text = self._name + self._schema
        schema = lib._parsed(text)
        if utils.has_kwarg_only_tensors(schema):
            raise NotImplementedError(
                "custom_op with kwarg-only Tensor args. "
                f"Please make your tensors not kwarg-only. Got: {text}"
            )
        tags = [*self._tags, Tag.pt2_compliant_tag]
        lib.define(text, tags=tags)
        self._opoverload = utils.lookup_op(self._qualname)
        self._operator = operator = table.find(self._qualname)
        lib._register_fake(self._name, self._run_fake, source=self._source())
        self._info = Info(None, None)
        formula = make_autograd_impl(operator, self._info)
        lib.impl(self._name, formula, "Autograd")
        if schema.is_mutable:
            lib.impl(self._name, self._bumped, "ADInplaceOrView")
        if not utils.has_tensor_arg(schema):
            self._register_by_device(schema)

    def _source(self) -> str:
        code = getattr(inspect.unwrap(self._init_fn), "__code__", None)
        if code is None:
            return repr(self._init_fn)
        return f"{code.co_filename}:{code.co_firstlineno}"

    def _run_fake(self, /, *args, **kwargs):
        if self._fake is None:
            writes = self._opoverload._schema
            if writes.is_mutable and not writes.returns:
                return None
            raise RuntimeError(
                f"There was no fake impl registered for {self}. This is "
                "necessary for torch.compile/export/fx tracing to work. "
                f"Please use `{self._init_fn.__name__}.register_fake` to add "
                "an fake impl."
            )
        return self._fake(*args, **kwargs)

    def _bumped(self, /, *args, **kwargs):
        """Runs the kernel and counts a version of all that it writes to."""
        schema = self._opoverload._schema
        written = utils.mutated_tensors(schema, args, kwargs)
        _C._increment_version(tuple(written))
        with keys.AutoDispatchBelowADInplaceOrView():
            return run(self._operator, args, kwargs)

    def _register_by_device(self, schema) -> None:
        position = utils.get_device_arg_index(schema)
        if position is None:
            return

        def chosen(*args, **kwargs):
            values, named = arguments.filled(schema, args, kwargs)
            if position < len(values):
                kind = device(values[position]).type
            else:
                kind = device(named["device"]).type
            known = kind in self._backend_fns or None in self._backend_fns
            if not known and kind != "meta":
                raise RuntimeError(
                    f"{self._name} does not have a kernel registered for "
                    f"{kind}. Please use register_kernel to do so."
                )
            return on_device(self._operator, kind, args, kwargs)

        self._lib.impl(self._name, chosen, "BackendSelect")


def _fresh_library(namespace: str, name: str):
    """A library for one operator, in the place of the one it had."""
    qualname = f"{namespace}::{name}"
    old = _libraries.pop(qualname, None)
    if old is not None:
        old._destroy()
    made = _libraries[qualname] = Library(namespace, "FRAGMENT")
    return made


def maybe_opdef(op) -> CustomOpDef | None:
    """The CustomOpDef of an operator, its overload or its name."""
    if isinstance(op, CustomOpDef):
        return op
    name = op if isinstance(op, str) else op._name
    return _defined.get(name)
