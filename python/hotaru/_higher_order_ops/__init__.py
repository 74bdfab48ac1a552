"""Loops and branches as operators that take functions.

They run the functions, once for each row or round, on whatever tensors they
are given: values, gradients and `vmap` are those of the operators inside. A
program that is being exported gets the functions as graphs of its own
(`export/_loops.py`). The operators themselves, of flat lists of tensors, are
`torch.ops.higher_order`.
"""

from __future__ import annotations

from .._own_names import no_attribute
from ._base import HigherOrderOperator
from .associative_scan import associative_scan
from .cond import cond
from .invoke_quant import InvokeQuant, invoke_quant, invoke_quant_packed
from .map import map
from .scan import scan
from .while_loop import while_loop
from .wrap import wrap_with_autocast, wrap_with_set_grad_enabled

__all__ = [
    "InvokeQuant",
    "associative_scan",
    "cond",
    "invoke_quant",
    "invoke_quant_packed",
    "map",
    "scan",
    "while_loop",
    "wrap_with_autocast",
    "wrap_with_set_grad_enabled",
]

# Names that PyTorch has here beside those.
_MISSING = {
    "BaseHOP",
    "_foreach_map",
    "aoti_call_delegate",
    "auto_functionalized",
    "auto_functionalized_v2",
    "call_torchbind",
    "dynamo_bypassing_wrapper",
    "executorch_call_delegate",
    "flat_apply",
    "flex_attention",
    "flex_attention_backward",
    "foreach_map",
    "hints_wrapper",
    "inductor_compiled_code",
    "inline_asm_elementwise",
    "invoke_leaf_function",
    "invoke_subgraph",
    "local_map_hop",
    "out_dtype",
    "print",
    "register_hook",
    "run_const_graph",
    "strict_mode",
    "tag_activation_checkpoint",
    "while_loop_stack_output",
    "with_effects",
    "wrap_activation_checkpoint",
}


def __getattr__(name: str):
    why = ""
    if name in _MISSING:
        why = (
            f": hotaru has no operator {name!r}; of those that take functions "
            f"there are {', '.join(__all__)}"
        )
    raise no_attribute(__name__, name, why)
