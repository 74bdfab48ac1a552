"""kornia: colours, filters, geometry, augmentation."""

import sys

import torch
from probe import emit

torch.manual_seed(0)
IMAGE = torch.rand(2, 3, 24, 32)


def colors() -> None:
    import kornia.color as C

    for name in (
        "rgb_to_hsv",
        "rgb_to_lab",
        "rgb_to_grayscale",
        "rgb_to_ycbcr",
        "rgb_to_luv",
        "rgb_to_xyz",
        "rgb_to_hls",
    ):
        emit(**{name: getattr(C, name)(IMAGE)})
    emit(back=C.lab_to_rgb(C.rgb_to_lab(IMAGE)))


def filters() -> None:
    import kornia

    F = kornia.filters
    emit(
        gauss=F.gaussian_blur2d(IMAGE, (5, 5), (1.2, 1.2)),
        sobel=F.sobel(IMAGE),
        median=F.median_blur(IMAGE, (3, 3)),
        laplace=F.laplacian(IMAGE, 3),
        canny=F.canny(IMAGE)[0],
        bilateral=F.bilateral_blur(IMAGE, (3, 3), 0.1, (1.5, 1.5)),
        sharp=F.unsharp_mask(IMAGE, (3, 3), (1.0, 1.0)),
        equal=kornia.enhance.equalize_clahe(IMAGE),
        open=kornia.morphology.opening(IMAGE, torch.ones(3, 3)),
        harris=kornia.feature.harris_response(IMAGE[:, :1], 0.05),
        ssim=kornia.metrics.ssim(IMAGE, IMAGE.flip(3), 5),
        focal=kornia.losses.focal_loss(
            IMAGE, torch.randint(3, (2, 24, 32)), alpha=0.5, reduction="mean"
        ),
    )


def geometry() -> None:
    import kornia.geometry as G

    angle = torch.tensor([20.0, -35.0])
    corners = torch.tensor([[[0.0, 0], [31, 0], [31, 23], [0, 23]]])
    moved = corners + torch.tensor([[[1.0, 2], [-3, 1], [-2, -2], [2, -1]]])
    plane = G.get_perspective_transform(corners, moved)
    emit(
        rotated=G.rotate(IMAGE, angle),
        warped=G.warp_perspective(IMAGE[:1], plane, (24, 32)),
        plane=plane,
        scaled=G.rescale(IMAGE, 0.5),
        homography=G.find_homography_dlt(corners, moved),
        vector=G.conversions.quaternion_to_rotation_matrix(
            torch.tensor([0.5, 0.5, 0.5, 0.5])
        ),
        essential=G.epipolar.essential_from_Rt(
            torch.eye(3)[None],
            torch.zeros(1, 3, 1),
            torch.eye(3)[None],
            torch.rand(1, 3, 1),
        ),
    )


def augmentation() -> None:
    import kornia.augmentation as K

    for one in (
        K.RandomHorizontalFlip(p=0.5),
        K.RandomAffine(30.0, p=1.0),
        K.ColorJitter(0.2, 0.2, 0.2, 0.1, p=1.0),
        K.RandomErasing(p=1.0),
        K.RandomResizedCrop((16, 16), p=1.0),
        K.RandomGaussianNoise(p=1.0),
        K.RandomPerspective(p=1.0),
        K.RandomSolarize(p=1.0),
    ):
        torch.manual_seed(3)
        emit(**{type(one).__name__: one(IMAGE)})


globals()[sys.argv[1]]()
