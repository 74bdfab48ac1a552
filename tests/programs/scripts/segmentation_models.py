"""segmentation-models-pytorch: networks and losses."""

import sys

import segmentation_models_pytorch as smp
import torch
from probe import emit, gradients

kind = sys.argv[1]
if kind != "losses":
    # Norms over few values lose digits that single precision does not have.
    torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
if kind == "losses":
    scores, target = torch.randn(2, 3, 8, 8), torch.randint(3, (2, 8, 8))
    for name in ("DiceLoss", "LovaszLoss", "JaccardLoss", "FocalLoss"):
        loss = getattr(smp.losses, name)("multiclass")
        emit(**{name: loss(scores, target)})
    counts = smp.metrics.get_stats(
        scores.argmax(1), target, mode="multiclass", num_classes=3
    )
    emit(counts=counts, iou=smp.metrics.iou_score(*counts, reduction="micro"))
else:
    model = getattr(smp, kind)(encoder_name="resnet18", encoder_weights=None, classes=2)
    x = torch.randn(2, 3, 64, 64)
    loss = smp.losses.DiceLoss("binary")
    out = model(x)
    value = loss(out[:, :1], (x[:, :1] > 0).float())
    value.backward()
    emit(out=out, loss=value, gradients=gradients(model))
