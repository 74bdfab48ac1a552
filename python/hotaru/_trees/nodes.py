"""The containers that trees are made of, and how keys name their children."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple

from .. import Size


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The child at an index."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence):
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The child of a key."""

    key: object

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping):
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The child that is an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj):
        return getattr(obj, self.name)


@dataclasses.dataclass(frozen=True)
class ConstantNode:
    """Holds what the specification keeps of a registered constant."""

    value: object


@dataclasses.dataclass(frozen=True)
class Kind:
    """How containers of a class are taken apart and made.

    `flatten_fn` gives the children and the context, `flatten_with_keys_fn` the
    children with their keys instead; `unflatten_fn` makes one of both.
    """

    type: type
    flatten_fn: object
    unflatten_fn: object
    flatten_with_keys_fn: object = None
    serialized_name: str | None = None
    dump_context: object = None
    load_context: object = None


KINDS: dict = {}
BUILTINS = {tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque}
_SERIALIZED: dict = {}


def class_of_name(name: str):
    """The class of a serialized name; NotImplementedError for others."""
    if name not in _SERIALIZED:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    return _SERIALIZED[name]


def register(cls, kind: Kind) -> None:
    """ValueError where the class is one already."""
    if cls in KINDS:
        raise ValueError(f"{cls!r} is already registered as pytree node.")
    KINDS[cls] = kind
    if kind.serialized_name is not None:
        _SERIALIZED[kind.serialized_name] = cls


def deregister(cls) -> None:
    kind = KINDS.pop(cls)
    _SERIALIZED.pop(kind.serialized_name, None)


def is_namedtuple_class(cls) -> bool:
    """True if it is made by `namedtuple`, or derives from such a class."""
    if not (isinstance(cls, type) and issubclass(cls, tuple)):
        return False
    fields = getattr(cls, "_fields", None)
    return (
        isinstance(fields, tuple)
        and all(type(field) is str for field in fields)
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_structseq_class(cls) -> bool:
    """True if it is a C-level named tuple, such as the results of `max`."""
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(
            isinstance(getattr(cls, name, None), int)
            for name in ("n_sequence_fields", "n_fields", "n_unnamed_fields")
        )
    )


def kind_class(tree):
    """The registered class that an object belongs to, its own for a leaf."""
    cls = type(tree)
    if cls in KINDS or not issubclass(cls, tuple):
        return cls
    if is_namedtuple_class(cls):
        return namedtuple
    if _is_result_class(cls):
        _register_sequence(cls, f"{cls.__module__}.{cls.__name__}")
    return cls


def _is_result_class(cls) -> bool:
    """True if operators return it: the class is made at the first call."""
    return is_structseq_class(cls) and cls.__module__ == "torch.return_types"


def _sequence_keys(items) -> list:
    return [(SequenceKey(i), item) for i, item in enumerate(items)]


def _mapping_keys(items) -> list:
    return [(MappingKey(key), item) for key, item in items.items()]


def _register_sequence(cls, name: str, rebuilt=None) -> None:
    """Children are the items; `rebuilt` is of what class they come back."""
    make = rebuilt or cls
    register(
        cls,
        Kind(
            cls,
            lambda items: (list(items), None),
            lambda items, _: make(items),
            lambda items: (_sequence_keys(items), None),
            name,
        ),
    )


def _register_mapping(cls, name: str) -> None:
    register(
        cls,
        Kind(
            cls,
            lambda items: (list(items.values()), list(items)),
            lambda items, keys: cls(zip(keys, items)),
            lambda items: (_mapping_keys(items), list(items)),
            name,
        ),
    )


_register_sequence(tuple, "builtins.tuple")
_register_sequence(list, "builtins.list")
# Functions over trees give other things for its numbers.
_register_sequence(Size, "torch.Size", tuple)
_register_mapping(dict, "builtins.dict")
_register_mapping(OrderedDict, "collections.OrderedDict")


def _default_of(items):
    return [items.default_factory, list(items)]


def _dump_factory(context) -> dict:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _load_factory(dumped: dict) -> list:
    import importlib

    module = importlib.import_module(dumped["default_factory_module"])
    factory = getattr(module, dumped["default_factory_name"])
    return [factory, dumped["dict_context"]]


register(
    defaultdict,
    Kind(
        defaultdict,
        lambda items: (list(items.values()), _default_of(items)),
        lambda items, context: defaultdict(context[0], zip(context[1], items)),
        lambda items: (_mapping_keys(items), _default_of(items)),
        "collections.defaultdict",
        _dump_factory,
        _load_factory,
    ),
)
register(
    deque,
    Kind(
        deque,
        lambda items: (list(items), items.maxlen),
        lambda items, length: deque(items, maxlen=length),
        lambda items: (_sequence_keys(items), items.maxlen),
        "collections.deque",
    ),
)

# Classes of named tuples by the names that dumps give them, and back.
NAMED_TUPLES: dict = {}


def _dump_named(cls) -> str:
    if cls not in NAMED_TUPLES:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} because we "
            "didn't register a serializated_type_name. "
            "Please register using `_register_namedtuple`."
        )
    return NAMED_TUPLES[cls]


def _load_named(name: str):
    for cls, known in NAMED_TUPLES.items():
        if known == name:
            return cls
    raise NotImplementedError(
        f"Can't deserialize TreeSpec of namedtuple class {name} because we "
        "couldn't find a serializated name."
    )


def _named_keys(items):
    keys = [GetAttrKey(field) for field in items._fields]
    return list(zip(keys, items)), type(items)


register(
    namedtuple,
    Kind(
        namedtuple,
        lambda items: (list(items), type(items)),
        lambda items, cls: cls(*items),
        _named_keys,
        "collections.namedtuple",
        _dump_named,
        _load_named,
    ),
)

_PARTS = {
    "_flatten_with_keys": "flatten_with_keys_fn",
    "_flatten": "flatten_fn",
    "_unflatten": "unflatten_fn",
    "_serialize": "dump_context",
    "_deserialize": "load_context",
}


def function_of(name: str):
    """A function of a built-in kind, as "_dict_flatten"; None of no kind."""
    for end, part in _PARTS.items():
        for cls in BUILTINS:
            if name == f"_{cls.__name__.lower()}{end}":
                return getattr(KINDS[cls], part)
    return None
