"""Compiled modules, from archives or from source."""

from __future__ import annotations

import functools
import io
import os
import sys
import types

from .. import _C
from .._late import lent
from .._own_names import no_member, not_iterable
from ..nn import Module
from ..nn.modules._aspects.conversion import parse_to
from . import _native_module
from ._containers.methods import METHODS
from ._errors import make_error
from ._files import existing_file, place_of, save
from ._marks import Attribute
from ._shown import graph_of, known_owner, method_graph, shown_graph
from ._source import frame_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _CompiledWhenMade(type):
    """Makes calling a subclass give the compiled module."""

    compile = None  # `script`, which knows this file and puts itself here

    def __call__(cls, *args, **kwargs):
        return _CompiledWhenMade.compile(super().__call__(*args, **kwargs))


class ScriptModule(Module, metaclass=_CompiledWhenMade):
    """The base of compiled modules, and of classes that compile themselves.

    An instance of a subclass is compiled as soon as its `__init__` has run:
    what the program gets is a `RecursiveScriptModule`.
    """

    if TYPE_CHECKING:  # set on the class below
        code: str
        code_with_constants: tuple
        graph: Any
        inlined_graph: Any
        original_name: str

        def forward_magic_method(self, method_name: str, *args, **kwargs) -> Any: ...
        def graph_for(self, *args, **kwargs) -> Any: ...
        def save(self, f, **kwargs) -> None: ...
        def save_to_buffer(self, **kwargs) -> bytes: ...

    def __setattr__(self, name: str, value) -> None:
        if isinstance(value, Attribute):  # from here on it is its value
            self.__dict__.setdefault("_script_types", {})[name] = value.type
            value = value.value
        super().__setattr__(name, value)

    def define(self, src: str, _frames_up: int = 0) -> None:
        """Adds methods from source, to be compiled with the module.

        Names mean what they mean where this is called.
        """
        names = frame_names(sys._getframe(1 + _frames_up))
        self.__dict__.setdefault("_script_sources", []).append((src, names))


class _OfCompiled:
    """Attribute that a compiled module has. Every instance of a `ScriptModule`
    is one as soon as its `__init__` has run; until then there is no such
    attribute.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, module, owner=None):
        if module is None:
            return getattr(RecursiveScriptModule, self._name)
        why = ": it is compiled when its __init__ has run"
        raise no_member(type(module), self._name, why)


class ConstMap:
    """The constants of a program's source as attributes: c0, c1 and so on."""

    def __init__(self, const_mapping: dict) -> None:
        self.const_mapping = const_mapping

    def __getattr__(self, name: str):
        try:
            return self.__dict__["const_mapping"][name]
        except KeyError:
            raise AttributeError(name) from None


class RecursiveScriptModule(ScriptModule):
    """A TorchScript module: callable, with the attributes of its archive.

    Parameters, buffers and attributes live in the native module; reading and
    assigning them goes there. Several threads may call one module whose code
    assigns no attributes.
    """

    # Compiles methods of a native module: `script`'s part puts it here.
    _define = None

    def __init__(self) -> None:
        raise TypeError("RecursiveScriptModule: load one with hotaru.jit.load")

    @classmethod
    def _wrap(cls, native: _C.ScriptModule) -> RecursiveScriptModule:
        self = cls.__new__(cls)
        Module.__init__(self)
        object.__setattr__(self, "_c", native)
        if native.has_method("forward"):
            self._keep_method("forward")
        for hook in native.hooks(True):
            self.register_forward_pre_hook(hook)
        for hook in native.hooks(False):
            self.register_forward_hook(hook)
        return self

    def _keep_method(self, name: str):
        method = self._c.method(name)
        object.__setattr__(self, name, method)
        known_owner(method, self)
        return method

    # --- attributes ---

    def __getattr__(self, name: str):
        native = self.__dict__.get("_c")
        if native is not None:
            if native.has_attribute(name):
                return native.attribute(name)
            if native.has_method(name):
                return self._keep_method(name)
            if name in ("keys", "items", "values"):
                contained = getattr(METHODS.get(native.container), name, None)
                if contained is not None:
                    return functools.partial(contained, self)
        raise no_member(type(self), name)

    def __setattr__(self, name: str, value) -> None:
        native = self.__dict__.get("_c")
        if native is not None and native.has_attribute(name):
            if isinstance(value, Module) and not isinstance(
                value, RecursiveScriptModule
            ):
                raise RuntimeError(
                    "Cannot re-assign modules in a ScriptModule with "
                    "non-scripted module, tried to replace existing module "
                    f"'{name}': {value}"
                )
            native.set_attribute(name, value)
        else:
            object.__setattr__(self, name, value)

    def __dir__(self):
        children = (name for name, _ in self._c.named_children())
        attributes = (name for name, _ in self._c.attributes())
        own = object.__dir__(self)
        return sorted({*own, *self._c.method_names(), *children, *attributes})

    @property
    def original_name(self) -> str:
        """The class's own name."""
        return self._c.type_name.rpartition(".")[2]

    @property
    def training(self) -> bool:
        """True if the module is in training mode."""
        native = self.__dict__.get("_c")
        if native is None or not native.has_attribute("training"):
            return False
        return native.attribute("training")

    @training.setter
    def training(self, value: bool) -> None:
        native = self.__dict__.get("_c")
        if native is not None and native.has_attribute("training"):
            native.set_attribute("training", bool(value))

    @property
    def _modules(self) -> types.MappingProxyType:
        """The direct submodules by name; assign attributes to change them."""
        native = self.__dict__.get("_c")
        children = dict(native.named_children()) if native is not None else {}
        return types.MappingProxyType(children)

    @_modules.setter
    def _modules(self, value) -> None:
        self._refuse(value, "submodules")

    @property
    def _parameters(self) -> types.MappingProxyType:
        """The module's own parameters by name."""
        return self._own_tensors("named_parameters")

    @property
    def _buffers(self) -> types.MappingProxyType:
        """The module's own buffers by name."""
        return self._own_tensors("named_buffers")

    def _own_tensors(self, kind: str) -> types.MappingProxyType:
        native = self.__dict__.get("_c")
        found = {} if native is None else dict(getattr(native, kind)(False))
        return types.MappingProxyType(found)

    @_parameters.setter
    def _parameters(self, value) -> None:
        self._refuse(value, "parameters")

    @_buffers.setter
    def _buffers(self, value) -> None:
        self._refuse(value, "buffers")

    def _refuse(self, value, what: str) -> None:
        if value:
            raise RuntimeError(f"the {what} of a ScriptModule are those of its program")

    # --- code ---

    @property
    def code(self) -> str:
        """TorchScript source of forward."""
        return self._c.code("forward")

    @property
    def code_with_constants(self) -> tuple[str, ConstMap]:
        """`code`, and what its CONSTANTS.c0, c1 and so on are."""
        code, constants = self._c.code_with_constants("forward")
        named = {f"c{i}": value for i, value in enumerate(constants)}
        return code, ConstMap(named)

    @property
    def graph(self) -> _C.Graph:
        """Forward as a graph, with calls as calls."""
        return shown_graph(self, self._c.method("forward"), "forward")

    @property
    def inlined_graph(self) -> _C.Graph:
        """As graph, with what is called in place of calls."""
        return self._c.method("forward").inlined_graph

    def graph_for(self, *args, **kwargs) -> _C.Graph:
        """Graph that runs for these arguments, after a call of forward."""
        return _graph_for(self._c.method("forward"), *args, **kwargs)

    def define(self, src: str, _frames_up: int = 0) -> None:
        """Compiles methods from source, here and for modules that share the
        class.

        RuntimeError: the source is not TorchScript, a method of that name is
        there, or the module is from an archive.
        """
        names = frame_names(sys._getframe(1 + _frames_up))
        RecursiveScriptModule._define(self._c, src, names)
        if "forward" not in self.__dict__ and self._c.has_method("forward"):
            self._keep_method("forward")

    def save(self, f, _extra_files=None) -> None:
        """As `jit.save(self, f)`."""
        save(self, f, _extra_files)

    def save_to_buffer(self, _extra_files=None) -> bytes:
        """The archive that `save` would write, as bytes."""
        buffer = io.BytesIO()
        save(self, buffer, _extra_files)
        return buffer.getvalue()

    def _save_for_lite_interpreter(self, f, _extra_files=None, **kwargs) -> None:
        """Writes an archive with instructions for PyTorch on mobile devices.

        Args:
            f: a path.
            _extra_files: as `jit.save` takes them.
            **kwargs: `_save_mobile_debug_info` and `_use_flatbuffer`, which must be
                False: NotImplementedError otherwise.
        """
        data = self._save_to_buffer_for_lite_interpreter(_extra_files, **kwargs)
        with open(f, "wb") as file:
            file.write(data)

    def _save_to_buffer_for_lite_interpreter(self, _extra_files=None, **kwargs):
        """The archive that `_save_for_lite_interpreter` writes, as bytes."""
        from .mobile._write import lite_archive

        for name in kwargs:
            if name not in ("_save_mobile_debug_info", "_use_flatbuffer"):
                raise TypeError(f"_save_for_lite_interpreter: unknown '{name}'")
            if kwargs[name]:
                raise NotImplementedError(f"_save_for_lite_interpreter: {name}=True")
        return lite_archive(self._c, self.save_to_buffer(_extra_files))

    def forward_magic_method(self, method_name: str, *args, **kwargs):
        """Calls a method such as `__len__` that the program defined.

        NotImplementedError: it defined none.
        """
        method = getattr(self, method_name)
        inherited = getattr(RecursiveScriptModule, method_name, None)
        if getattr(method, "__func__", None) is inherited:
            raise NotImplementedError(
                f"{type(self).__name__}: no method {method_name} was compiled"
            )
        return method(*args, **kwargs)

    def __reduce_package__(self, exporter):
        """As pickles of a package have it: a number of a module there."""
        number = exporter.script_module_serializer.serialize(self)
        return unpackage_script_module, (str(number),)

    # --- parameters, buffers, modules ---

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Pairs of name and parameter."""
        return _named(self._c.named_parameters(recurse), prefix, remove_duplicate)

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Pairs of name and buffer."""
        return _named(self._c.named_buffers(recurse), prefix, remove_duplicate)

    def named_children(self):
        """Pairs of name and direct submodule."""
        yield from self._c.named_children()

    def children(self):
        """Direct submodules."""
        for _, child in self.named_children():
            yield child

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Pairs of name and module, this one first."""
        yield prefix, self
        for name, child in self.named_children():
            inner = f"{prefix}.{name}" if prefix else name
            yield from child.named_modules(memo, inner, remove_duplicate)

    def modules(self):
        """This module and all below it."""
        for _, module in self.named_modules():
            yield module

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Names and tensors of parameters and buffers, module by module."""
        out = {} if destination is None else destination
        for place, module in self.named_modules():
            start = prefix + place + "." * bool(place)
            native = module._c
            for name, tensor in (
                *native.named_parameters(False),
                *native.named_buffers(False),
            ):
                out[start + name] = tensor if keep_vars else tensor.detach()
        return out

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies tensors into parameters and buffers of the same name, or puts
        them in their places with `assign`.

        Returns:
            A pair `(missing_keys, unexpected_keys)`.

        Raises:
            RuntimeError: tensors of other shapes; when strict, names that are
                missing or too many. What did fit has been copied.
        """
        from .._extension.grad_mode import no_grad
        from ..nn.modules._aspects.state import _key_list, checked_keys

        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        errors = []
        if strict and missing:
            errors.append(_key_list("Missing", missing))
        if strict and unexpected:
            errors.append(_key_list("Unexpected", unexpected))
        with no_grad():
            for name in own:
                if name not in state_dict:
                    continue
                given = state_dict[name]
                if own[name].dim() == 0 and given.shape == (1,):
                    given = given[0]  # as files of old versions have numbers
                if given.shape != own[name].shape:
                    errors.append(
                        f"size mismatch for {name}: copying a param with shape "
                        f"{given.shape} from checkpoint, the shape in current "
                        f"model is {own[name].shape}."
                    )
                    continue
                if assign:
                    self._put(name, own[name], given)
                else:
                    own[name].copy_(given)
        return checked_keys(self, missing, unexpected, errors)

    def _put(self, name: str, own, given) -> None:
        *path, last = name.split(".")
        place = functools.reduce(getattr, path, self)
        if own.requires_grad and not given.requires_grad:
            given = given.detach().requires_grad_()
        setattr(place, last, given)

    def train(self, mode: bool = True):
        """Sets training mode here and below; returns self."""
        self._c.train(bool(mode))
        return self

    def eval(self):
        """train(False)."""
        return self.train(False)

    def to(self, *args, **kwargs):
        """Moves or converts floating-point parameters and buffers; takes what
        `nn.Module.to` takes.
        """
        device, dtype, _, memory_format = parse_to(args, kwargs)
        self._c.to(device, dtype)
        if memory_format is not None:
            for each in (*self.parameters(), *self.buffers()):
                if each.dim() in (4, 5):
                    each.data = each.data.to(memory_format=memory_format)
        return self

    def cpu(self):
        """to('cpu')."""
        return self.to("cpu")

    def cuda(self, device=None):
        """AssertionError: this build has no CUDA back end."""
        return self.to("cuda" if device is None else device)

    def float(self):
        """to(float32)."""
        return self.to(_C.float32)

    def double(self):
        """to(float64)."""
        return self.to(_C.float64)

    def half(self):
        """to(float16)."""
        return self.to(_C.float16)

    def requires_grad_(self, requires_grad: bool = True):
        """Sets requires_grad of every parameter; returns self."""
        for _, parameter in self._c.named_parameters(True):
            parameter.requires_grad_(requires_grad)
        return self

    def __deepcopy__(self, memo: dict) -> RecursiveScriptModule:
        return memo.setdefault(id(self), self._made_of(self._c.copy()))

    def __copy__(self) -> RecursiveScriptModule:
        return self._made_of(self._c)

    def _made_of(self, native, state=None) -> RecursiveScriptModule:
        """A native module that was made of this one's, as Python sees it;
        `state` has the attributes where it has none.
        """
        made = RecursiveScriptModule._wrap(native)
        known = self.__dict__.get("_makes_nested")
        if known is None:
            return made
        return _run_with_nested(made, known[0], known[1] or state)

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def __repr__(self) -> str:
        lines = [
            f"({name}): " + repr(child).replace("\n", "\n  ")
            for name, child in self.named_children()
        ]
        if not lines:
            return f"{self._get_name()}({self.extra_repr()})"
        body = "\n  ".join([self.extra_repr(), *lines])
        return f"{self._get_name()}(\n  {body}\n)"

    def __eq__(self, other) -> bool:
        return isinstance(other, RecursiveScriptModule) and self._c.same(other._c)

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        return True  # whatever a compiled __len__ says


def _forward_magic(name: str) -> None:
    """Has a method that Python calls by itself call the compiled one."""

    def method(self, *args, **kwargs):
        native = self.__dict__["_c"]
        if not native.has_method(name):
            contained = getattr(METHODS.get(native.container), name, None)
            if contained is not None:
                return contained(self, *args, **kwargs)
            if name == "__iter__":
                raise not_iterable(self)
            raise NotImplementedError(f"no compiled method {name}")
        return native.method(name)(*args, **kwargs)

    method.__name__ = name
    setattr(RecursiveScriptModule, name, method)


for _name in (
    "__iter__",
    "__len__",
    "__neg__",
    "__mul__",
    "__contains__",
    "__add__",
    "__sub__",
    "__pow__",
    "__truediv__",
    "__mod__",
    "__lt__",
    "__gt__",
    "__le__",
    "__ge__",
    "__and__",
    "__or__",
    "__xor__",
    "__getitem__",
    "__setitem__",
    "__int__",
    "__float__",
    "__enter__",
    "__exit__",
):
    _forward_magic(_name)


for _name in (
    "code",
    "code_with_constants",
    "forward_magic_method",
    "graph",
    "graph_for",
    "inlined_graph",
    "original_name",
    "save",
    "save_to_buffer",
):
    setattr(ScriptModule, _name, _OfCompiled(_name))


def _named(items, prefix, remove_duplicate):
    seen = set()
    for name, tensor in items:
        if remove_duplicate and id(tensor) in seen:
            continue
        seen.add(id(tensor))
        yield (f"{prefix}.{name}" if prefix else name), tensor


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """Loads an archive that `torch.jit.save` wrote.

    Args:
        f: a path, or a file opened for reading bytes.
        map_location: the device to move parameters and buffers to.
        _extra_files: a dict whose keys name records of `extra/`; it receives
            their contents as bytes.

    Raises:
        RuntimeError: anything but a valid archive; the text names file, record
            and offset. ValueError: no such file; what is no device.
    """
    place = place_of(map_location)
    extra = {} if _extra_files is None else _extra_files
    given = existing_file(f) if isinstance(f, (str, os.PathLike)) else f.read()
    name = str(getattr(f, "name", "<bytes>"))
    module = _loaded(given, name, extra)
    return module if place is None else _native_module.placed(module, place)


def _loaded(given, name: str, extra: dict) -> RecursiveScriptModule:
    """The module of an archive, a path or bytes of that name.

    Python runs the programs that have tensors of its own kinds.
    """
    from ._interpreted.asking import asks_for_python

    asked = asks_for_python(given)
    if asked == "all":
        from ._interpreted.loading import load_interpreted

        return load_interpreted(given, extra)
    if isinstance(given, bytes):
        native = _C._script_load_bytes(given, name, extra)
    else:
        native = _C._script_load(given, extra)
    module = RecursiveScriptModule._wrap(native)
    return _run_with_nested(module, given) if asked else module


def _run_with_nested(module, given, state=None) -> RecursiveScriptModule:
    from ._interpreted.nested import run_with_nested

    return run_with_nested(module, given, state)


def unpackage_script_module(importer, script_module_id: str):
    """The compiled module of a number, while an importer loads a pickle.

    RuntimeError: the package was unpacked into a folder.
    """
    if isinstance(importer.zip_reader, lent("DirectoryReader")):
        raise RuntimeError(
            "Loading ScriptObjects from a PackageImporter created from a "
            "directory is not supported. Use a package archive file instead."
        )
    loading = importer.storage_context
    native = lent("packaged_script")(
        importer.zip_reader, script_module_id, loading.storage
    )
    module = RecursiveScriptModule._wrap(native)
    place = loading.map_location
    return module if place is None else module.to(place)


# Pickles name the file in which it is.
unpackage_script_module.__module__ = "hotaru.jit._script"


def _schema_of(text: property):
    """The signature that the native property tells, as an object.

    The result is one thing, which may be a tuple.
    """

    def schema(self):
        from .._function_schema import parse_schema

        arguments, arrow, result = text.__get__(self).rpartition(" -> ")
        if result.startswith("("):
            result = f"({result})"
        return parse_schema(arguments + arrow + result)

    return schema


def _graph_for(self, *args, **kwargs) -> _C.Graph:
    """Graph that runs for these arguments, after calling it with them."""
    self(*args, **kwargs)
    return self.inlined_graph


def _no_pickle(self):
    import pickle

    raise pickle.PickleError("ScriptFunction cannot be pickled")


_C.ScriptFunction.__reduce__ = _no_pickle
for _callable in (_C.ScriptFunction, _C.ScriptMethod):
    _callable.schema = property(_schema_of(_callable.schema))
    _callable.inlined_graph = property(lambda self: graph_of(self, True))
    _callable.graph_for = _graph_for
_C.ScriptFunction.graph = property(lambda self: shown_graph(self, self))
_C.ScriptMethod.graph = property(method_graph)
_C.ScriptFunction.save = RecursiveScriptModule.save
_C.ScriptFunction.save_to_buffer = RecursiveScriptModule.save_to_buffer
_native_module.extend()
_C._set_script_module_class(RecursiveScriptModule, make_error)
