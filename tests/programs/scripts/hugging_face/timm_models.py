"""A model of timm: forward, backward and a step of training."""

import sys

import timm
import torch
from probe import emit, gradients

name = sys.argv[1]
torch.manual_seed(0)
model = timm.create_model(name, pretrained=False, num_classes=10)
size = model.default_cfg["input_size"][1]
image = torch.randn(2, 3, size, size)
model.eval()
with torch.no_grad():
    emit(logits=model(image))
    emit(features=model.forward_features(image))
model.train()
torch.manual_seed(1)
loss = torch.nn.functional.cross_entropy(model(image), torch.tensor([1, 7]))
loss.backward()
emit(loss=loss)
norms = gradients(model)
# Biases before a normalisation have gradients that are zero but for rounding.
largest = max(norms.values())
emit(gradients={k: v for k, v in norms.items() if v > 1e-3 * largest})
