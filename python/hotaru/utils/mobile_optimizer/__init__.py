"""Modules made ready for phones: frozen, without what only training needs."""

from __future__ import annotations

import copy
import enum

from ... import jit

__all__ = ["LintCode", "MobileOptimizerType", "optimize_for_mobile"]


class LintCode(enum.Enum):
    """Kinds of hints."""

    BUNDLED_INPUT = 1
    REQUIRES_GRAD = 2
    DROPOUT = 3
    BATCHNORM = 4


class MobileOptimizerType(enum.Enum):
    """Steps of `optimize_for_mobile` that can be left out."""

    CONV_BN_FUSION = 0
    INSERT_FOLD_PREPACK_OPS = 1
    REMOVE_DROPOUT = 2
    FUSE_ADD_RELU = 3
    HOIST_CONV_PACKED_PARAMS = 4
    CONV_1D_TO_2D = 5
    VULKAN_AUTOMATIC_GPU_TRANSFER = 6


def _check(script_module) -> None:
    if not isinstance(script_module, jit.ScriptModule):
        raise TypeError(f"Got {type(script_module)}, but ScriptModule is expected.")


def _bundled(script_module, preserved: list[str]) -> list[str]:
    """Names of methods that give example inputs, if the module has them."""
    found = []
    if hasattr(script_module, "get_all_bundled_inputs"):
        found += ["get_all_bundled_inputs", "get_num_bundled_inputs"]
    if hasattr(script_module, "get_bundled_inputs_functions_and_info"):
        found.append("get_bundled_inputs_functions_and_info")
        for name in script_module.get_bundled_inputs_functions_and_info():
            found += [] if name in preserved else [name]
            found.append("get_all_bundled_inputs_for_" + name)
            found.append("_bundled_inputs_deflated_" + name)
    return found


def optimize_for_mobile(
    script_module,
    optimization_blocklist: set | None = None,
    preserved_methods: list | None = None,
    backend: str = "CPU",
):
    """A new module in eval mode, frozen (`jit.freeze`).

    Args:
        script_module: a compiled module, which stays as it is.
        optimization_blocklist: steps to leave out; freezing is done all the same.
        preserved_methods: methods to keep beside `forward`.
        backend: "CPU".

    Raises:
        TypeError: no compiled module, or an unknown back end. AttributeError: a
        method that is not there. NotImplementedError: "Vulkan" and "Metal".
    """
    _check(script_module)
    kept = [str(method) for method in preserved_methods or ()]
    bundled = _bundled(script_module, kept)
    if all(hasattr(script_module, name) for name in bundled):
        kept = list(dict.fromkeys(kept + bundled))
    missing = [name for name in kept if not hasattr(script_module, name)]
    if missing:
        raise AttributeError(
            "The following methods to preserve do not exist in script_module: "
            f"{', '.join(missing)}"
        )
    if backend.lower() in ("vulkan", "metal"):
        raise NotImplementedError(
            f"optimize_for_mobile: hotaru has no {backend} back end; leave it out"
        )
    if backend.lower() != "cpu":
        raise TypeError("Unknown backend, must be one of 'CPU', 'Vulkan' or 'Metal'")
    return jit.freeze(copy.deepcopy(script_module).eval(), kept)


def _operators(script_module) -> list[str]:
    """Names of operators that the code calls, those in layers' functions, too."""
    found = set(jit.export_opnames(script_module))
    for module in script_module.modules():
        if module._c.has_method("forward") and ".dropout(" in module.code:
            found.add("aten::dropout")
    return sorted(found)


def generate_mobile_module_lints(script_module) -> list[dict]:
    """Hints about a compiled module, each with its kind's name and a text."""
    _check(script_module)
    found = []

    def add(kind: LintCode, message: str) -> None:
        found.append({"name": kind.name, "message": message})

    if not hasattr(script_module, "_generate_bundled_inputs_for_forward"):
        add(
            LintCode.BUNDLED_INPUT,
            "No bundled input for forward, please add bundled inputs before saving "
            "the module using torch.utils.bundled_inputs."
            "augment_model_with_bundled_inputs.",
        )
    for name, parameter in script_module.named_parameters():
        if parameter.requires_grad:
            add(
                LintCode.REQUIRES_GRAD,
                f"Param {name} requires grad, please set torch.no_grad() to reduce "
                "memory usage and improve computation speed during inference phase.",
            )
    for name in _operators(script_module):
        if "dropout" in name:
            add(
                LintCode.DROPOUT,
                f"Operator {name} exists, remember to call eval() before saving the "
                "module.and call torch.utils.mobile_optimizer.optimize_for_mobile to "
                "drop dropout operator.",
            )
        if "batch_norm" in name:
            add(
                LintCode.BATCHNORM,
                f"Operator {name} exists, remember to call eval() before saving the "
                "module and call torch.utils.mobile_optimizer.optimize_for_mobile to "
                "drop batch_norm operator.",
            )
    return found
