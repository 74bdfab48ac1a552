"""open_clip and lpips with random weights."""

import sys

import torch
from probe import emit, gradients

torch.manual_seed(0)


def clip() -> None:
    from open_clip.loss import ClipLoss, SigLipLoss
    from open_clip.model import CLIP

    model = CLIP(
        embed_dim=16,
        vision_cfg={
            "image_size": 32,
            "layers": 2,
            "width": 32,
            "head_width": 16,
            "patch_size": 8,
        },
        text_cfg={
            "context_length": 12,
            "vocab_size": 50,
            "width": 32,
            "heads": 2,
            "layers": 2,
        },
    )
    image, text = torch.randn(3, 3, 32, 32), torch.randint(50, (3, 12))
    a, b, scale = model(image, text)
    loss = ClipLoss()(a, b, scale)
    loss.backward()
    emit(image=a, text=b, loss=loss, gradients=gradients(model))
    emit(sigmoid=SigLipLoss()(a, b, scale, torch.tensor(-5.0)))


def perceptual() -> None:
    import lpips

    loss = lpips.LPIPS(net="squeeze", pretrained=False, pnet_rand=True, verbose=False)
    a = torch.rand(1, 3, 64, 64, requires_grad=True)
    found = loss(a, a.detach().flip(3))
    found.sum().backward()
    emit(distance=found, gradient=a.grad)


globals()[sys.argv[1]]()
