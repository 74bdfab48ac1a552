"""einops: functions and layers."""

import sys

import torch
from probe import emit, gradients

torch.manual_seed(0)


def functions() -> None:
    from einops import einsum, pack, parse_shape, rearrange, reduce, repeat, unpack

    x = torch.randn(2, 6, 4, requires_grad=True)
    a = rearrange(x, "b (h w) c -> b c h w", h=2)
    emit(
        rearranged=a,
        reduced=reduce(a, "b c (h 2) w -> b c h", "max"),
        mean=reduce(a, "b c h w -> c", "mean"),
        repeated=repeat(x, "b t c -> b (t k) c", k=2),
        product=einsum(x, x, "b t c, b s c -> b t s"),
        shape=parse_shape(x, "b t _"),
    )
    packed, shapes = pack([x, x[:, 0]], "b * c")
    emit(packed=packed, parts=unpack(packed, shapes, "b * c"))
    rearrange(a, "b c h w -> (b c h w)").cumsum(0).sum().backward()
    emit(gradient=x.grad)


def layers() -> None:
    from einops.layers.torch import EinMix, Rearrange, Reduce

    net = torch.nn.Sequential(
        Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4),
        EinMix("b t c -> b t d", "c d", "d", c=48, d=8),
        torch.nn.GELU(),
        Reduce("b t d -> b d", "mean"),
    )
    out = net(torch.randn(2, 3, 8, 8))
    out.square().mean().backward()
    emit(out=out, gradients=gradients(net), text=str(net))


globals()[sys.argv[1]]()
