"""Who needs whom: a directed graph of names with attributes."""

from __future__ import annotations

from collections.abc import Iterator


class DiGraph:
    """Nodes with attributes, and edges from one to another.

    Nodes are anything that can be a key; they keep the order in which they
    came. ValueError where a node that is asked for is not there.
    """

    def __init__(self) -> None:
        self._node: dict = {}  # in order: the first node came first
        self._succ: dict = {}
        self._pred: dict = {}

    def add_node(self, n, **kwargs) -> None:
        """Adds a node, or these attributes to the one that is there."""
        self._node.setdefault(n, {}).update(kwargs)
        self._succ.setdefault(n, {})
        self._pred.setdefault(n, {})

    def add_edge(self, u, v) -> None:
        """Adds an edge from `u` to `v`, and these where they are missing."""
        self.add_node(u)
        self.add_node(v)
        self._succ[u][v] = self._pred[v][u] = True

    def successors(self, n) -> Iterator:
        """The nodes that edges of `n` lead to."""
        return iter(_of(self._succ, n))

    def predecessors(self, n) -> Iterator:
        """The nodes whose edges lead to `n`."""
        return iter(_of(self._pred, n))

    @property
    def edges(self) -> Iterator[tuple]:
        """All edges, as pairs."""
        return ((u, v) for u, ends in self._succ.items() for v in ends)

    @property
    def nodes(self) -> dict:
        """The nodes, each with the dict of its attributes."""
        return self._node

    def __iter__(self) -> Iterator:
        return iter(self._node)

    def __contains__(self, n) -> bool:
        try:
            return n in self._node
        except TypeError:  # nothing that could be a key
            return False

    def forward_transitive_closure(self, src) -> set:
        """All that can be reached from `src`, itself among it."""
        return _reached(src, self.successors)

    def backward_transitive_closure(self, src) -> set:
        """All from which `src` can be reached, itself among it."""
        return _reached(src, self.predecessors)

    def all_paths(self, src, dst) -> str:
        """The edges on ways from `src` to `dst`, as Graphviz's text.

        With no way there is a graph without edges.
        """
        ahead = self.forward_transitive_closure(src)
        found = DiGraph()
        if dst in ahead:
            behind = self.backward_transitive_closure(dst)
            for u, v in self.edges:
                if u in ahead and v in behind:
                    found.add_edge(u, v)
        return found.to_dot()

    def first_path(self, dst) -> list:
        """A way to `dst` by each node's earliest predecessor."""
        age = {node: i for i, node in enumerate(self._node)}
        path = [dst]
        while True:
            before = self._pred[path[-1]]
            # A circle has no first node: its way ends where it closes.
            before = [node for node in before if node not in path]
            if not before:
                return path[::-1]
            path.append(min(before, key=age.__getitem__))

    def to_dot(self) -> str:
        """The graph as Graphviz reads it."""
        edges = "\n".join(f'"{u}" -> "{v}";' for u, v in self.edges)
        head = "digraph G {\nrankdir = LR;\nnode [shape=box];\n"
        return f"{head}{edges}\n}}\n"


def _of(neighbours: dict, n) -> dict:
    if n not in neighbours:
        raise ValueError(f"The node {n} is not in the digraph.")
    return neighbours[n]


def _reached(start, neighbours) -> set:
    found, waiting = {start}, [start]
    while waiting:
        new = set(neighbours(waiting.pop())) - found
        found |= new
        waiting.extend(new)
    return found
