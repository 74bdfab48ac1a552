"""The reference as a whole: every name, its page, its anchor, its description."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import docstrings
import schemas
from public import Public, homes, names, offered
from texts import Text, Texts

# In which namespace an operator has its page, the first that has it.
_RANKS = ("torch.nn.functional", "torch.linalg", "torch.fft", "torch", "torch.special")
_RULED = re.compile(r"\w+")


class Book:
    """Names of the reference with what is known of them."""

    def __init__(self, folder: Path):
        self.texts = Texts(folder)
        self.publics = names()
        self.publics += offered(self.publics)
        self.counted = [n for n in self.publics if n.counted]
        self.by_full = {n.full: n for n in self.publics}
        self.homes = homes(self.publics)
        self.operators: dict[str, list[Public]] = defaultdict(list)
        self.modules: dict[str, list[Public]] = defaultdict(list)
        self.classes: dict[str, list[Public]] = defaultdict(list)
        self.places: dict[str, str] = {}
        for name in self.publics:
            (self.classes if name.in_class else self.modules)[name.owner].append(name)
            if name.kind == "operator":
                self.operators[self.operator_of(name)].append(name)
        for name in self.publics:
            home = self.homes.get(id(name.value))
            if name.kind == "class" and home == name.full:
                self.classes.setdefault(name.full, [])
        self._place()

    def operator_of(self, name: Public) -> str:
        """The operator's first name, by which it is described."""
        found = schemas.schemas_of(name.value)
        base = schemas.base_of(found[0].name if found else name.name)
        return self.texts.aliases.get(base, base)

    def title(self, key: str) -> Public:
        """The name under which an operator has its page."""

        def rank(name: Public) -> tuple:
            spaces = {s: i for i, s in enumerate(_RANKS)}
            own = schemas.schemas_of(name.value)[0].name
            plain = re.sub("^(linalg|special|fft)_", "", key)
            return (
                name.name.endswith("_"),
                own != key and name.name != plain,
                spaces.get(name.owner, 8 + name.in_class),
                name.full.count("."),
            )

        return min(self.operators[key], key=rank)

    def _place(self) -> None:
        for module, found in self.modules.items():
            self.places[module] = f"modules/{module}.md"
            for name in found:
                self.places.setdefault(name.full, f"modules/{module}.md#{name.full}")
        for kind, found in self.classes.items():
            self.places[kind] = f"classes/{kind}.md"
            for name in found:
                self.places[name.full] = f"classes/{kind}.md#{name.full}"
        for key, found in self.operators.items():
            page = f"operators/{self.title(key).full}.md"
            for name in found:
                self.places[name.full] = f"{page}#{name.full}"
        for name in self.publics:
            if name.kind == "module" and name.full in self.modules:
                self.places[name.full] = f"modules/{name.full}.md"

    def link(self, full: str, page: str) -> str | None:
        """The address of a name from a page of the reference."""
        place = self.places.get(full)
        if place is None:
            return None
        path, mark, anchor = place.partition("#")
        return posixpath.relpath(path, posixpath.dirname(page) or ".") + mark + anchor

    def linker(self, page: str, owner: str):
        """Turns code in a docstring into a link where it is a name."""

        def link(code: str) -> str | None:
            word = re.sub(r"\(.*\)$", "", code)
            if not re.fullmatch(r"[\w.]+", word):
                return None
            word = re.sub(r"^hotaru\.", "torch.", word)
            module = owner
            while module:
                if (found := f"{module}.{word}") in self.places:
                    return self.link(found, page)
                module = module.rpartition(".")[0]
            return self.link(word, page) if "." in word else None

        return link

    def modules_of(self, value: Any) -> list[Public]:
        """The names that modules have for a class or a function."""
        return [n for n in self.publics if n.value is value and not n.in_class]

    def text(self, name: Public) -> Text | None:
        """The description that docs/reference has of a name."""
        keys = [name.full]
        if name.kind == "operator":
            keys.append(self.operator_of(name))
        return self.texts.find(*keys)

    def doc(self, name: Public) -> str:
        """The docstring of a name; a value's is its class's, and says nothing."""
        if name.kind in ("constant", "operator"):
            return ""
        if name.kind == "property":
            return docstrings.doc_of(name.raw) if has_own_doc(name.raw) else ""
        inherits = name.in_class and name.kind == "function" and inherits_doc(name)
        if inherits and self.texts.find(name.full):
            return ""  # the text says more than the class above
        return docstrings.doc_of(name.value)

    def first(self, name: Public) -> str:
        """The first sentence of a name's description; "" if it has none."""
        doc = self.doc(name)
        text = self.text(name)
        if text and text.first != "+" and (name.full in text.names or not doc):
            return text.first
        if not doc:
            return ""
        return docstrings.first_sentence(doc)

    def unused(self) -> list[str]:
        """Names in docs/reference that nothing has."""
        known = {n.full for n in self.publics} | set(self.modules)
        for name in self.publics:
            if name.kind == "operator":
                known.update(
                    schemas.base_of(s.name) for s in schemas.schemas_of(name.value)
                )
        return [
            f"docs/reference: nothing is called {name}"
            for name, first in self.texts.aliases.items()
            if name not in known and first not in known
        ]

    def described(self, name: Public) -> bool:
        """True if something is said of a name beyond its signature."""
        first = self.first(name)
        return len(_RULED.findall(first)) >= 2 or "`" in first


def inherits_doc(name: Public) -> bool:
    """True for a method whose docstring is that of a class above its own."""
    raw = getattr(name.raw, "__func__", name.raw)
    return not getattr(raw, "__doc__", None)


def has_own_doc(raw: Any) -> bool:
    """True for descriptors whose docstring is about the attribute."""
    return isinstance(getattr(raw, "__doc__", None), str) and type(raw).__name__ in (
        "property",
        "getset_descriptor",
        "nb_static_property",
        "cached_property",
    )
