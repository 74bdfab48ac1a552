"""Arguments that many modules share."""

from __future__ import annotations


def ntuple(value, count: int) -> tuple:
    """`value` as a tuple: a scalar `count` times, an iterable as it is."""
    if isinstance(value, (str, int, float)) or not hasattr(value, "__iter__"):
        return (value,) * count
    return tuple(value)


def show(module, *names: str) -> str:
    """`name=value, …` for an `extra_repr`; strings as `repr` would."""
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)


def weight_and_bias(module) -> tuple:
    """`module.weight, module.bias`, at a fifth of the cost.

    Parameters are otherwise found by `Module.__getattr__`, after the normal
    lookup has failed.
    """
    params = module._parameters
    try:
        return params["weight"], params["bias"]
    except KeyError:
        # Replaced by plain tensors or properties.
        return module.weight, module.bias


class LayerFunction(property):
    """The function of `nn.functional` that a class of layers calls, as in
    `_pool = LayerFunction(lambda _: F.max_pool2d)`. It is looked up by each
    call, so layers call what somebody put in its place there.
    """
