"""Functions of `nn.functional` as compiled code sees them, by name."""

import inspect

from . import norms, pools, vision

FUNCTIONS = {
    name: function
    for module in (norms, pools, vision)
    for name, function in vars(module).items()
    if inspect.isfunction(function) and function.__module__ == module.__name__
}

# Function -> the flag that picks, its position, the function if it is set and
# the one if not.
DISPATCH = {
    name: ("return_indices", position, f"{name}_with_indices", f"_{name}")
    for name, position in (
        ("adaptive_max_pool1d", 2),
        ("adaptive_max_pool2d", 2),
        ("adaptive_max_pool3d", 2),
    )
}
