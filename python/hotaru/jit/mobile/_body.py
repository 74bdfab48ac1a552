"""Bodies of programs as an interpreter with registers runs them.

A graph's nodes become steps, and behind the last use of a value that is not where it
was made comes a step that drops it: who emits instructions then knows of each use
whether it is the last.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .._ir.graph import Graph
from .._ir.nodes import Block, Node
from .._ir.values import Value

DROP = "prim::Drop"


@dataclass(eq=False)
class Step:
    """A node, or a step that drops its inputs (`node` is None)."""

    kind: str
    inputs: list[Value]
    outputs: list[Value] = field(default_factory=list)
    node: Node | None = None
    bodies: list[Body] = field(default_factory=list)


@dataclass(eq=False)
class Body:
    """Parameters, steps and results of a block; `owner` is the step it is in."""

    params: list[Value]
    steps: list[Step]
    results: list[Value]
    owner: Step | None = None


class Program:
    """A graph's body, with drops in place and what is known of its values.

    Attributes:
        body: the whole.
        uses: how many inputs and results each value is, by `id`.
        inline: steps that are emitted where their output is taken.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph  # values are told apart by `id`: they stay
        self._home: dict[int, Body] = {}
        self._within: dict[int, Body] = {}
        self.uses: dict[int, int] = {}
        self.body = self._read(graph.block())
        self._drop_unused(self.body)
        self._drop_last(self.body, set())
        self._count(self.body)
        self.inline: set[Step] = set()
        self._find_inline(self.body)

    def _read(self, block: Block, owner: Step | None = None) -> Body:
        body = Body(list(block.inputs()), [], list(block.outputs()), owner)
        for value in body.params:
            self._home[id(value)] = body
        for node in block.nodes():
            step = Step(node.kind(), list(node.inputs()), list(node.outputs()), node)
            step.bodies = [self._read(inner, step) for inner in node.blocks()]
            self._place(step, body, len(body.steps))
            for value in step.outputs:
                self._home[id(value)] = body
        return body

    def _place(self, step: Step, body: Body, at: int) -> None:
        self._within[id(step)] = body
        body.steps.insert(at, step)

    def _count(self, body: Body) -> None:
        for values in (*(step.inputs for step in body.steps), body.results):
            for value in values:
                self.uses[id(value)] = self.uses.get(id(value), 0) + 1
        for step in body.steps:
            for inner in step.bodies:
                self._count(inner)

    def _drop_unused(self, body: Body) -> None:
        taken: set[int] = set()
        _taken(self.body, taken)

        def visit(body: Body) -> None:
            unused = [v for v in body.params if id(v) not in taken]
            for step in list(body.steps):
                for inner in step.bodies:
                    visit(inner)
                left = [v for v in step.outputs if id(v) not in taken]
                if left and step.kind != "prim::Constant":
                    at = body.steps.index(step) + 1
                    self._place(Step(DROP, left), body, at)
            if unused:
                self._place(Step(DROP, unused), body, 0)

        visit(body)

    def _drop_last(self, body: Body, seen: set[int]) -> None:
        for value in body.results:
            self._last_use(value, body, None, seen)
        for step in reversed(list(body.steps)):
            for inner in step.bodies:
                self._drop_last(inner, seen)
            for value in reversed(step.inputs):
                self._last_use(value, body, step, seen)

    def _last_use(self, value: Value, body: Body, step, seen: set[int]) -> None:
        if id(value) in seen:
            return
        seen.add(id(value))
        home = self._home[id(value)]
        if value.node().kind() == "prim::Constant" or home is body:
            return
        while body is not home:
            step = body.owner
            body = self._within[id(step)]
        at = home.steps.index(step) + 1
        if at < len(home.steps) and home.steps[at].kind == DROP:
            home.steps[at].inputs.append(value)
        else:
            self._place(Step(DROP, [value]), home, at)

    def _find_inline(self, body: Body) -> None:
        """Marks steps whose one output is taken once, next to where it is made, in
        the order in which an expression computes its operands.
        """
        self._scan(body, body.results, len(body.steps))
        for i in range(len(body.steps) - 1, -1, -1):
            step = body.steps[i]
            if step in self.inline:
                continue
            for inner in step.bodies:
                self._find_inline(inner)
            self._scan(body, step.inputs, i)

    def _scan(self, body: Body, values: list[Value], before: int) -> int:
        """The place of the step that the operands' first one may still take in."""
        point = _before(body, before)
        for value in reversed(values):
            step = body.steps[point] if point >= 0 else None
            if step is None or step.outputs != [value] or not self._once(step):
                continue
            for inner in step.bodies:
                self._find_inline(inner)
            self.inline.add(step)
            point = self._scan(body, step.inputs, point)
        return point

    def _once(self, step: Step) -> bool:
        return self.uses.get(id(step.outputs[0])) == 1


def _taken(body: Body, taken: set[int]) -> None:
    taken.update(id(value) for value in body.results)
    for step in body.steps:
        taken.update(id(value) for value in step.inputs)
        for inner in step.bodies:
            _taken(inner, taken)


def _before(body: Body, at: int) -> int:
    """The place of the last step before `at` that is no constant, or -1."""
    at -= 1
    while at >= 0 and body.steps[at].kind == "prim::Constant":
        at -= 1
    return at
