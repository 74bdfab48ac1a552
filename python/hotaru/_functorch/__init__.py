"""Names that PyTorch keeps of functorch, which became `torch.func`."""

from __future__ import annotations

from .._own_names import part


def __getattr__(name: str):
    return part(
        __name__,
        name,
        (
            "aot_autograd",
            "compilers",
            "config",
            "deprecated",
            "make_functional",
            "partitioners",
            "vmap",
        ),
    )
