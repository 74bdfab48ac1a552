"""Networks of images for the conformance of exported programs."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """A residual block."""

    def __init__(self, inner, outer, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.down = None
        if stride != 1 or inner != outer:
            self.down = nn.Sequential(
                nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer)
            )

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        y += x if self.down is None else self.down(x)
        return F.relu(y, inplace=True)


class ResNet(nn.Module):
    """Residual blocks, pooling and a classifier."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 7, 2, 3, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        self.layer1 = nn.Sequential(Block(8, 8), Block(8, 8))
        self.layer2 = nn.Sequential(Block(8, 16, 2), Block(16, 16))
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        y = self.layer2(self.layer1(self.stem(x)))
        y = torch.flatten(F.adaptive_avg_pool2d(y, (1, 1)), 1)
        return self.fc(y)


class Inverted(nn.Module):
    """MobileNet's block: expand, depthwise, squeeze, project."""

    def __init__(self, channels):
        super().__init__()
        wide = channels * 3
        self.expand = nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False),
            nn.BatchNorm2d(wide, eps=1e-3, momentum=0.01),
            nn.Hardswish(inplace=True),
        )
        self.depth = nn.Sequential(
            nn.Conv2d(wide, wide, 3, 1, 1, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(inplace=True),
        )
        self.fc1 = nn.Conv2d(wide, channels, 1)
        self.fc2 = nn.Conv2d(channels, wide, 1)
        self.project = nn.Conv2d(wide, channels, 1, bias=False)

    def forward(self, x):
        y = self.depth(self.expand(x))
        scale = F.adaptive_avg_pool2d(y, 1)
        scale = F.hardsigmoid(self.fc2(F.relu(self.fc1(scale))))
        return x + self.project(scale * y)


class MobileNet(nn.Module):
    """Inverted blocks."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1)
        self.features = nn.Sequential(Inverted(8), Inverted(8))
        self.head = nn.Sequential(
            nn.Linear(8, 16), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(16, 4)
        )

    def forward(self, x):
        return self.head(self.features(self.stem(x)).mean([2, 3]))


class UNet(nn.Module):
    """Down, up, and what was kept beside it."""

    def __init__(self):
        super().__init__()
        self.down1 = self.pair(1, 4)
        self.down2 = self.pair(4, 8)
        self.middle = self.pair(8, 16)
        self.up2 = nn.ConvTranspose2d(16, 8, 2, 2)
        self.join2 = self.pair(16, 8)
        self.join1 = self.pair(12, 4)
        self.last = nn.Conv2d(4, 2, 1)

    @staticmethod
    def pair(inner, outer):
        return nn.Sequential(
            nn.Conv2d(inner, outer, 3, padding=1),
            nn.GroupNorm(2, outer),
            nn.SiLU(),
            nn.Conv2d(outer, outer, 3, padding="same"),
            nn.LeakyReLU(0.1, inplace=True),
        )

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        y = self.middle(F.avg_pool2d(b, 2))
        y = self.join2(torch.cat([self.up2(y), b], 1))
        y = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
        y = self.join1(torch.cat([y, a], 1))
        return self.last(y)


class ViT(nn.Module):
    """Patches through a transformer's encoder."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, 4)
        self.cls = nn.Parameter(torch.randn(1, 1, 16) * 0.1)
        self.place = nn.Parameter(torch.randn(1, 17, 16) * 0.1)
        layer = nn.TransformerEncoderLayer(
            16, 2, 32, 0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        y = self.patch(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.cls.expand(y.shape[0], -1, -1), y], 1) + self.place
        return self.head(self.norm(self.encoder(y))[:, 0])


class Upscaler(nn.Module):
    """Pixel shuffle, padding, instance norm, PReLU."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.InstanceNorm2d(4, affine=True)
        self.act = nn.PReLU(4)
        self.last = nn.Conv2d(1, 1, 3, padding=1, padding_mode="reflect")

    def forward(self, x):
        y = self.act(self.norm(self.conv(F.pad(x, (1, 1, 1, 1), "replicate"))))
        return torch.tanh(self.last(F.pixel_shuffle(y, 2)))
