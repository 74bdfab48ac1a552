"""torchvision beside its classifiers."""

import sys

import numpy as np
import torch
import torchvision
from PIL import Image
from probe import emit, scratch


def picture(seed: int = 0):
    draw = np.random.RandomState(seed)
    small = draw.randint(0, 255, (16, 16, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((80, 64), Image.BICUBIC)


def transforms() -> None:
    from torchvision import transforms as T

    torch.manual_seed(3)
    tensor = T.ToTensor()(picture())
    emit(
        chain=T.Compose(
            [
                T.RandomResizedCrop(48),
                T.RandomHorizontalFlip(),
                T.ColorJitter(0.4, 0.4, 0.4, 0.1),
                T.ToTensor(),
                T.Normalize((0.5,) * 3, (0.2,) * 3),
                T.RandomErasing(1.0),
            ]
        )(picture()),
        resized=T.Resize(32, antialias=True)(tensor),
        rotated=T.RandomRotation(30)(tensor),
        affine=T.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 5)(tensor),
        perspective=T.RandomPerspective(p=1.0)(tensor),
        blurred=T.GaussianBlur(5)(tensor),
        jitter=T.ColorJitter(0.4, 0.4, 0.4, 0.1)(tensor),
        auto=T.AutoAugment()((tensor * 255).to(torch.uint8)),
        rand=T.RandAugment()((tensor * 255).to(torch.uint8)),
        five=T.FiveCrop(24)(tensor),
        gray=T.Grayscale()(tensor),
        equalized=T.functional.equalize((tensor * 255).to(torch.uint8)),
    )


def transforms_v2() -> None:
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    torch.manual_seed(3)
    image = tv_tensors.Image(picture())
    boxes = tv_tensors.BoundingBoxes(
        torch.tensor([[4, 5, 30, 40], [10, 0, 60, 50]]),
        format="XYXY",
        canvas_size=(64, 80),
    )
    chain = v2.Compose(
        [
            v2.RandomHorizontalFlip(p=1.0),
            v2.RandomAffine(15),
            v2.Resize((32, 40)),
            v2.RandomPhotometricDistort(p=1.0),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize([0.5] * 3, [0.2] * 3),
        ]
    )
    image, boxes = chain(image, boxes)
    emit(kinds=[type(image).__name__, type(boxes).__name__])
    emit(
        image=image.as_subclass(torch.Tensor),
        boxes=boxes.as_subclass(torch.Tensor),
        canvas=list(boxes.canvas_size),
    )
    cut = v2.CutMix(num_classes=4)(torch.randn(4, 3, 8, 8), torch.arange(4))
    emit(cut=list(cut))


def detection() -> None:
    from torchvision.models import detection

    torch.manual_seed(0)
    model = detection.ssdlite320_mobilenet_v3_large(
        weights=None, weights_backbone=None, num_classes=5
    )
    image = torch.rand(3, 96, 96)
    target = {
        "boxes": torch.tensor([[5.0, 5.0, 60.0, 70.0]]),
        "labels": torch.tensor([2]),
    }
    losses = model([image, image], [target, target])
    emit(losses=dict(sorted(losses.items())))


def ops() -> None:
    from torchvision import ops

    torch.manual_seed(0)
    a = torch.rand(5, 2) * 10
    boxes = torch.cat([a, a + torch.rand(5, 2) * 10 + 1], 1)
    emit(
        iou=ops.box_iou(boxes, boxes),
        giou=ops.generalized_box_iou(boxes, boxes),
        area=ops.box_area(boxes),
        centre=ops.box_convert(boxes, "xyxy", "cxcywh"),
        focal=ops.sigmoid_focal_loss(torch.randn(4), torch.ones(4)),
        dropped=ops.drop_block2d(torch.ones(1, 1, 8, 8), 0.3, 3),
        depth=ops.stochastic_depth(torch.ones(4, 2), 0.5, "row"),
        loss=ops.complete_box_iou_loss(boxes, boxes.flip(0)),
        pyramid=ops.FeaturePyramidNetwork([4, 8], 4)(
            {"a": torch.randn(1, 4, 8, 8), "b": torch.randn(1, 8, 4, 4)}
        ),
    )


def io() -> None:
    """Folders of pictures, through the loader."""
    from torchvision import datasets
    from torchvision.transforms import ToTensor

    with scratch() as folder:
        for k in range(6):
            place = folder / f"class{k % 2}"
            place.mkdir(exist_ok=True)
            picture(k).save(place / f"{k}.png")
        data = datasets.ImageFolder(str(folder), ToTensor())
        loader = torch.utils.data.DataLoader(data, 3, shuffle=True)
        for images, labels in loader:
            emit(images=images, labels=labels)
    fake = datasets.FakeData(4, (3, 8, 8), 3, ToTensor())
    emit(fake=[fake[k][0] for k in range(4)])


def utils() -> None:
    from torchvision import utils

    torch.manual_seed(0)
    images = torch.rand(5, 3, 12, 10)
    grid = utils.make_grid(images, nrow=3, normalize=True)
    image = (images[0] * 255).to(torch.uint8)
    boxes = torch.tensor([[1, 1, 6, 8]])
    emit(
        grid=grid,
        boxes=utils.draw_bounding_boxes(image, boxes, colors="red"),
        masks=utils.draw_segmentation_masks(image, image[0] > 100),
    )
    with scratch() as folder:
        utils.save_image(images, folder / "grid.png")
        emit(saved=np.asarray(Image.open(folder / "grid.png")).astype("i8"))


def features() -> None:
    from torchvision.models.feature_extraction import (
        create_feature_extractor,
        get_graph_node_names,
    )

    model = torchvision.models.resnet18(weights=None)
    train, evaluated = get_graph_node_names(model)
    emit(names=evaluated[:20], same=train == evaluated)
    cut = create_feature_extractor(model, ["layer1", "avgpool"]).eval()
    with torch.no_grad():
        emit(out=cut(torch.randn(1, 3, 64, 64)))


globals()[sys.argv[1]]()
