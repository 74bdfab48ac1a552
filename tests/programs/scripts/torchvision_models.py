"""A model of torchvision: forward, backward and a step of training."""

import sys

import torch
import torchvision
from probe import emit, gradients

name = sys.argv[1]
torch.manual_seed(0)
special = {"weights_backbone": None} if name.startswith("fcn") else {}
model = torchvision.models.get_model(name, weights=None, **special)
size = 224 if name.startswith("vit") else 64
image = torch.randn(2, 3, size, size)
model.eval()


def logits(out):
    return out["out"] if isinstance(out, dict) else out


with torch.no_grad():
    emit(logits=logits(model(image)))
# In double precision: a normalisation over eight numbers loses many digits.
model.double().train()
torch.manual_seed(1)
loss = logits(model(image.double())).square().mean()
loss.backward()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
optimizer.step()
emit(loss=loss)
norms = gradients(model)
largest = max(norms.values())
emit(gradients={k: v for k, v in norms.items() if v > 1e-3 * largest})
