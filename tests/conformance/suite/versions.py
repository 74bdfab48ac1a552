"""Names that test files of PyTorch 2.6 import and 2.13 has renamed or dropped.

The same over both, so that a file loads; no test passes by them.
"""

from __future__ import annotations

import importlib


def _harness(name: str):
    try:
        return importlib.import_module(f"torch.testing._internal.{name}")
    except Exception:  # what the module needs may be what hotaru lacks
        return None


def _offer(module, **names) -> None:
    for name, value in names.items():
        if module is not None and name not in vars(module):
            setattr(module, name, value)


def _decorator(*args, **kwargs):
    if len(args) == 1 and not kwargs and callable(args[0]):
        return args[0]
    return lambda function: function


def _nothing(*args, **kwargs) -> None:
    return None


# Over PyTorch: what 2.13 has no more.
_DROPPED = {
    "export_for_training": "torch.export",
    "check_onnx_broadcast": "torch.autograd._functions.utils",
    "create_nested_block_mask": "torch.nn.attention.flex_attention",
}


def apply(source: str, over: str) -> None:
    """Offers what the text of a file names; `over` is "torch" or "hotaru".

    Only what is named is imported: some of these modules take seconds.
    """
    if over == "torch":
        for attribute, name in _DROPPED.items():
            by_fx = name == "torch.export" and "fx.test_" in source
            if attribute in source or by_fx:
                _offer(importlib.import_module(name), **{attribute: None})
    if "test_jit" in source:  # these files import each other
        source += (
            " _IS_ASTUNPARSE_INSTALLED common_cuda common_mkldnn common_nn"
            " jit_metaprogramming_utils common_methods_invocations"
        )
    if "_IS_ASTUNPARSE_INSTALLED" in source:
        frontend = importlib.import_module("torch.jit.frontend")
        _offer(frontend, _IS_ASTUNPARSE_INSTALLED=False)
    if "common_cuda" in source:
        _offer(_harness("common_cuda"), tf32_is_not_fp32=lambda: False)
    if "common_mkldnn" in source:
        _offer(_harness("common_mkldnn"), bf32_on_and_off=_decorator)
    if "common_nn" in source:
        _offer(_harness("common_nn"), new_module_tests=[])
    if "jit_metaprogramming_utils" in source:
        _offer(
            _harness("jit_metaprogramming_utils"),
            additional_module_tests=[],
            nn_functional_tests=[],
        )
    if "common_methods_invocations" in source:
        _offer_operators(_harness("common_methods_invocations"))


def _offer_operators(module) -> None:
    if module is None:
        return
    references = [
        op
        for op in getattr(module, "python_ref_db", [])
        if type(op).__name__ == "BinaryUfuncPythonRefInfo"
    ]
    _offer(
        module,
        binary_ufuncs_and_refs=[*getattr(module, "binary_ufuncs", []), *references],
        skip=_nothing,
        xfail=_nothing,
        skipOps=lambda *args, **kwargs: lambda function: function,
    )
