"""A model's graph as TensorBoard draws it, from its trace."""

from __future__ import annotations

import contextlib

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
from tensorboard.compat.proto.versions_pb2 import VersionDef

from ... import jit

_ATTRIBUTE = "prim::GetAttr"


@contextlib.contextmanager
def _evaluating(model):
    training = getattr(model, "training", False)
    if training:
        model.train(False)
    try:
        yield
    finally:
        if training:
            model.train(True)


class _Scopes:
    """Which module each value of a graph belongs to, by its parameters."""

    def __init__(self, traced) -> None:
        self._titles = {}
        root = getattr(traced, "original_name", "Module")
        modules = getattr(traced, "named_modules", lambda: [("", traced)])
        for name, module in modules():
            kind = getattr(module, "original_name", "Module")
            at = name.split(".")[-1]
            above = self._titles.get(name.rpartition(".")[0], root)
            self._titles[name] = f"{above}/{kind}[{at}]" if name else root
        self._paths: dict[str, str] = {}  # of modules and attributes
        self.names: dict[str, str] = {}

    def attribute(self, node) -> None:
        """An attribute of a module, which is one itself or a tensor."""
        of = self._paths.get(node.input().debugName(), "")
        path = f"{of}.{node.s('name')}" if of else node.s("name")
        name = node.output().debugName()
        self._paths[name] = path
        title = self._titles.get(of, self._titles[""])
        self.names[name] = f"{title}/{node.s('name')}/{name}"

    def operator(self, node) -> None:
        """A call, which stands where its parameters do."""
        given = [self._paths.get(x.debugName()) for x in node.inputs()]
        of = next((x.rpartition(".")[0] for x in given if x), "")
        title = self._titles.get(of, self._titles[""])
        for value in node.outputs():
            self.names[value.debugName()] = f"{title}/{value.debugName()}"


def _attributes(node) -> str:
    """As text, without quotes, which TensorBoard does not take."""
    found = {key: getattr(node, node.kindOf(key))(key) for key in node.attributeNames()}
    return str(found).replace("'", " ")


def _node(name: str, kind: str, inputs=(), attributes: str = "") -> NodeDef:
    text = AttrValue(s=attributes.encode())
    return NodeDef(name=name, op=kind, input=inputs, attr={"attr": text})


def graph(model, args, verbose: bool = False, strict: bool = True) -> tuple:
    """The graph of a call, and the message of its run, which is empty."""
    with _evaluating(model):
        traced = jit.trace(model, args, strict=strict)
    if verbose:
        print(traced.graph)
    # Calls of other functions of the module stand in the graph as one node.
    inner = getattr(traced, "inlined_graph", traced.graph)
    scopes, nodes = _Scopes(traced), []
    for value in inner.inputs():
        name = value.debugName()
        if str(value.type()).startswith("__torch__"):
            continue
        scopes.names[name] = f"input/{name}"
        nodes.append(_node(scopes.names[name], "IO Node"))
    for node in inner.nodes():
        if node.kind() != _ATTRIBUTE:
            scopes.operator(node)
        else:
            scopes.attribute(node)
            if str(node.output().type()).startswith("__torch__"):
                continue
        given = [value.debugName() for value in node.inputs()]
        known = [scopes.names[name] for name in given if name in scopes.names]
        if node.kind() == _ATTRIBUTE:
            known = []
        nodes += [
            _node(
                scopes.names[value.debugName()], node.kind(), known, _attributes(node)
            )
            for value in node.outputs()
        ]
    for i, value in enumerate(inner.outputs()):
        made = scopes.names[value.debugName()]
        nodes.append(_node(f"output/output.{i + 1}", "IO Node", [made]))
    steps = StepStats(dev_stats=[DeviceStepStats(device="/device:CPU:0")])
    made = GraphDef(node=nodes, versions=VersionDef(producer=22))
    return made, RunMetadata(step_stats=steps)
