"""Cases of nested containers, taken apart and made."""

from __future__ import annotations

import dataclasses
import importlib
from collections import OrderedDict, defaultdict, deque, namedtuple

Point = namedtuple("Point", ["x", "y"])

_TREES = {
    "leaf": 3,
    "none": None,
    "list": [1, [2, (3,)], []],
    "dict": {"b": 1, "a": {"c": [2]}},
    "named": Point(1, [2, Point(3, 4)]),
    "ordered": OrderedDict([("z", 1), ("a", (2, 3))]),
    "default": defaultdict(list, {1: [2]}),
    "deque": deque([1, [2]], maxlen=3),
    "mixed": {"l": [(), {}, None], "s": slice(1, 2)},
}


def _tree(lib):
    return importlib.import_module(f"{lib.__name__}.utils._pytree")


def _apart(value):
    def case(lib):
        tree = _tree(lib)
        leaves, spec = tree.tree_flatten(value)
        paths = tree.tree_flatten_with_path(value)[0]
        made = tree.tree_unflatten(leaves, spec)
        return [
            str(leaves),
            repr(spec),
            [spec.num_leaves, spec.num_nodes, spec.num_children],
            [tree.keystr(path) for path, _ in paths],
            [str(tree.key_get(value, path)) for path, _ in paths],
            [str(made), made == value, type(made).__name__],
            tree.treespec_pprint(spec),
        ]

    return case


_CALLS = """
T.tree_map(lambda a, b: a + b, [1, {'a': 2}], [3, {'a': 4}])
T.tree_map(lambda a, b: a + b, [1, 2], [1])
T.tree_map(lambda a, b: a + b, [1, (2,)], [1, [2]])
T.tree_map(lambda a, b: a + b, {'a': 2}, {'b': 4})
T.tree_map(lambda a, b: a + b, {'a': 2}, 3)
T.tree_map(lambda a, b: (a, b), {'a': 2, 'b': 1}, {'b': [4], 'a': 5})
T.tree_map_only(int, lambda x: x + 1, [1, 'a', 2.0])
T.tree_map_only((int, float), lambda x: x + 1, [1, 'a', 2.0])
T.tree_map_only(lambda x: x == 'a', lambda x: 0, [1, 'a', 2.0])
T.tree_map_only(3, None, 1)
T.tree_map_with_path(lambda k, x: (T.keystr(k), x), [1, {'a': 2}])
T.tree_all(bool, [1, 0]), T.tree_any(bool, [1, 0])
T.tree_all_only(int, bool, [1, '']), T.tree_any_only(str, bool, [1, ''])
T.tree_leaves([1, [2, 3]], is_leaf=lambda x: x == [2, 3])
T.arg_tree_leaves(1, [2], k=3)
T.tree_unflatten([1], T.tree_structure([1, 2]))
T.tree_unflatten([1], 3)
T.tree_structure([1]) == T.tree_structure([2])
T.tree_structure([1]) == T.tree_structure((2,))
hash(T.tree_structure({'a': [1]})) == hash(T.tree_structure({'a': [2]}))
T._broadcast_to_and_flatten(1, T.tree_structure([1, [2]]))
T._broadcast_to_and_flatten([1, 2], T.tree_structure([1, [2, 3]]))
T._broadcast_to_and_flatten([1], T.tree_structure([1, [2]]))
T.register_pytree_node(list, None, None)
T.treespec_dumps(T.tree_structure([1, {'a': 2}, (1, 2)]))
T.treespec_dumps(T.tree_structure(P(1, 2)))
T.treespec_loads(T.treespec_dumps(T.tree_structure([1, {'a': (2, 3)}])))
T.tree_structure([1, 2]).is_leaf(), T.tree_structure(1).is_leaf()
T.is_namedtuple(P(1, 2)), T.is_namedtuple((1,)), T.is_namedtuple_class(P)
T.tree_map(str, [S([1, 2]), (3,)]), T.tree_structure(S([1, 2]))
""".strip().splitlines()


def _call(text: str):
    def case(lib):
        return str(eval(text, {"T": _tree(lib), "P": Point, "S": lib.Size}))

    return case


def _registered(lib):
    tree = _tree(lib)

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    tree.register_pytree_node(
        Pair, lambda p: ([p.a, p.b], "c"), lambda items, _: Pair(*items)
    )
    leaves, spec = tree.tree_flatten([Pair(1, [2]), 3])
    made = tree.tree_unflatten(leaves, spec)
    texts = [leaves, repr(spec), made[0].b]
    for call in (tree.treespec_dumps, lambda _: tree.tree_leaves_with_path(made)):
        try:
            call(spec)
        except (NotImplementedError, ValueError) as error:
            text = f"{type(error).__name__}: {error}"
            texts.append(text.replace(str(Pair), "Pair"))
    return texts


def _dataclass(lib):
    tree = _tree(lib)

    @dataclasses.dataclass
    class Data:
        a: object
        b: object = 2
        c: object = None

    tree.register_dataclass(Data)
    leaves, spec = tree.tree_flatten(Data([1], 2))
    paths = [tree.keystr(p) for p, _ in tree.tree_leaves_with_path(Data([1], 2))]
    made = tree.tree_unflatten([5, 6], spec)
    return [leaves, repr(spec), paths, made.a, made.b, made.c]


def _constant(lib):
    tree = _tree(lib)

    @dataclasses.dataclass(frozen=True)
    class Constant:
        a: int

    tree.register_constant(Constant)
    leaves, spec = tree.tree_flatten([Constant(1), 2])
    other = tree.tree_structure([Constant(2), 2])
    return [leaves, spec == other, tree.tree_unflatten([3], spec)[0].a]


CASES = {
    **{name: _apart(value) for name, value in _TREES.items()},
    **{text: _call(text) for text in _CALLS},
    "registered": _registered,
    "dataclass": _dataclass,
    "constant": _constant,
}
