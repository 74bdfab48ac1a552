"""Functions from generated source, whose lines tracebacks can show."""

from __future__ import annotations

import itertools
import linecache
import re
import weakref

_COUNT = itertools.count()


def compile_source(src: str, namespace: dict, co_fields: dict | None = None):
    """Runs source in a copy of `namespace`; returns its `forward`."""
    key = f"<eval_with_key>.{next(_COUNT)}"
    if co_fields:
        key += (
            f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} "
            f"in {co_fields['co_name']}"
        )
    names = dict(namespace)
    exec(compile(src, key, "exec", dont_inherit=True), names)
    function = names["forward"]
    # No time: linecache takes it for up to date, whatever is on disk.
    linecache.cache[key] = (len(src), None, src.splitlines(True), key)
    weakref.finalize(function, linecache.cache.pop, key, None).atexit = False
    return function


def is_generated(file_name: str) -> bool:
    return file_name.startswith("<eval_with_key>")


def import_block(namespace: dict, importer=None) -> str:
    """Statements that bind these names again, elsewhere.

    Args:
        importer: of packages; says by which names it finds the values.
    """
    lines = {_import_of(name, value, importer) for name, value in namespace.items()}
    return "\n".join(sorted(lines))


def _import_of(name: str, value, importer=None) -> str:
    from . import _names

    if name in _names.custom_builtins:
        return _names.custom_builtins[name].import_str
    if isinstance(value, str):  # an annotation that is text
        return f"{name} = {value!r}"
    if _names.is_from_torch(value):
        return "import torch"
    if importer is not None:
        module, attribute = importer.get_name(value)
        return f"from {module} import {attribute} as {name}"
    qualified = _names.qualified_name(value)
    module, _, attribute = qualified.rpartition(".")
    if not module:
        return f"from builtins import {attribute} as {name}"
    return f"from {module} import {attribute} as {name}"


def run_imports(block: str) -> dict:
    """The names that such statements bind; `torch` is this package."""
    text = re.sub(r"^import torch$", "import hotaru as torch", block, flags=re.M)
    text = re.sub(r"^(from|import) torch\b", r"\1 hotaru", text, flags=re.M)
    names: dict = {}
    exec(compile(text, "<imports>", "exec", dont_inherit=True), names)
    names.pop("__builtins__", None)
    return names
