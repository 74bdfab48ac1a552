"""A joint graph of a function and its gradients, cut in two."""

from __future__ import annotations

import collections

from ..fx import Graph, GraphModule, Node

__all__ = ["default_partition", "min_cut_rematerialization_partition"]

_LARGE = 1 << 60
# Operators that cost little beside reading what they would have left in memory.
_CHEAP = frozenset(
    [
        "abs",
        "add",
        "alias",
        "bitwise_and",
        "bitwise_not",
        "bitwise_or",
        "ceil",
        "clamp",
        "clone",
        "cos",
        "detach",
        "div",
        "eq",
        "erf",
        "exp",
        "expand",
        "expm1",
        "fill",
        "floor",
        "ge",
        "gelu",
        "gt",
        "le",
        "leaky_relu",
        "lerp",
        "log",
        "log1p",
        "logical_and",
        "logical_not",
        "logical_or",
        "lt",
        "masked_fill",
        "maximum",
        "minimum",
        "mul",
        "ne",
        "neg",
        "ones_like",
        "permute",
        "pow",
        "reciprocal",
        "relu",
        "reshape",
        "round",
        "rsqrt",
        "rsub",
        "select",
        "sigmoid",
        "sign",
        "silu",
        "sin",
        "slice",
        "sqrt",
        "square",
        "squeeze",
        "sub",
        "t",
        "tan",
        "tanh",
        "threshold",
        "_to_copy",
        "transpose",
        "trunc",
        "unsqueeze",
        "view",
        "_unsafe_view",
        "where",
        "zeros_like",
    ]
)


def default_partition(
    joint_module,
    _joint_inputs=None,
    *,
    num_fwd_outputs: int,
    static_lifetime_input_indices=None,
    static_lifetime_input_nodes=None,
):
    """The forward graph and the backward graph: every value that the second
    takes is one that the first has, as in eager mode.

    Args:
        joint_module: takes `primals_*` and `tangents_*`, gives the results
            and the gradients.
        num_fwd_outputs: how many are results.
        static_lifetime_input_indices: accepted and not used, as is
            static_lifetime_input_nodes.
    """
    parts = _Joint(joint_module, num_fwd_outputs)
    saved = [n for n in parts.nodes if n in parts.forward and parts.is_wanted(n)]
    return parts.cut(saved)


def min_cut_rematerialization_partition(
    joint_module,
    _joint_inputs=None,
    compiler: str = "inductor",
    recomputable_ops=None,
    *,
    num_fwd_outputs: int,
    static_lifetime_input_indices=None,
):
    """As `default_partition`, but with the fewest bytes kept from the forward
    graph for the backward one, which computes cheap operators again.

    Args:
        joint_module: takes `primals_*` and `tangents_*`, gives the results
            and the gradients.
        compiler: accepted and not used.
        recomputable_ops: operators that may be computed again, in place of
            the cheap ones.
        num_fwd_outputs: how many are results.
        static_lifetime_input_indices: accepted and not used.
    """
    parts = _Joint(joint_module, num_fwd_outputs)
    if parts.writes:  # what is computed again would be of other values
        return default_partition(joint_module, num_fwd_outputs=num_fwd_outputs)
    return parts.cut(_cut(parts, recomputable_ops))


def _is_write(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


class _Joint:
    def __init__(self, module, count: int) -> None:
        self._module = module
        self.nodes = list(module.graph.nodes)
        self._inputs = [n for n in self.nodes if n.op == "placeholder"]
        (last,) = [n for n in self.nodes if n.op == "output"]
        outputs = list(last.args[0])
        self.results, self.gradients = outputs[:count], outputs[count:]
        self.primals = [n for n in self._inputs if not n.name.startswith("tangents")]
        self.tangents = [n for n in self._inputs if n.name.startswith("tangents")]
        behind = set(self.tangents)
        for node in self.nodes:
            if any(n in behind for n in node.all_input_nodes):
                behind.add(node)
        # Needs no tangents.
        self.before = [n for n in self.nodes if n not in behind and n.op != "output"]
        self.writes = [n for n in self.nodes if _is_write(n)]
        self.forward = set(self.primals)
        early = [n for n in self.writes if n not in behind]
        self._mark([n for n in self.results if isinstance(n, Node)] + early)
        wanted = [n for n in self.gradients if isinstance(n, Node)]
        self._backward = self._needed(
            [*wanted, *(n for n in self.writes if n in behind)]
        )

    def _mark(self, nodes) -> None:
        self.forward |= self._needed(nodes)

    def _needed(self, nodes) -> set:
        waiting, found = list(nodes), set()
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting += node.all_input_nodes
        return found

    def is_wanted(self, node: Node) -> bool:
        """True if the backward graph takes the node: one of its own nodes or
        gradients does.
        """
        if node.op == "get_attr":
            return False
        if any(node is g for g in self.gradients):
            return True
        return any(u in self._backward and u not in self.forward for u in node.users)

    def cut(self, saved: list[Node]):
        """The two graphs, of which the first also gives what is saved."""
        writes = [n for n in self.writes if n in self.forward]
        late = [n for n in self.writes if n not in self.forward]
        forward = self._part(self.primals, [*self.results, *saved], writes)
        backward = self._part([*saved, *self.tangents], self.gradients, late)
        return forward, backward

    def _part(self, inputs, outputs, writes) -> GraphModule:
        graph, made = Graph(), {}
        for node in inputs:
            made[node] = graph.placeholder(node.name)
            made[node].meta = dict(node.meta)
        needed, waiting = set(), [n for n in outputs if isinstance(n, Node)]
        waiting += writes
        while waiting:
            node = waiting.pop()
            if node not in needed and node not in made:
                needed.add(node)
                waiting += node.all_input_nodes
        for node in self.nodes:
            if node in needed:
                made[node] = graph.node_copy(node, made.__getitem__)
        graph.output(tuple(made[n] if isinstance(n, Node) else n for n in outputs))
        return GraphModule(self._module, graph)


def _bytes(node: Node) -> int:
    meta = node.meta.get("tensor_meta")
    shape = getattr(meta, "shape", None)
    if shape is None:
        return _LARGE
    size = getattr(meta.dtype, "itemsize", 4)
    for n in shape:
        size *= n
    return max(int(size), 1)


def _may_repeat(node: Node, allowed) -> bool:
    packet = getattr(node.target, "overloadpacket", None)
    if allowed is not None:
        return node.target in allowed or packet in allowed
    name = getattr(packet, "__name__", "") or str(node.target)
    return name.rpartition(".")[2] in _CHEAP


def _cut(parts: _Joint, allowed) -> list[Node]:
    """Values that are saved: a least cut between what there is and what is wanted."""
    edges: dict = collections.defaultdict(dict)

    def edge(a, b, capacity: int) -> None:
        edges[a][b] = edges[a].get(b, 0) + capacity
        edges[b].setdefault(a, 0)

    usable = [n for n in parts.before if n.op != "get_attr"]
    known = set(usable)
    for node in usable:
        edge((node, 0), (node, 1), _bytes(node))
        sources = [n for n in node.all_input_nodes if n in known]
        if node.op == "placeholder" or not _may_repeat(node, allowed):
            edge("source", (node, 0), _LARGE)
        for source in sources:
            edge((source, 1), (node, 0), _LARGE)
        if _is_taken(parts, node):
            edge((node, 1), "sink", _LARGE)
    while (path := _path(edges)) is not None:
        flow = min(edges[a][b] for a, b in path)
        for a, b in path:
            edges[a][b] -= flow
            edges[b][a] += flow
        if flow >= _LARGE:
            break
    reached = _reached(edges)
    return [n for n in usable if (n, 0) in reached and (n, 1) not in reached]


def _is_taken(parts: _Joint, node: Node) -> bool:
    before = set(parts.before)
    if any(node is g for g in parts.gradients):
        return True
    return any(u in parts._backward and u not in before for u in node.users)


def _reached(edges) -> dict:
    """Nodes that have a way from the source, and where each comes from."""
    came, waiting = {"source": None}, collections.deque(["source"])
    while waiting:
        at = waiting.popleft()
        for to, capacity in edges[at].items():
            if capacity > 0 and to not in came:
                came[to] = at
                waiting.append(to)
    return came


def _path(edges):
    came = _reached(edges)
    if "sink" not in came:
        return None
    path, at = [], "sink"
    while came[at] is not None:
        path.append((came[at], at))
        at = came[at]
    return path
