"""Definitions in a stub: `def name(parameters) -> result: ...`, and overloads."""

from __future__ import annotations

from dataclasses import dataclass, replace

_WIDTH = 88


@dataclass(frozen=True)
class Parameter:
    """A parameter; `default` is an expression, None where it is required."""

    name: str
    type: str
    default: str | None = None
    keyword_only: bool = False
    spread: bool = False

    def text(self) -> str:
        """The parameter as Python writes it."""
        star = "*" if self.spread else ""
        kind = f": {self.type}" if self.type else ""
        equals = " = " if kind else "="
        rest = "" if self.default is None else equals + self.default
        return star + self.name + kind + rest


@dataclass(frozen=True)
class Definition:
    """One form of a function."""

    name: str
    parameters: tuple[Parameter, ...]
    result: str

    def text(self, doc: str = "") -> str:
        """The definition as Python writes it, in lines of usual width."""
        words = []
        starred = False
        for p in self.parameters:
            if p.keyword_only and not starred:
                words.append("*")
            starred = starred or p.keyword_only or p.spread
            words.append(p.text())
        end = f") -> {self.result}:" + ("" if doc else " ...")
        line = f"def {self.name}({', '.join(words)}{end}"
        if len(line) > _WIDTH - 4:
            rows = "".join(f"    {word},\n" for word in words)
            line = f"def {self.name}(\n{rows}{end}"
        return f'{line}\n    """{doc}"""' if doc else line


def merged(forms: list[Definition]) -> list[Definition]:
    """The forms, those that differ in one parameter's type as one."""
    out: list[Definition] = []
    for form in forms:
        for i, before in enumerate(out):
            both = _both(before, form)
            if both is not None:
                out[i] = both
                break
        else:
            out.append(form)
    return out


def _both(a: Definition, b: Definition) -> Definition | None:
    """One definition that takes what either does, and no more."""
    if a.result != b.result or len(a.parameters) != len(b.parameters):
        return None
    differ = []
    for i, (p, q) in enumerate(zip(a.parameters, b.parameters, strict=True)):
        if p == q:
            continue
        if replace(p, type=q.type, default=q.default) != q:
            return None
        if (p.default is None) != (q.default is None):
            return None
        if p.type != q.type:
            differ.append(i)
    if len(differ) > 1:
        return None
    parameters = list(a.parameters)
    for i in differ:
        kind = union(parameters[i].type, b.parameters[i].type)
        parameters[i] = replace(parameters[i], type=kind)
    return replace(a, parameters=tuple(parameters))


def union(*kinds: str) -> str:
    """The kinds as one, None last and each once."""
    parts = dict.fromkeys(part for kind in kinds for part in kind.split(" | "))
    last = [part for part in parts if part == "None"]
    return " | ".join([part for part in parts if part != "None"] + last)


def overloads(forms: list[Definition], doc: str = "") -> str:
    """All forms of a function, one after the other."""
    forms = merged(forms)
    if len(forms) == 1:
        return forms[0].text(doc)
    texts = [
        f"@overload\n{form.text(doc if form is forms[0] else '')}" for form in forms
    ]
    return "\n".join(texts)
