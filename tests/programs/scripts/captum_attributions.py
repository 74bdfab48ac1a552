"""captum: what a small network's outputs are attributed to."""

import sys

import torch
from captum import attr
from probe import emit

torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.MaxPool2d(2),
    torch.nn.Flatten(),
    torch.nn.Linear(64, 3),
).eval()
x = torch.randn(2, 3, 8, 8, requires_grad=True)
kind = sys.argv[1]
if kind == "integrated":
    found, delta = attr.IntegratedGradients(net).attribute(
        x, target=1, n_steps=20, return_convergence_delta=True
    )
    emit(found=found, delta=delta + 1)
    emit(saliency=attr.Saliency(net).attribute(x, target=0))
    emit(layer=attr.LayerConductance(net, net[1]).attribute(x, target=2))
    tunnel = attr.NoiseTunnel(attr.InputXGradient(net))
    emit(tunnel=tunnel.attribute(x, target=1, nt_samples=4))
elif kind == "deeplift":
    emit(found=attr.DeepLift(net).attribute(x, torch.zeros_like(x), target=1))
    emit(guided=attr.GuidedBackprop(net).attribute(x, target=1))
    emit(deconv=attr.Deconvolution(net).attribute(x, target=1))
elif kind == "occlusion":
    emit(
        found=attr.Occlusion(net).attribute(x, (3, 4, 4), (3, 2, 2), target=1),
        ablated=attr.FeatureAblation(net).attribute(x, target=0),
    )
elif kind == "shap":
    base = torch.randn(4, 3, 8, 8)
    torch.manual_seed(1)
    emit(found=attr.GradientShap(net).attribute(x, base, target=1))
    emit(kernel=attr.KernelShap(net).attribute(x[:1], target=1, n_samples=20))
else:
    emit(found=attr.LayerGradCam(net, net[0]).attribute(x, target=1))
    emit(guided=attr.GuidedGradCam(net, net[0]).attribute(x, target=1))
