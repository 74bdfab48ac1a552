"""diffusers: a U-Net, an autoencoder, schedulers, a pipeline."""

import sys

import torch
from probe import emit, gradients

torch.manual_seed(0)


def unet():
    from diffusers import UNet2DModel

    return UNet2DModel(
        sample_size=16,
        in_channels=3,
        out_channels=3,
        layers_per_block=1,
        block_out_channels=(16, 32),
        norm_num_groups=8,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )


def network() -> None:
    # The gradient of a key's bias is zero up to rounding.
    torch.set_default_dtype(torch.float64)
    model = unet()
    out = model(torch.randn(2, 3, 16, 16), torch.tensor([3, 70])).sample
    out.square().mean().backward()
    emit(out=out, gradients=gradients(model))


def autoencoder() -> None:
    from diffusers import AutoencoderKL

    model = AutoencoderKL(
        block_out_channels=(16, 32),
        norm_num_groups=8,
        layers_per_block=1,
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4,
    )
    x = torch.randn(1, 3, 32, 32)
    latent = model.encode(x).latent_dist
    emit(mean=latent.mean, std=latent.std, out=model.decode(latent.mode()).sample)


def schedulers() -> None:
    import diffusers as D

    x = torch.randn(1, 3, 8, 8)
    for kind in (
        D.DDPMScheduler,
        D.DDIMScheduler,
        D.PNDMScheduler,
        D.EulerDiscreteScheduler,
        D.EulerAncestralDiscreteScheduler,
        D.DPMSolverMultistepScheduler,
        D.UniPCMultistepScheduler,
        D.HeunDiscreteScheduler,
        D.LMSDiscreteScheduler,
    ):
        scheduler, y = kind(), x.clone()
        scheduler.set_timesteps(6)
        generator = torch.Generator().manual_seed(4)
        for t in scheduler.timesteps:
            given = scheduler.scale_model_input(y, t)
            options = {}
            if "Ancestral" in kind.__name__ or kind is D.DDPMScheduler:
                options["generator"] = generator
            y = scheduler.step(0.3 * given, t, y, **options).prev_sample
        emit(**{kind.__name__: [y, scheduler.timesteps.float()]})


def pipeline() -> None:
    from diffusers import DDPMPipeline, DDPMScheduler

    pipe = DDPMPipeline(unet().eval(), DDPMScheduler(num_train_timesteps=50))
    pipe.set_progress_bar_config(disable=True)
    found = pipe(
        batch_size=1,
        num_inference_steps=4,
        output_type="np",
        generator=torch.Generator().manual_seed(0),
    )
    emit(images=found.images)


globals()[sys.argv[1]]()
