"""timm beside its models: data pipeline, optimisers, feature extraction."""

import random
import sys

import numpy as np
import timm
import torch
from PIL import Image
from probe import emit


def picture(seed: int):
    draw = np.random.RandomState(seed)
    small = draw.randint(0, 255, (16, 16, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((80, 64), Image.BICUBIC)


def data() -> None:
    from timm.data import Mixup, create_transform
    from timm.data.random_erasing import RandomErasing

    plain = create_transform(64, is_training=False)
    emit(plain=plain(picture(0)))
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    train = create_transform(
        64, is_training=True, auto_augment="rand-m9-mstd0.5", re_prob=0.5
    )
    emit(train=torch.stack([train(picture(k)) for k in range(3)]))
    mixed, target = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=5)(
        torch.randn(4, 3, 16, 16), torch.tensor([0, 1, 2, 3])
    )
    emit(mixed=mixed, target=target)
    emit(erased=RandomErasing(1.0, device="cpu")(torch.randn(2, 3, 16, 16)))


def optim() -> None:
    from timm.optim import create_optimizer_v2
    from timm.scheduler import CosineLRScheduler
    from timm.utils import ModelEmaV3, accuracy

    for name in ("adamw", "lamb", "nadamw", "lion", "adafactor", "madgrad"):
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4)
        )
        optimizer = create_optimizer_v2(model, name, lr=1e-2, weight_decay=0.1)
        schedule = CosineLRScheduler(optimizer, t_initial=5, warmup_t=2)
        ema = ModelEmaV3(model, decay=0.9)
        losses = []
        for step in range(5):
            x = torch.randn(16, 8)
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step(step)
            ema.update(model)
            losses.append(loss.item())
        emit(**{name: losses, f"{name}_ema": ema.module[0].weight})
    logits = torch.randn(8, 5)
    emit(top=accuracy(logits, torch.arange(8) % 5, topk=(1, 3)))


def features() -> None:
    model = timm.create_model("resnet18", features_only=True)
    x = torch.randn(1, 3, 64, 64)
    model.eval()
    with torch.no_grad():
        emit(maps=list(model(x)))
    model = timm.create_model("resnet18", num_classes=0).eval()
    with torch.no_grad():
        emit(pooled=model(x))
    emit(names=timm.list_models("resnet1*")[:5])
    model = timm.create_model("vit_tiny_patch16_224", dynamic_img_size=True)
    model.eval()
    with torch.no_grad():
        out = model.forward_intermediates(x, indices=2)
    emit(last=out[0], middle=out[1])


{"data": data, "optim": optim, "features": features}[sys.argv[1]]()
