"""A module whose `forward` is generated from a graph."""

from __future__ import annotations

import contextlib
import copy
import linecache
import traceback

from .. import Tensor
from ..nn import Module, Parameter
from . import _compile
from ._compatibility import compatibility
from ._tracer import Tracer
from .graph import Graph, PythonCode, _PyTreeCodeGen

__all__ = ["GraphModule", "reduce_graph_module"]


def _child_of(owner, path: list[str], make: bool):
    """The module at a path, empty modules where it has none."""
    for name in path:
        child = getattr(owner, name, None)
        if child is None:
            if not make:
                raise AttributeError(name)
            child = Module()
            setattr(owner, name, child)
        owner = child
    return owner


def _copy_attr(source, destination, target: str) -> None:
    """Makes an attribute at a path what it is in another module."""
    *path, name = target.split(".")
    owner = source
    for part in path:
        # Attributes only in the copy were put there by an earlier path.
        owner = getattr(owner, part)
    value = getattr(owner, name)
    _assign_attr(value, destination, target, owner)


def _assign_attr(value, destination, target: str, source=None) -> None:
    *path, name = target.split(".")
    owner = _child_of(destination, path, make=True)
    if owner is source:
        return
    is_plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    if is_plain and source is not None and name in source._parameters:
        owner._parameters[name] = value  # a compiled module's, and the same tensor
    elif is_plain:
        kept = source is None or name not in source._non_persistent_buffers_set
        owner.register_buffer(name, value, persistent=kept)
    else:
        setattr(owner, name, value)


def _get_attr(module, target: str):
    for part in target.split("."):
        module = getattr(module, part)
    return module


def _has_attr(module, target: str) -> bool:
    try:
        _get_attr(module, target)
    except AttributeError:
        return False
    return True


def _del_attr(module, target: str) -> None:
    *path, name = target.split(".")
    delattr(_child_of(module, path, make=False), name)


class _CodeOnly(Module):
    """A module of the attributes and the code that a pickle has."""

    def __init__(self, body: dict) -> None:
        super().__init__()
        self.__dict__.update(body)


_PRESERVED = "_user_preserved_attributes"
# PyTorch's names of both, which torchvision derives its own copies with.
_CodeOnlyModule = _CodeOnly
_USER_PRESERVED_ATTRIBUTES_KEY = _PRESERVED


@compatibility(is_backward_compatible=True)
def reduce_graph_module(body: dict, import_block: str):
    """The module of a pickle: its code is traced again."""
    code = body.get("_code") or body.get("code")
    forward = _compile.compile_source(code, _compile.run_imports(import_block))
    return _deserialize_graph_module(forward, body)


@compatibility(is_backward_compatible=True)
def reduce_package_graph_module(importer, body: dict, generated_module_name):
    """The module of a package, whose code is one of the package's modules."""
    forward = importer.import_module(generated_module_name).forward
    return _deserialize_graph_module(forward, body)


def _deserialize_graph_module(forward, body: dict, graph_module_cls=None):
    tracer_cls = body.get("_tracer_cls") or Tracer
    name = body.get("_graphmodule_cls_name", "GraphModule")

    class KeepModules(tracer_cls):
        """Calls of children stay calls, whatever the tracer did first."""

        def is_leaf_module(self, module, path) -> bool:
            return True

    com = type(name, (_CodeOnly,), {"forward": forward})(body)
    extras = body.get("_tracer_extras") or {}
    graph = KeepModules().trace(com, **extras)
    # The class was made here: pickles could not name it.
    graph._tracer_cls = tracer_cls
    module = GraphModule(com, graph, class_name=name)
    for key, value in body.items():
        if key in ("_modules", "_parameters", "_buffers"):
            target = getattr(module, key)
            for item, member in value.items():
                target.setdefault(item, member)
        elif key not in module.__dict__:
            module.__dict__[key] = value
    module.meta.update(body.get("meta") or {})
    module.training = body.get("training", True)
    return module


class _Call:
    """`__call__` of a class made for one graph; names the line that failed."""

    def __init__(self, cls, call) -> None:
        self._cls = cls
        self._call = call

    @staticmethod
    def _location(frame) -> str | None:
        """The line of generated code where an error came from, in context."""
        name, number = frame.filename, frame.lineno
        lines = linecache.getlines(name)
        if not lines:
            return None
        before = "".join(lines[max(0, number - 2) : number])
        after = "".join(lines[number : number + 2])
        return (
            f"Call using an FX-traced Module, line {number} of the traced "
            "Module's generated forward function:\n"
            f"{before}\n{'~' * 31} <--- HERE\n{after}"
        )

    def __call__(self, obj, *args, **kwargs):
        try:
            if self._call is not None:
                return self._call(obj, *args, **kwargs)
            return super(self._cls, obj).__call__(*args, **kwargs)
        except Exception as error:
            self._explain(error)
            raise

    def _explain(self, error: Exception) -> None:
        frames = traceback.StackSummary.extract(
            traceback.walk_tb(error.__traceback__), lookup_lines=False
        )
        if not frames or not _compile.is_generated(frames[-1].filename):
            return
        text = self._location(frames[-1])
        if text and hasattr(error, "add_note"):
            error.add_note(text)


@compatibility(is_backward_compatible=True)
class GraphModule(Module):
    """A module that runs a graph.

    `root` is the module the graph was traced from, of which the attributes
    that the graph names are taken, or a dict from their paths to them. A
    change of `graph` is seen once `recompile` is called.
    """

    def __new__(cls, *args, **kwargs):
        # Each has its own class, which has its `forward`.
        cls = next(base for base in cls.__mro__ if "_is_of_one_graph" not in vars(base))

        class GraphModuleImpl(cls):
            _is_of_one_graph = True

        return super().__new__(GraphModuleImpl)

    def __init__(self, root, graph: Graph, class_name: str = "GraphModule"):
        super().__init__()
        self.__class__.__name__ = class_name
        self.meta: dict = {}
        if isinstance(root, Module):
            self._take_from_module(root, graph)
        elif isinstance(root, dict):
            self._take_from_dict(root, graph)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        for name in _HOOKS:
            setattr(self, name, [])
        self._tracer_cls = None
        tracer_cls = graph._tracer_cls
        if tracer_cls and "<locals>" not in tracer_cls.__qualname__:
            self._tracer_cls = tracer_cls
        self._tracer_extras = graph._tracer_extras or {}
        self.graph = graph

    def _take_from_module(self, root: Module, graph: Graph) -> None:
        if hasattr(root, "training"):
            self.training = root.training
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                _copy_attr(root, self, node.target)
        if isinstance(root, GraphModule):
            self.meta.update(root.meta)
            for name, value in root.meta.get(_PRESERVED, {}).items():
                setattr(self, name, value)

    def _take_from_dict(self, root: dict, graph: Graph) -> None:
        targets = []
        for node in graph.nodes:
            if node.op not in ("get_attr", "call_module"):
                continue
            if node.target not in root:
                raise RuntimeError(
                    f"Node {node} referenced target {node.target} but that "
                    "target was not provided in ``root``!"
                )
            targets.append(node.target)
        # Parents first: a path must not replace what another put below it.
        for target in sorted(targets, key=lambda t: t.count(".")):
            _assign_attr(root[target], self, target)

    __jit_unused_properties__ = ("graph",)

    @property
    def graph(self) -> Graph:
        """The graph; assigning one compiles it."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self.__dict__["_graph"] = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of `forward`."""
        if not hasattr(self, "_code"):
            raise RuntimeError(
                "Code has not been generated! Please report a bug to PyTorch"
            )
        return self._code

    def recompile(self) -> PythonCode:
        """Makes `forward` from the graph as it is now."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec = codegen.pytree_info.in_spec
            self._out_spec = codegen.pytree_info.out_spec
        generated = self._graph.python_code(root_module="self")
        self._code = generated.src
        self._lineno_map = generated._lineno_map
        self._prologue_start = generated._prologue_start
        cls = type(self)
        cls.forward = _compile.compile_source(
            self._code, generated.globals, self._graph._co_fields
        )
        # A `__call__` of the class itself is that of its user: wrap it once.
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _Call(cls, vars(cls).get("__call__"))

            def call_wrapped(self, *args, **kwargs):
                return self._wrapped_call(self, *args, **kwargs)

            cls.__call__ = call_wrapped
        return generated

    # -- children --------------------------------------------------------------

    def add_submodule(self, target: str, m: Module) -> bool:
        """Puts a module at a path, empty ones on the way to it.

        False where something on the way is no module.
        """
        *path, name = target.split(".")
        owner: Module = self
        for part in path:
            child = getattr(owner, part, None)
            if child is None:
                child = Module()
                setattr(owner, part, child)
            if not isinstance(child, Module):
                return False
            owner = child
        owner.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Takes the module at a path away; False if there is none."""
        *path, name = target.split(".")
        owner: Module = self
        for part in path:
            owner = getattr(owner, part, None)
            if not isinstance(owner, Module):
                return False
        if not isinstance(getattr(owner, name, None), Module):
            return False
        delattr(owner, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Takes away the modules that no node calls or has attributes of."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = node.target.split(".")
            used.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
            if node.op == "call_module":
                module = self.get_submodule(node.target)
                used.update(
                    f"{node.target}.{name}" for name, _ in module.named_modules()
                )
        for name in [n for n, _ in self.named_modules() if n not in used]:
            self.delete_submodule(name)

    # -- copies ----------------------------------------------------------------

    def to_folder(self, folder, module_name: str = "FxModule") -> None:
        """Writes a package of which `from folder import module_name` is a
        class that makes such a module, with its parameters.

        NotImplementedError: a buffer is not persistent.
        """
        from ._folder import write_folder

        write_folder(self, folder, module_name)

    def __reduce__(self):
        state = dict(self.__dict__)
        state.pop("_graph")
        generated = self._graph.python_code(root_module="self")
        return (reduce_graph_module, (state, _compile.import_block(generated.globals)))

    def __reduce_package__(self, exporter):
        """As pickles of a package have it: the code is a module there."""
        state = dict(self.__dict__)
        state.pop("_graph")
        state["_graphmodule_cls_name"] = type(self).__name__
        generated = self._graph.python_code(root_module="self")
        block = _compile.import_block(generated.globals, exporter.importer)
        name = f"fx-generated._{exporter.get_unique_id()}"
        exporter.save_source_string(name, f"{block}\n{generated.src}")
        return reduce_package_graph_module, (state, name)

    def _deepcopy_init(self):
        return GraphModule.__init__

    def __deepcopy__(self, memo):
        cls = type(self)
        made = cls.__new__(cls)
        memo[id(self)] = made
        graph = copy.deepcopy(self._graph, memo)
        fake = _CodeOnly({})
        skipped = ("_graph", *_HOOKS, "meta")
        for name, value in self.__dict__.items():
            if name not in skipped:
                fake.__dict__[name] = copy.deepcopy(value, memo)
        self._deepcopy_init()(made, fake, graph)
        for name, value in fake.__dict__.items():
            if name in ("_parameters", "_buffers", "_modules"):
                # Members that the graph does not name were not taken.
                for item, member in value.items():
                    made.__dict__[name].setdefault(item, member)
            elif name not in made.__dict__ or "_hooks" in name:
                made.__dict__[name] = value
        type(made).__name__ = cls.__name__
        made.meta = copy.deepcopy(self.meta, memo)
        for name in _HOOKS:
            setattr(made, name, list(getattr(self, name)))
        for hook in self._deepcopy_hooks:
            hook(made)
        return made

    def __copy__(self):
        made = GraphModule(self, self.graph)
        made.meta = self.meta
        return made

    def _replicate_for_data_parallel(self):
        made = self.__copy__()
        made._is_replica = True
        return made

    # -- text and files --------------------------------------------------------

    def __str__(self) -> str:
        text = super().__str__()
        return "\n".join(
            [
                text,
                self._code,
                "# To see more debug info, please use `graph_module.print_readable()`",
            ]
        )

    def print_readable(
        self, print_output: bool = True, *, expanded_def: bool = False
    ) -> str:
        """The code as a class, with that of children below; also printed."""
        text = self._readable(expanded_def)
        if print_output:
            print(text)
        return text

    def _readable(self, expanded_def: bool) -> str:
        code = self._graph.python_code(
            root_module="self", verbose=True, expanded_def=expanded_def
        ).src.lstrip("\n")
        text = f"class {type(self).__name__}(torch.nn.Module):\n{code}"
        head, _, body = text.partition("\n")
        text = f"{head}\n{_indent(body, 4)}"
        children = [
            child._readable(expanded_def)
            for child in self.children()
            if isinstance(child, GraphModule)
        ]
        inside = "\n".join(_indent(child, 4) for child in children)
        return f"{text.rstrip()}\n" + (f"\n{inside}" if inside else "")

    # -- hooks -----------------------------------------------------------------

    @contextlib.contextmanager
    def _set_replace_hook(self, f):
        """`f(old, new, user)` is told of replaced arguments inside."""
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_replace_node_hook(self, f) -> None:
        self._replace_hooks.append(_checked(f))

    def _unregister_replace_node_hook(self, f) -> None:
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f) -> None:
        self._create_node_hooks.append(_checked(f))

    def _unregister_create_node_hook(self, f) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f) -> None:
        self._erase_node_hooks.append(_checked(f))

    def _unregister_erase_node_hook(self, f) -> None:
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f) -> None:
        self._deepcopy_hooks.append(_checked(f))

    def _unregister_deepcopy_hook(self, f) -> None:
        self._deepcopy_hooks.remove(f)


_HOOKS = (
    "_replace_hooks",
    "_create_node_hooks",
    "_erase_node_hooks",
    "_deepcopy_hooks",
)


def _checked(function):
    if not callable(function):
        raise AssertionError("hook must be a callable.")
    return function


def _indent(text: str, count: int) -> str:
    pad = " " * count
    return "\n".join(pad + line if line.strip() else "" for line in text.split("\n"))
