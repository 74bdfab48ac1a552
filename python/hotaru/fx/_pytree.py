"""Trees taken apart along a form that is known, as generated code does it."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

SUPPORTED_NODES: dict = {}
SUPPORTED_NODES_EXACT_MATCH: dict = {}


def register_pytree_flatten_spec(
    cls, flatten_fn_spec, flatten_fn_exact_match_spec=None
) -> None:
    """`flatten_fn_spec(obj, spec)` gives the children of containers `cls`.

    `flatten_fn_exact_match_spec(obj, spec)` says whether they are those of the
    form and no more.
    """
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls) -> None:
    del SUPPORTED_NODES[cls]
    del SUPPORTED_NODES_EXACT_MATCH[cls]


def tree_flatten_spec(pytree_obj, spec) -> list:
    """The leaves of an object of that form; more than those are ignored.

    RuntimeError for a container that was not registered.
    """
    if spec.is_leaf():
        return [pytree_obj]
    if spec.type not in SUPPORTED_NODES:
        raise RuntimeError(
            f"{type(pytree_obj)} does not have a flatten_fn_spec associated "
            "with it. Please register one with "
            "torch.fx._pytree.register_pytree_flatten_spec.  "
            "If you have serialized your model, make sure that any custom "
            "pytrees have been registered before loading it."
        )
    children = SUPPORTED_NODES[spec.type](pytree_obj, spec)
    found: list = []
    for child, child_spec in zip(children, spec.children()):
        found.extend(tree_flatten_spec(child, child_spec))
    return found


def _dict_flatten_spec(d, spec) -> list:
    return [d[key] for key in spec.context]


def _list_flatten_spec(d, spec) -> list:
    return [d[i] for i in range(spec.num_children)]


def _tuple_flatten_spec(d, spec) -> list:
    return [d[i] for i in range(spec.num_children)]


def _namedtuple_flatten_spec(d, spec) -> list:
    return [d[i] for i in range(spec.num_children)]


def _dict_flatten_spec_exact_match(d, spec) -> bool:
    return len(d) == spec.num_children


_list_flatten_spec_exact_match = _dict_flatten_spec_exact_match
_tuple_flatten_spec_exact_match = _dict_flatten_spec_exact_match
_namedtuple_flatten_spec_exact_match = _dict_flatten_spec_exact_match

for _cls, _take in (
    (dict, _dict_flatten_spec),
    (OrderedDict, _dict_flatten_spec),
    (list, _list_flatten_spec),
    (tuple, _tuple_flatten_spec),
    (namedtuple, _namedtuple_flatten_spec),
):
    register_pytree_flatten_spec(_cls, _take, _dict_flatten_spec_exact_match)
