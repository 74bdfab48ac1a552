"""Nested tensors with the layout strided as text."""

from __future__ import annotations

from ._packed import StridedNested, parts


def text(x: StridedNested) -> str:
    """The elements one below the other, as PyTorch prints them."""
    plain = x.detach()
    body = ",\n".join(
        "  " + repr(part.requires_grad_(x.requires_grad)).replace("\n", "\n  ")
        for part in parts(plain)
    )
    about = ""
    if x.grad_fn is not None:
        about = f", grad_fn=<{x.grad_fn.name()}>"
    elif x.requires_grad:
        about = ", requires_grad=True"
    return f"nested_tensor([\n{body}\n]{about})"
