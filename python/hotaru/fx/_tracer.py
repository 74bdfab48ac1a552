"""The tracer: runs programs with proxies in the place of values."""

from __future__ import annotations

import collections
import copy
import inspect
import math
import threading
import types
import warnings

import hotaru

from .. import Tensor, nn
from .._C import Function
from .._own_names import is_own
from ..utils import _pytree as pytree
from ._patching import Patcher, find_proxy, patch_globals, patch_wrapped
from .graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from .node import base_types
from .proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase

_proxyable_classes: dict = {}


class _Tracing(threading.local):
    now = False


_tracing = _Tracing()


def is_fx_tracing() -> bool:
    """True if a program is being traced, by this thread."""
    return _tracing.now


class ProxyableClassMeta(type):
    """Metaclass: construction with proxies among the arguments is a node."""

    def __init__(cls, name, bases, attrs) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args, **kwargs):
        proxy = find_proxy(args, kwargs)
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


class PHBase:
    """Stands among concrete arguments for an input of the graph."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """One whose attributes the input's node gets."""

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


def _assert_is_none(value, msg):
    if isinstance(value, Proxy):  # code that says so is traced again
        call = value.tracer.create_proxy
        return call("call_function", _assert_is_none, (value, msg), {})
    assert value is None, msg


# Code of specialized graphs calls it by this name.
_assert_is_none.__module__ = "hotaru.fx._symbolic_trace"


def _without_varargs(function, count: int):
    """The function with `count` positional parameters, *args one of them."""
    code = function.__code__
    stars = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    code = code.replace(
        co_argcount=count,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=code.co_flags & ~stars,
    )
    return types.FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )


class Tracer(TracerBase):
    """Traces modules and functions; subclasses change what is recorded.

    Calls of the public functions of `autowrap_modules` and of
    `autowrap_functions` are nodes where an argument is a proxy. With
    `param_shapes_constant` shapes of parameters are known to the program.
    """

    def __init__(
        self,
        autowrap_modules=(math,),
        autowrap_functions=(),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        self._autowrap_function_ids = {
            id(value)
            for module in autowrap_modules
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        }
        self._autowrap_function_ids |= {id(f) for f in autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict = {}
        self.node_name_to_scope: dict = {}
        self._patcher: Patcher | None = None

    # -- what users override ---------------------------------------------------

    def is_leaf_module(self, m, module_qualified_name: str) -> bool:
        """Tells whether calls of a module are nodes; those of torch.nn, if not
        Sequential.
        """
        own = is_own(type(m).__module__, "nn")
        return own and not isinstance(m, nn.Sequential)

    def path_of_module(self, mod) -> str:
        """Where a module is below the root; NameError if it is not."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
        else:
            named = self.root.named_modules()
            path = next((name for name, m in named if m is mod), None)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(self, m, forward, args, kwargs):
        """Asked where the program calls a module; `forward` does."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            count = self.num_calls.get(path, 0)
            key = f"{path}@{count}" if count else path
            self.num_calls[path] = count + 1
            self.module_stack[key] = (path, scope.module_type)
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.popitem(last=True)

    def getattr(self, attr: str, attr_val, parameter_proxy_cache: dict):
        """Asked for attributes of modules; parameters are proxies."""
        if isinstance(attr_val, nn.Parameter):
            found = self._attribute(
                attr_val, self.root.named_parameters(), parameter_proxy_cache
            )
            if found is not None:
                return found
        if self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            found = self._attribute(
                attr_val, self.root.named_buffers(), parameter_proxy_cache
            )
            if found is not None:
                return found
        return attr_val

    def _attribute(self, value, members, cache: dict):
        for name, member in members:
            if member is not value:
                continue
            if name not in cache:
                make = None
                if self.param_shapes_constant and isinstance(value, nn.Parameter):

                    def make(node, name=name):
                        return ParameterProxy(self, node, name, value)

                # Subclasses' own may know no factory.
                known = inspect.signature(self.create_proxy).parameters
                given = {"proxy_factory_fn": make}
                given = given if given.keys() <= known.keys() else {}
                cache[name] = self.create_proxy("get_attr", name, (), {}, **given)
            return cache[name]
        return None

    # -- arguments -------------------------------------------------------------

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name that the root has no attribute of."""
        i = 0
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        return f"{prefix}{i}"

    def create_arg(self, a):
        """Tensors and modules are attributes of the root, which gets those
        that it does not have; NameError for foreign parameters.
        """
        if isinstance(a, nn.Parameter):
            for name, member in self.root.named_parameters():
                if a is member:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            for name, member in self.root.named_buffers():
                if a is member:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, nn.Module):
            for name, member in self.root.named_modules():
                if a is member:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            args = tuple(self.create_arg(item) for item in a)
            return self.create_node("call_function", type(a), args, {})
        if isinstance(a, Tensor):
            return self._constant(a, "_tensor_constant")
        if type(a) in _proxyable_classes:
            return self._constant(a, f"_{type(a).__name__}_constant_")
        return super().create_arg(a)

    def _constant(self, value, prefix: str):
        key = value if isinstance(value, Tensor) else id(value)
        name = self.tensor_attrs.get(key)
        if name is None:
            name = self.get_fresh_qualname(prefix)
            self.tensor_attrs[key] = name
            setattr(self.root, name, value)
        return self.create_node("get_attr", name, (), {})

    def create_args_for_root(self, root_fn, is_module: bool, concrete_args=None):
        """Placeholders for a function's parameters.

        Returns the function to call and its arguments.
        """
        original = inspect.unwrap(root_fn)
        code = original.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        if is_module and total == 0:
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        names = list(code.co_varnames[int(is_module) : total])
        stars = list(code.co_varnames[total:])
        first = [self.root] if is_module else []
        inputs = _Inputs(self, original, concrete_args)
        has_args = code.co_flags & inspect.CO_VARARGS
        has_kwargs = code.co_flags & inspect.CO_VARKEYWORDS
        if isinstance(concrete_args, tuple):
            if has_args and len(concrete_args) > len(names):
                names = [f"input_{i}" for i in range(len(concrete_args))]
                has_args = has_kwargs = False
            inputs.name_by_position(names)
        args = [inputs.make(name) for name in names]
        if names and names[0] == "input_0":
            return root_fn, [*first, *args]
        if has_args:
            args.append(inputs.make("*" + stars.pop(0)))
        if has_kwargs:
            args.append(inputs.make("**" + stars.pop(0)))
        if code.co_kwonlyargcount or has_args or has_kwargs:
            root_fn = _without_varargs(original, len(first) + len(args))
        leaves, spec = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in spec.children()):
            return root_fn, [*first, *args]
        return self._flat(root_fn, first, names, spec), leaves

    def _flat(self, function, first: list, names: list[str], spec):
        """The function from flat inputs to flat outputs; the code generator
        does the rest.
        """
        info = _PyTreeInfo(names, spec, None)
        codegen = self.graph._codegen = _PyTreeCodeGen(info)

        def call(*leaves):
            args = pytree.tree_unflatten(leaves, spec)
            results, out_spec = pytree.tree_flatten(function(*first, *args))
            codegen.pytree_info = info._replace(out_spec=out_spec)
            return results

        return call

    # -- tracing ---------------------------------------------------------------

    def trace(self, root, concrete_args=None) -> Graph:
        """The graph of a module or function.

        `concrete_args` gives inputs values, by name or as a tuple; PH in them
        stands for what stays an input.
        """
        before, _tracing.now = _tracing.now, True
        try:
            return self._trace(root, concrete_args)
        finally:
            _tracing.now = before

    def _trace(self, root, concrete_args) -> Graph:
        function = self._function_of(root)
        is_module = isinstance(root, nn.Module)
        self.num_calls = {}
        self.graph = Graph(tracer_cls=getattr(self, "__class__", None))
        code = getattr(function, "__code__", None)
        if code is not None:
            self.graph._co_fields = {
                "co_name": code.co_name,
                "co_filename": code.co_filename,
                "co_firstlineno": code.co_firstlineno,
            }
        self.tensor_attrs = _tensor_attributes(self.root)
        if not isinstance(function, types.FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(function)}")
        names = function.__globals__
        function, args = self.create_args_for_root(function, is_module, concrete_args)
        # One that takes stars or trees has lost it, here as in PyTorch.
        annotation = function.__annotations__.get("return")
        with Patcher() as patcher:
            self._patch(patcher, names)
            result = self.create_arg(function(*args))
            self.create_node("output", "output", (result,), {}, None, annotation)
        self.submodule_paths = None
        return self.graph

    def _function_of(self, root):
        if not isinstance(root, nn.Module):
            self.root = nn.Module()
            self.submodule_paths = None
            return root.__wrapped__ if isinstance(root, Function) else root
        self.root = root
        if not hasattr(type(root), self.traced_func_name):
            raise AssertionError(
                f"traced_func_name={self.traced_func_name} doesn't exist in "
                f"{type(root).__name__}"
            )
        self.root_module_name = type(root).__name__
        self.submodule_paths = {m: name for name, m in root.named_modules()}
        return getattr(type(root), self.traced_func_name)

    def _patch(self, patcher: Patcher, names: dict) -> None:
        """Makes modules and wrapped functions ask this tracer."""
        parameters: dict = {}
        get, call = nn.Module.__getattr__, nn.Module.__call__
        ids = self._autowrap_function_ids

        def module_getattr(module, attr):
            if not patcher.is_here():
                return get(module, attr)
            return self.getattr(attr, get(module, attr), parameters)

        def module_call(module, *args, **kwargs):
            if not patcher.is_here():
                return call(module, *args, **kwargs)

            def forward(*args, **kwargs):
                return call(module, *args, **kwargs)

            body = getattr(module, "forward", module)
            patch_globals(patcher, getattr(body, "__globals__", {}), ids)
            return self.call_module(module, forward, args, kwargs)

        # Traces within traces exchange them again.
        patcher.patch_method(nn.Module, "__getattr__", module_getattr, False)
        patcher.patch_method(nn.Module, "__call__", module_call, False)
        patch_wrapped(patcher)
        patch_globals(patcher, names, ids)
        for module in self._autowrap_search:
            patch_globals(patcher, vars(module), ids)

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for name, value in self.__dict__.items():
            # Modules of Python cannot be copied.
            shared = name in ("_autowrap_search", "_autowrap_function_ids")
            made.__dict__[name] = value if shared else copy.deepcopy(value, memo)
        return made


def _tensor_attributes(root) -> dict:
    """Paths of the tensors that modules have as plain attributes."""
    found: dict = {}
    for path, module in root.named_modules():
        for name, value in module.__dict__.items():
            if isinstance(value, Tensor):
                found[value] = f"{path}.{name}" if path else name
    return found


class _Inputs:
    """Makes the placeholders of a function."""

    def __init__(self, tracer: Tracer, function, concrete) -> None:
        self._tracer = tracer
        self._parameters = inspect.signature(function).parameters
        self._annotations = function.__annotations__
        self._concrete = concrete or {}

    def name_by_position(self, names: list[str]) -> None:
        if len(names) != len(self._concrete):
            raise RuntimeError(
                f"Tracing expected {len(names)} arguments but got "
                f"{len(self._concrete)} concrete arguments"
            )
        if names and names[0] == "input_0":
            self._concrete = {}
        else:
            self._concrete = dict(zip(names, self._concrete))

    def make(self, name: str):
        """The proxy, or the concrete value, of a parameter."""
        default = self._default(name)
        if name not in self._concrete:
            return self._tracer.create_proxy(
                "placeholder", name, default, {}, type_expr=self._annotations.get(name)
            )
        count = 0

        def replace(value):
            nonlocal count
            count += 1
            proxy = self._tracer.create_proxy(
                "placeholder", f"{name}_{count}", default, {}
            )
            if isinstance(value, PHBase):
                if value is not PH:
                    self._take_attributes(value, proxy.node)
                return proxy
            self._check(name, value, proxy)
            return value

        return pytree.tree_map(replace, self._concrete[name])

    def _default(self, name: str) -> tuple:
        parameter = self._parameters.get(name)
        if parameter is None or parameter.default is inspect.Parameter.empty:
            return ()
        return (parameter.default,)

    @staticmethod
    def _take_attributes(placeholder: PHBase, node) -> None:
        for name in dir(placeholder):
            if not name.startswith("__") and not hasattr(node, name):
                setattr(node, name, getattr(placeholder, name))

    def _check(self, name: str, value, proxy: Proxy) -> None:
        """Records that the graph holds for this value only."""
        message = (
            f"{name} has been specialized to have value {value} but got another value"
        )
        if isinstance(value, base_types) and not isinstance(value, Tensor):
            hotaru._assert(proxy == value, message)
        elif value is None:
            self._tracer.create_proxy(
                "call_function", _assert_is_none, (proxy, message), {}
            )
        else:
            warnings.warn(
                "Was not able to add assertion to guarantee correct input "
                f"{name} to specialized function. It is up to the user to make "
                "sure that your inputs match the inputs you specialized the "
                "function with.",
                stacklevel=2,
            )
