"""e3nn: irreducible representations of rotations, and layers of them."""

import sys

import torch
from e3nn import o3
from probe import emit, gradients

# Gradients that cancel have no digits left in single precision.
torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
X = torch.randn(5, 3)


def harmonics() -> None:
    emit(
        values=o3.spherical_harmonics([0, 1, 2, 3], X, normalize=True),
        wigner=o3.wigner_3j(1, 2, 2),
        d=o3.Irreps("1x1o+1x2e").D_from_angles(*torch.tensor([0.3, 0.5, 0.7])),
        angles=list(o3.xyz_to_angles(X)),
    )


def layers() -> None:
    from e3nn import nn

    inside, outside = o3.Irreps("2x0e+2x1o"), o3.Irreps("3x0e+1x1o+1x2e")
    product = o3.FullyConnectedTensorProduct(inside, inside, outside)
    linear = o3.Linear(outside, "2x0e+1x1o")
    norm = nn.BatchNorm("2x0e+1x1o")
    a, b = torch.randn(5, 8), torch.randn(5, 8)
    out = norm(linear(product(a, b)))
    (out**2).sum().sqrt().backward()
    emit(out=out, gradients=gradients(linear))
    gate = nn.Gate("4x0e", [torch.relu], "1x0e", [torch.sigmoid], "1x1o")
    emit(gated=gate(torch.randn(3, 8)))


globals()[sys.argv[1]]()
