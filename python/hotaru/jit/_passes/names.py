"""Names that `torch._C` has of passes and of what they ask."""

from __future__ import annotations

from ..._types import TensorType, new_symbol
from .._logging import (
    AggregationType,
    LockingLogger,
    LoggerBase,
    NoopLogger,
    set_logger,
)
from .activations import in_functional_form, in_place
from .batch_mm import batched_mm
from .clean import dead_code, twice
from .decompositions import decomposed
from .facts import ALL, Facts, erase
from .fold import constants
from .frozen import (
    concatenated_linear,
    conv_add_or_sub,
    conv_batch_norm,
    conv_mul_or_div,
    linear_batch_norm,
    optimized,
    transposed_linear,
    without_dropout,
)
from .linear import fused_linear
from .mutation import without_mutation
from .patterns import rewrite
from .peephole import list_idioms, peephole
from .refining import integers
from .rewriting import rewriting
from .shape_graphs import lowered_tuples, with_compute
from .unrolling import unrolled

_SWITCHES = {"symbolic_shapes_test_mode": False}


def _erased(graph) -> None:
    """Forgets dtypes, sizes, strides and devices of a graph's tensors."""
    with rewriting(graph):
        erase(graph)


def _inner_erased(graph) -> None:
    """As `_jit_pass_erase_shape_information`, but for the parameters."""
    with rewriting(graph):
        types = [value._type for value in graph.inputs()]
        erase(graph)
        for value, type in zip(graph.inputs(), types):
            value._type = type


def _carried(graph, kinds, ranks: bool = False) -> None:
    with rewriting(graph):
        Facts(graph, kinds, ranks)


def _sizes(graph) -> None:
    """Carries sizes from the parameters' types to the results."""
    _carried(graph, ("sizes",))


def _dtypes(graph) -> bool:
    """Carries dtypes from the parameters' types to the results."""
    _carried(graph, ("scalar_type",))
    return True


def _devices(graph) -> bool:
    """Carries devices from the parameters' types to the results."""
    _carried(graph, ("device",))
    return True


def _with_examples(graph, examples, ranks: bool) -> None:
    values = list(graph.inputs())
    if len(values) != len(examples):
        raise RuntimeError(
            f"the graph has {len(values)} parameters, but there are "
            f"{len(examples)} examples"
        )
    for value, example in zip(values, examples):
        if isinstance(value.type(), TensorType) and hasattr(example, "dtype"):
            known = TensorType.create_from_tensor(example)._known
            if ranks:
                sizes = (None,) * len(known.sizes)
                known = known._replace(sizes=sizes, strides=None)
            value._type = TensorType(known)


def _complete(graph, inputs, with_grad: bool = False) -> None:
    """Carries all that examples tell to the results.

    Args:
        graph: changed.
        inputs: an example for each parameter.
        with_grad: as in PyTorch; gradients are not followed.
    """
    with rewriting(graph):
        erase(graph)
        _with_examples(graph, tuple(inputs), ranks=False)
        Facts(graph, ALL)


def _propagated(graph, inputs, with_grad: bool = False):
    """A copy of the graph, with dtypes, devices and numbers of dimensions.

    Args:
        graph: stays as it is.
        inputs: an example for each parameter.
        with_grad: as in PyTorch; gradients are not followed.
    """
    out = graph.copy()
    erase(out)
    _with_examples(out, tuple(inputs), ranks=True)
    Facts(out, ALL, ranks=True)
    return out


def _concatenated(graph) -> bool:
    """Makes one linear layer of those of one input, on CUDA devices."""
    return concatenated_linear(graph)


def _without_dropout(module) -> None:
    """Takes dropouts that do nothing out of the graph that a module shows."""
    without_dropout(module.graph)


def _test_mode() -> bool:
    """Reads what `_jit_set_symbolic_shapes_test_mode` has set."""
    return _SWITCHES["symbolic_shapes_test_mode"]


def _set_test_mode(enabled: bool) -> None:
    """Keeps a switch of PyTorch's tests: sizes are carried either way."""
    _SWITCHES["symbolic_shapes_test_mode"] = bool(enabled)


NAMES = {
    "AggregationType": AggregationType,
    "LockingLogger": LockingLogger,
    "LoggerBase": LoggerBase,
    "NoopLogger": NoopLogger,
    "_logging_set_logger": set_logger,
    "_jit_erase_non_input_shape_information": _inner_erased,
    "_jit_pass_batch_mm": batched_mm,
    "_jit_pass_complete_shape_analysis": _complete,
    "_jit_pass_concat_frozen_linear": _concatenated,
    "_jit_pass_constant_propagation": constants,
    "_jit_pass_cse": twice,
    "_jit_pass_custom_pattern_based_rewrite_graph": rewrite,
    "_jit_pass_dce": dead_code,
    "_jit_pass_erase_shape_information": _erased,
    "_jit_pass_fold_frozen_conv_add_or_sub": conv_add_or_sub,
    "_jit_pass_fold_frozen_conv_bn": conv_batch_norm,
    "_jit_pass_fold_frozen_conv_mul_or_div": conv_mul_or_div,
    "_jit_pass_fold_frozen_linear_bn": linear_batch_norm,
    "_jit_pass_fuse_linear": fused_linear,
    "_jit_pass_functional_to_inplace_activation": in_place,
    "_jit_pass_inplace_to_functional_activation": in_functional_form,
    "_jit_pass_lower_all_tuples": lowered_tuples,
    "_jit_pass_propagate_shapes_on_graph_and_build_compute": with_compute,
    "_jit_pass_loop_unrolling": unrolled,
    "_jit_pass_constant_loop_unrolling": unrolled,
    "_jit_pass_optimize_frozen_graph": optimized,
    "_jit_pass_peephole": peephole,
    "_jit_pass_peephole_list_idioms": list_idioms,
    "_jit_pass_propagate_device": _devices,
    "_jit_pass_propagate_dtype": _dtypes,
    "_jit_pass_propagate_shapes_on_graph": _sizes,
    "_jit_pass_refine_integer_values": integers,
    "_jit_pass_remove_dropout": _without_dropout,
    "_jit_pass_remove_mutation": without_mutation,
    "_jit_pass_run_decompositions": decomposed,
    "_jit_pass_transpose_frozen_linear": transposed_linear,
    "_jit_set_symbolic_shapes_test_mode": _set_test_mode,
    "_jit_symbolic_shapes_test_mode_enabled": _test_mode,
    "_new_symbolic_shape_symbol": new_symbol,
    "_propagate_shapes": _propagated,
}
