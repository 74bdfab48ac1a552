"""The classes of tensors that answer operators themselves, and their kinds."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, ClassVar

from .. import _C
from .._C import Tensor
from .._overrides import WithoutAnswers
from .._tensor.attributes import attributes_of
from .._tensor.copying import check_leaf
from . import call
from .about import about, refused
from .call import own_methods
from .table import Table


class Kind:
    """Answers of a kind of tensors to calls: its tables, and what it does
    where these have no answer.

    `classes` are those of its tensors.
    """

    attributes: frozenset = frozenset()
    """Attributes that handlers read and write: `.grad` answers for grad."""
    absent: frozenset = frozenset()
    """Attributes that such tensors do not have."""
    passes_out = False
    """Set if handlers are given `out`, as any other argument."""
    bases: ClassVar[set[type]] = set()
    """Classes whose methods those of all kinds have."""
    writes_back = True
    """Set if operators in place are their other forms, written back."""

    def __init__(self, name: str, *tables: Table) -> None:
        self.name, self.tables = name, tables
        self.about, self.refused = about(name), refused(name)
        self.classes: set[type] = set()

    answer = call.answer
    attribute = call.attribute

    def has(self, x) -> bool:
        """True if `x` is a tensor of the kind."""
        return getattr(_C._answering_class(x), "_kind", None) is self

    def some(self, tree) -> list:
        """The tensors of the kind among arguments, those in lists and
        dictionaries, too.
        """
        found: list = []
        self._add(tree, found)
        return found

    def _add(self, tree, found: list) -> None:
        if isinstance(tree, (list, tuple)):
            for each in tree:
                self._add(each, found)
        elif isinstance(tree, dict):
            self._add(tuple(tree.values()), found)
        elif self.has(tree):
            found.append(tree)

    def plain(self, function, *args, **kwargs) -> Any:
        """The function as it is for tensors that nobody else answers for."""
        before = _C._without_dispatch(True)
        try:
            with WithoutAnswers():
                return function(*args, **kwargs)
        finally:
            _C._without_dispatch(before)

    def body(self, function, name: str, args: tuple, kwargs: dict) -> Any:
        """Runs a function written in Python, which nobody answers: what it
        calls is asked for.
        """
        return function.__wrapped__(*args, **kwargs)

    def refuse(self, function, name: str, args: tuple, kwargs: dict) -> Any:
        """Raises for an operator that has no meaning for the arguments."""
        raise NotImplementedError(f"{name}: not for {self.name} tensors")

    def write(self, out: Tensor, result: Tensor, name: str | None) -> Tensor:
        """Gives `out` what was computed: by an operator in place, or as `out=`
        where `name` is None.
        """
        return out.copy_(result)

    def set_data(self, accessor, x: Tensor, value: Tensor) -> Any:
        """`x.data = value`."""
        return self.plain(accessor, x, value)

    def finish(self, name: str, args: tuple, result: Any) -> Any:
        """The result as the caller gets it."""
        return result


# Attributes that say how a tensor came to be, which a copy did not.
_OF_RESULTS = frozenset(["_seen", "made_by", "view_of"])


class Answering(Tensor):
    """A tensor whose `_kind` answers all functions of it."""

    _kind: ClassVar[Kind]
    _beside: ClassVar[tuple | None] = None
    """Classes beside which it answers; None: beside all."""

    def __init_subclass__(cls, of: Kind | None = None, **kwargs) -> None:
        super().__init_subclass__(**kwargs)
        if of is not None:
            cls._kind = of
            of.classes.add(cls)
            of.about -= own_methods(of, cls).keys()

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        beside = cls._beside
        if beside is not None and not all(issubclass(t, beside) for t in types):
            return NotImplemented
        return cls._kind.answer(func, args, kwargs or {})

    def _copied(self) -> Answering:
        """A copy without history: what the class says."""
        raise NotImplementedError

    def __deepcopy__(self, memo):
        check_leaf(self)
        cls = _C._answering_class(self)
        made = cls._copied(self).requires_grad_(self.requires_grad)
        memo[id(self)] = made
        if self.grad is not None:
            made.grad = deepcopy(self.grad, memo)
        for name, value in attributes_of(self).items():
            if name not in made.__dict__ and name not in _OF_RESULTS:
                setattr(made, name, deepcopy(value, memo))
        return made

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)


Kind.bases.add(Answering)


class Hidden(type(Tensor)):
    """Class of answering classes whose tensors are of the type Tensor, as
    PyTorch's are: what such a class has besides Tensor's names is for its
    functions, `SparseTensor.f(x)`.
    """

    def __instancecheck__(cls, x) -> bool:
        return issubclass(_C._answering_class(x), cls)


class Wrapping(Answering):
    """One without memory of its own, which other tensors keep: operators below
    autograd come to it, too.
    """

    _sees_whole = True

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "overloadpacket", func).__name__
        return cls._kind.answer(getattr(_C.ops, name), args, kwargs or {})
