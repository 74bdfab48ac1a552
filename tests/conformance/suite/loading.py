"""Loads test files over hotaru.

`install` puts finders in front of others: PyTorch's harness (GIFTS) comes from
a folder, test files are loaded softly, every other `torch` is hotaru, and what
hotaru has no module for is a placeholder while a file is loaded. `strict` ends
that: from then on what hotaru lacks is hotaru's own error.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import dis
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pkgutil
import sys
import types

from suite.names import CONSTANTS, Missing, MissingDtype, MissingModule, State

# Parts of PyTorch that only the harness needs.
GIFTS = (
    "torch.testing",
    "torch.utils._pytree",
    "torch.utils._import_utils",
    "torch.utils._cxx_pytree",
)
_IMPORTS = {dis.opmap["IMPORT_FROM"], dis.opmap["IMPORT_NAME"]}
_BUILT_WITH = {"has_lapack", "has_spectral", "has_mkl", "_has_mkldnn", "has_mkldnn"}
_TENSOR_FLAGS = {
    "is_quantized",
    "is_mkldnn",
    "is_sparse",
    "is_sparse_csr",
    "is_nested",
    "is_meta",
    "is_xla",
    "is_mps",
    "is_xpu",
    "is_hpu",
}
# Switches of PyTorch's executor of TorchScript, and of an unused library.
_SWITCHES = (
    "_jit_set_",
    "_jit_get_",
    "_jit_override_",
    "_jit_can_fuse",
    "_jit_texpr_",
    "_jit_symbolic_shapes_test_mode",
    "_get_graph_executor_optimize",
    "_set_graph_executor_optimize",
    "_cuda_resetCublas",
    "_cuda_clearCublas",
)
_NO_STORAGE = types.SimpleNamespace(
    **{
        name: type(name, (), {})
        for name in ("TypedStorage", "UntypedStorage", "_LegacyStorage")
    }
)
# Modules that the import of a placeholder has hidden: hotaru's backends.cudnn
# is an attribute and no module.
_hidden: list[tuple] = []
_copied_whole: list[type] = []


def _is_gift(name: str) -> bool:
    return any(name == gift or name.startswith(gift + ".") for gift in GIFTS)


class _PlaceholderLoader(importlib.abc.Loader):
    def create_module(self, spec):
        parent, _, last = spec.name.rpartition(".")
        if parent in sys.modules and last in vars(sys.modules[parent]):
            owner = sys.modules[parent]
            _hidden.append((owner, last, vars(owner)[last]))
        module = MissingModule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):
        State.seen[module.__name__] = 1


class _PlaceholderFinder(importlib.abc.MetaPathFinder):
    """Modules that hotaru lacks, while a file is loaded."""

    def find_spec(self, fullname, path=None, target=None):
        if not State.loading:
            return None
        if not fullname.startswith(("torch.", "functorch")):
            return None
        known = fullname.rpartition(".")[0] in sys.modules
        if fullname != "functorch" and not known:
            return None
        return importlib.machinery.ModuleSpec(
            fullname, _PlaceholderLoader(), is_package=True
        )


def _label(owner) -> str:
    """Returns the name in messages: PyTorch's name."""
    if isinstance(owner, types.ModuleType):
        return owner.__name__.replace("hotaru", "torch", 1)
    kind = owner if isinstance(owner, type) else type(owner)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return name.replace("hotaru", "torch", 1)


def _lenient(owner, name):
    """`getattr` in test files."""
    try:
        return getattr(owner, name)
    except AttributeError:
        if not State.loading or name == "parametrize_fn":
            raise
        label = _label(owner)
        if name in _BUILT_WITH and label == "torch._C":
            return True
        if isinstance(owner, Missing) and name != "__path__":
            return Missing(f"{owner._missing_name}.{name}")
        ours = label.startswith("torch")
        if not ours or label.startswith("torch.testing"):
            raise
        return Missing(f"{label}.{name}")


def _switched_off(*args, **kwargs):
    return False


def _of_harness(owner, name):
    """`getattr` in the harness, also when tests run."""
    try:
        return getattr(owner, name)
    except AttributeError:
        if State.loading:
            return _lenient(owner, name)
        label = _label(owner)
        if isinstance(owner, types.ModuleType):
            if f"{label}.{name}" in CONSTANTS:
                return Missing(f"{label}.{name}")
            if (label, name) == ("torch", "storage"):
                return _NO_STORAGE
        if label == "torch._C" and name in _BUILT_WITH:
            return True  # or hundreds of tests were skipped
        if (label, name) == ("torch.cuda", "is_tf32_supported"):
            return _switched_off
        if name == "flags" and type(owner).__name__ == "_Backend":
            return lambda *args, **kwargs: contextlib.nullcontext()
        if label == "torch._C" and name.startswith(_SWITCHES):
            return _switched_off
        of_hotaru = type(owner).__module__.startswith("hotaru")
        if name in _TENSOR_FLAGS and of_hotaru:
            return False
        raise


# Names that the rewritten sources call.
builtins.__gift_getattr__ = _of_harness
builtins.__lenient_getattr__ = _lenient
builtins.__Missing__ = MissingDtype


class _Soften(ast.NodeTransformer):
    """`a.b` becomes a call of `_lenient` or `_of_harness`."""

    def __init__(self, harness: bool) -> None:
        self._name = "__gift_getattr__" if harness else "__lenient_getattr__"

    def visit_Attribute(self, node):
        self.generic_visit(node)
        mangled = node.attr.startswith("__") and not node.attr.endswith("__")
        if mangled or not isinstance(node.ctx, ast.Load) or _own(node):
            return node
        call = ast.Call(
            ast.Name(self._name, ast.Load()), [node.value, ast.Constant(node.attr)], []
        )
        return ast.copy_location(call, node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if (
            isinstance(node.func, ast.Name)
            and node.func.id == "getattr"
            and len(node.args) == 2
            and not any(isinstance(a, ast.Starred) for a in node.args)
        ):
            node.func.id = self._name
        return node

    def visit_match_case(self, node):
        return node


def _own(node: ast.Attribute) -> bool:
    """True if it is an attribute of what hotaru can't lack."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    called = root.func if isinstance(root, ast.Call) else None
    if isinstance(called, ast.Name) and called.id == "super":
        return True
    return isinstance(node.value, ast.Name) and node.value.id in (
        "self",
        "cls",
        "np",
        "unittest",
        "os",
        "sys",
    )


class SoftLoader(importlib.machinery.SourceFileLoader):
    """Loads a file of tests with its attributes looked up leniently."""

    harness = False

    def source_to_code(self, data, path, *, _optimize=-1):
        tree = _Soften(self.harness).visit(ast.parse(data, path))
        tree = ast.fix_missing_locations(tree)
        return compile(tree, path, "exec", dont_inherit=True)

    def get_code(self, fullname):
        # Without the bytecode that Python keeps.
        return self.source_to_code(self.get_data(self.path), self.path)


class _HarnessLoader(SoftLoader):
    harness = True


class _TestFinder(importlib.abc.MetaPathFinder):
    """Modules beside the test files are loaded softly, too."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root) + os.sep

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith("torch"):
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if found is None or not isinstance(
            found.loader, importlib.machinery.SourceFileLoader
        ):
            return None
        if not os.path.realpath(found.origin or "").startswith(self._root):
            return None
        found.loader = SoftLoader(fullname, found.origin)
        return found


class _GiftFinder(importlib.abc.MetaPathFinder):
    """The parts of PyTorch that the harness consists of."""

    def __init__(self, root: str) -> None:
        self._root = root

    def find_spec(self, fullname, path=None, target=None):
        if not _is_gift(fullname):
            return None
        base = os.path.join(self._root, *fullname.split("."))
        options = {}
        file = base + ".py"
        if os.path.isdir(base):
            file = os.path.join(base, "__init__.py")
            options["submodule_search_locations"] = [base]
        if not os.path.exists(file):
            return None
        return importlib.util.spec_from_file_location(
            fullname, file, loader=_HarnessLoader(fullname, file), **options
        )


def _soft_find_spec(hard):
    """`find_spec` of hotaru's alias that asks others while a file is loaded."""

    def find_spec(self, fullname, path=None, target=None):
        if _is_gift(fullname):
            return None
        try:
            found = hard(self, fullname, path, target)
        except ModuleNotFoundError:
            if State.loading:
                return None
            raise
        real = "hotaru" + fullname[5:]
        ours = found is not None and fullname.startswith("torch")
        if ours and real in sys.modules:
            _soften(sys.modules[real], fullname)
        return found

    return find_spec


def _soften(module, alias: str) -> None:
    """Has `from module import name` give placeholders while loading."""
    members = vars(module)
    before = members.get("__getattr__")
    if getattr(before, "_soft", False):
        return

    def __getattr__(name):
        if before is not None:
            try:
                return before(name)
            except AttributeError:
                if not State.loading:
                    raise
        hidden = name.startswith("__") and name.endswith("__")
        if State.loading and not hidden:
            frame = sys._getframe(1)
            caller = frame.f_globals.get("__name__", "")
            # No others, so that hasattr() and getattr() stay honest.
            importing = frame.f_code.co_code[frame.f_lasti] in _IMPORTS
            if importing and not caller.startswith("hotaru"):
                return Missing(f"{alias}.{name}")
        raise AttributeError(f"module {alias!r} has no attribute {name!r}")

    __getattr__._soft = True
    with contextlib.suppress(TypeError):
        members["__getattr__"] = __getattr__


def _import_all(hotaru) -> None:
    """Everything that hotaru has, so that all of it is softened."""
    for name in sorted(getattr(hotaru, "_LAZY", ())):
        with contextlib.suppress(ImportError):
            importlib.import_module("torch." + name)
    for found in pkgutil.walk_packages(hotaru.__path__, "hotaru."):
        if found.name.endswith("__main__"):
            continue
        parent, _, last = found.name.rpartition(".")
        # `autograd.gradcheck` is a function until its module is imported.
        owner = sys.modules.get(parent)
        before = getattr(owner, last, None) if owner else None
        with contextlib.suppress(Exception):
            importlib.import_module("torch" + found.name[6:])
        if before is not None and not isinstance(before, types.ModuleType):
            setattr(owner, last, before)


def install(gifts: str, tests: str) -> None:
    """Makes `import torch` hotaru, with the harness from the folder `gifts`."""
    import hotaru
    from hotaru import _alias

    alias = _alias.AliasFinder
    alias.find_spec = _soft_find_spec(alias.find_spec)
    _alias.install()
    sys.meta_path[:0] = [_GiftFinder(gifts), _TestFinder(tests)]
    sys.meta_path.append(_PlaceholderFinder())
    importlib.import_module("torch")
    _import_all(hotaru)
    for name, module in list(sys.modules.items()):
        if name == "hotaru" or name.startswith("hotaru."):
            _soften(module, "torch" + name[6:])
    for module in (hotaru._C, sys.modules.get("hotaru.ops")):
        if module is not None and not hasattr(module, "__path__"):
            module.__path__ = []  # `from torch._C._profiler import ...`
    # The databases are copied while they are built.
    for kind in (hotaru.layout, hotaru.dtype, hotaru.device, hotaru.memory_format):
        if kind not in copy._deepcopy_dispatch:
            copy._deepcopy_dispatch[kind] = copy._deepcopy_atomic
            _copied_whole.append(kind)


def strict() -> None:
    """The file is loaded: from now on hotaru answers for itself."""
    State.loading = False
    for owner, name, value in _hidden:
        setattr(owner, name, value)
    for kind in _copied_whole:
        copy._deepcopy_dispatch.pop(kind, None)
