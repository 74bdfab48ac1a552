"""`draft_export`: programs that always come about, and what was guessed."""

from __future__ import annotations

import logging

from ..._library.fake_profile import OpProfile, TensorMetadata
from ..._ops import aten
from ...fx import GraphModule, Node
from ...nn import Module
from ...utils import _pytree as pytree
from .._errors import ConstraintViolationError
from .._export import export_with
from .._traced_program import TracedProgram
from ..dynamic_shapes import Dim, _DimHint
from .report import (
    CONGRATULATIONS,
    DraftExportReport,
    FailureReport,
    FailureType,
    Findings,
)
from .trace import DraftTrace

__all__ = ["DraftExportReport", "FailureReport", "FailureType", "draft_export"]

log = logging.getLogger(__name__)


def draft_export(
    mod: Module,
    args: tuple,
    kwargs: dict | None = None,
    *,
    dynamic_shapes=None,
    preserve_module_call_signature: tuple = (),
    strict: bool = False,
    pre_dispatch: bool = True,
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> TracedProgram:
    """`torch.export.draft_export`, which has its documentation."""
    findings = Findings()

    def traced(shapes) -> TracedProgram:
        return export_with(
            lambda sizes: _trace(sizes, findings),
            mod,
            args,
            kwargs,
            shapes,
            preserve_module_call_signature,
        )

    new_shapes = None
    try:
        program = traced(dynamic_shapes or None)
    except ConstraintViolationError:
        new_shapes = pytree.tree_map(_automatic, dynamic_shapes)
        program = traced(new_shapes)
    wrong = findings.operators()
    program._report = findings.report(new_shapes, _profiles(program, wrong))
    _guard_operators(program, wrong)
    if program._report.successful():
        log.info(CONGRATULATIONS)
    else:
        log.warning(program._report.warning())
    return program


def _trace(sizes, findings: Findings) -> DraftTrace:
    trace = DraftTrace(sizes, findings)
    sizes.learned = trace.note_guard
    return trace


def _automatic(dim):
    if isinstance(dim, Dim) or (isinstance(dim, _DimHint) and dim.kind == "DYNAMIC"):
        return _DimHint("AUTO", dim.min, dim.max)
    return dim


def _calls(program, names: set):
    """Graph modules and calls in them of operators by name."""
    for module in program.graph_module.modules():
        if not isinstance(module, GraphModule):
            continue
        for node in list(module.graph.nodes):
            if node.op == "call_function" and str(node.target) in names:
                yield module, node


def _profiles(program, names: set) -> dict[str, set]:
    """For each operator what its calls were given and gave."""
    found: dict[str, set] = {}
    for _, node in _calls(program, names):
        given = tuple(
            TensorMetadata.maybe_from_tensor(x.meta.get("val"))
            if isinstance(x, Node)
            else None
            for x in (*node.args, *node.kwargs.values())
        )
        value = node.meta["val"]
        if isinstance(value, (list, tuple)):
            made = tuple(map(TensorMetadata.maybe_from_tensor, value))
        else:
            made = TensorMetadata.maybe_from_tensor(value)
        found.setdefault(str(node.target), set()).add(OpProfile(given, made))
    return found


def _guard_operators(program, names: set) -> None:
    """The program checks the dtypes and devices that such operators get."""
    changed = {}
    for module, node in _calls(program, names):
        changed[id(module)] = module
        graph = module.graph
        with graph.inserting_before(node):
            for x in (*node.args, *node.kwargs.values()):
                if isinstance(x, Node) and "facts" in x.meta:
                    facts = x.meta["facts"]
                    made = graph.call_function(
                        aten._assert_tensor_metadata.default,
                        (x,),
                        {
                            "dtype": facts.dtype,
                            "device": facts.device,
                            "layout": facts.layout,
                        },
                    )
                    made.meta.update(val=None, stack=node.meta.get("stack"))
    for module in changed.values():
        module.recompile()
