"""Exported programs as modules: containers, names, state."""

from __future__ import annotations

import functools

from ..autograd.function import unexpected
from ..jit._errors import Error
from ..jit._module import RecursiveScriptModule
from ..utils import _pytree as pytree

# How the program's own checks of its inputs begin.
_CHECKS = ("Expected input at ", "Unexpected number of dimensions in input at ")


class _Call:
    """How a program is called: arguments to leaves, leaves to results."""

    def __init__(self, facts: dict) -> None:
        self.method = facts["flat_method"]
        self.count, self.keywords, self.plain, direct = facts["call"]
        names = facts["argument_names"][: self.count]
        self.names = names + [f"arg{i}" for i in range(len(names), self.count)]
        #: The method that a call by position is, if it is one; else "".
        self.direct = "forward" if direct else ""
        self._specs = facts["in_spec"], facts["out_spec"]

    @functools.cached_property
    def in_spec(self) -> pytree.TreeSpec:
        """The arguments: a tuple, and a dict of those by name."""
        return pytree.treespec_loads(self._specs[0])

    @functools.cached_property
    def out_spec(self) -> pytree.TreeSpec:
        """The result."""
        return pytree.treespec_loads(self._specs[1])

    @functools.cached_property
    def _rebuilt(self):
        return _builder(self.out_spec)

    def bind(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """The arguments in the program's order.

        TypeError: too many, unknown, given twice or missing.
        """
        if len(args) > self.count:
            raise TypeError(
                f"forward() takes {self.count} positional arguments but "
                f"{len(args)} were given"
            )
        for name in self.names[: len(args)]:
            if name in kwargs:
                raise TypeError(f"forward() got multiple values for argument '{name}'")
        rest = self.names[len(args) :]
        missing = [n for n in (*rest, *self.keywords) if n not in kwargs]
        if missing:
            raise TypeError(f"forward() missing argument '{missing[0]}'")
        for name in kwargs:
            if name not in rest and name not in self.keywords:
                raise unexpected(name)
        return (
            args + tuple(kwargs[name] for name in rest),
            {name: kwargs[name] for name in self.keywords},
        )

    def leaves(self, args: tuple, kwargs: dict) -> list:
        """ValueError: containers of another structure."""
        args, kwargs = self.bind(args, kwargs)
        if self.plain:
            return [*args, *kwargs.values()]
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != self.in_spec:
            try:  # dicts with their keys in another order
                return self.in_spec.flatten_up_to((args, kwargs))
            except (TypeError, ValueError):
                pass
            raise ValueError(
                "Trying to flatten user inputs with exported input tree spec: "
                f"\n{self.in_spec}\nbut actually got inputs with tree spec of: "
                f"\n{spec}.\nPlease check that the inputs have the same number "
                "and type of args and kwargs as the ones you used when tracing."
            )
        return leaves

    def result(self, value):
        """The result in its containers."""
        if self.out_spec.is_leaf():
            return value
        count = self.out_spec.num_leaves
        leaves = [value] if count == 1 else value or ()
        if len(leaves) != count:
            raise ValueError(
                f"the program gives {len(leaves)} results for {self.out_spec}"
            )
        return self._rebuilt(iter(leaves))


def _builder(spec):
    """A function that takes an iterator of leaves and gives the tree: what
    every call asks of the same specification is asked here.
    """
    if spec.is_leaf():
        return next
    parts = [_builder(part) for part in spec.children()]
    if spec.type in (tuple, list):
        kind = spec.type
        return lambda leaves: kind([part(leaves) for part in parts])
    if spec.type is dict:
        keys = list(spec.context)
        return lambda leaves: {k: p(leaves) for k, p in zip(keys, parts)}
    count = spec.num_leaves
    return lambda leaves: pytree.tree_unflatten(
        [next(leaves) for _ in range(count)], spec
    )


class ExportedModule(RecursiveScriptModule):
    """The module of an exported program: a compiled module that is called with
    the arguments and containers of the program, and trains.

    `train()` and `eval()` change the layers whose mode the program says.
    """

    @classmethod
    def _make(cls, native, call: _Call, hidden: set) -> ExportedModule:
        self = cls._wrap(native)
        flat = native.method(call.method)
        direct = native.method(call.direct) if call.direct else None
        count = call.count

        def forward(*args, **kwargs):
            try:
                if direct and not kwargs and len(args) == count:
                    return direct(*args)
                return call.result(flat(*call.leaves(args, kwargs)))
            except Error as error:
                if not error.message.startswith(_CHECKS):
                    raise
                message = error.message
            raise RuntimeError(message)

        object.__setattr__(self, "forward", forward)
        object.__setattr__(self, "_call", call)
        object.__setattr__(self, "_hidden", hidden)
        return self

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Names and tensors of parameters, and of buffers that are saved."""
        out = super().state_dict(
            *args, destination=destination, prefix=prefix, keep_vars=keep_vars
        )
        for name in self._hidden:
            out.pop(prefix + name, None)
        return out

    def __deepcopy__(self, memo: dict) -> ExportedModule:
        copy = ExportedModule._make(self._c.copy(), self._call, self._hidden)
        return memo.setdefault(id(self), copy)

    def __copy__(self) -> ExportedModule:
        return ExportedModule._make(self._c, self._call, self._hidden)

    def _get_name(self) -> str:
        return "ExportedModule"
