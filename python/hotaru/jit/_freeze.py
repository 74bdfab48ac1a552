"""Modules with their attributes as constants."""

from __future__ import annotations

from ._module import ScriptModule


def freeze(mod, preserved_attrs=None, optimize_numerics=True) -> ScriptModule:
    """A new module whose code has `mod`'s attributes as constants.

    It has `forward` and the preserved methods and attributes. Parameters and
    whatever else the code never assigns become constants, which share `mod`'s
    memory; attributes that the code assigns, lists and dicts are copied.

    Args:
        mod: a ScriptModule in eval mode.
        preserved_attrs: names of methods and attributes to keep.
        optimize_numerics: whether the graphs that it shows have batch norms,
            sums and products computed into weights; the program that runs is
            optimised when it first runs, either way.

    Raises:
        RuntimeError: `mod` is no ScriptModule or in training mode, a name is
            unknown, or the code hands modules about.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use "
            "torch.jit.script or torch.jit.trace to script your 'nn.Module'."
        )
    native = mod._c.freeze(list(preserved_attrs or ()))
    out = mod._made_of(native, mod)
    run_frozen_optimizations(out, optimize_numerics, preserved_attrs)
    return out


def run_frozen_optimizations(
    mod, optimize_numerics: bool = True, preserved_methods=None
) -> None:
    """Optimises the graphs of a frozen module, `mod.graph` and its methods'.

    The passes run when a graph is asked for: dropouts that do nothing go, and
    what follows convolutions and linear layers is computed into their weights.
    What the module computes stays.

    Args:
        mod: a frozen module.
        optimize_numerics: whether weights may change.
        preserved_methods: all of them are, as they have no other graph.
    """
    vars(mod).pop("_shown_graphs", None)
    vars(mod)["_frozen_numerics"] = bool(optimize_numerics)


def optimize_for_inference(mod, other_methods=None) -> ScriptModule:
    """`mod` frozen, if it is not yet.

    Programs are optimised when they first run, frozen or not.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "optimize_for_inference expects a ScriptModule as input. "
            "Please use torch.jit.script or torch.jit.trace to script your "
            "'nn.Module'."
        )
    if mod._c.has_attribute("training"):
        mod = freeze(mod.eval(), preserved_attrs=other_methods)
    return mod
