"""The programs: a script of scripts/, its arguments, and what is special."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True)
class Program:
    """One program or one use of a library."""

    name: str
    script: str
    args: tuple[str, ...] = ()
    ci: bool = False  # belongs to CI: few packages, PyTorch's values recorded
    rtol: float = 1e-4
    reason: str = ""  # why the tolerance is another

    @property
    def path(self) -> Path:
        """Its script's."""
        return path_of(self.script)


def path_of(script: str) -> Path:
    """The file of a script, in whichever room it stands."""
    (found,) = SCRIPTS.rglob(f"{script}.py")
    return found


def _of(script: str, names: str, ci: str = "", **special) -> list[Program]:
    return [
        Program(
            f"{script}-{name}",
            script,
            (name,),
            ci=name in ci.split(),
            **special.get(name, {}),
        )
        for name in names.split()
    ]


PROGRAMS = [
    *_of(
        "transformers_forward",
        "bert gpt2 llama t5 whisper vit distilbert mistral roberta bart clip "
        "mixtral qwen2 wav2vec2",
        ci="bert llama t5 whisper vit mixtral",
    ),
    *_of(
        "transformers_generate",
        "gpt2 llama t5 whisper sample beams",
        ci="gpt2 llama t5 sample beams",
    ),
    Program("transformers_trainer", "transformers_trainer", ci=True),
    Program("transformers_saved", "transformers_saved", ci=True),
    *_of(
        "timm_models",
        "resnet18 vit_tiny_patch16_224 convnext_atto mobilenetv3_small_050 "
        "efficientnet_b0 swin_tiny_patch4_window7_224 mixer_s32_224",
        ci="resnet18 vit_tiny_patch16_224",
    ),
    *_of("timm_rest", "data optim features", ci="data"),
    *_of(
        "torchvision_models",
        "resnet18 mobilenet_v3_small vit_b_16 squeezenet1_1 densenet121 "
        "shufflenet_v2_x0_5 efficientnet_b0 fcn_resnet50",
        ci="resnet18",
    ),
    *_of(
        "torchvision_rest",
        "transforms transforms_v2 detection ops io utils features",
        ci="transforms transforms_v2",
    ),
    *_of("safetensors_files", "torch model", ci="torch model"),
    *_of("einops_layers", "functions layers", ci="functions layers"),
    *_of("accelerate_loop", "train empty offload", ci="train empty"),
    *_of(
        "torchmetrics_values",
        "classification regression text image collection aggregation",
        ci="classification regression image collection",
    ),
    *_of("lightning_fit", "fit callbacks fabric"),
    *_of("geometric_graphs", "gcn gat sage gin batch"),
    *_of("gpytorch_fits", "exact variational"),
    *_of("captum_attributions", "integrated deeplift occlusion shap gradcam"),
    *_of("differential_equations", "ordinary stochastic"),
    *_of("metric_learning", "losses miners"),
    *_of("kornia_images", "colors filters geometry augmentation"),
    *_of("segmentation_models", "Unet DeepLabV3Plus FPN losses"),
    *_of("lucidrains", "decoder encoder quantize"),
    *_of("e3nn_layers", "harmonics layers"),
    *_of("optimizers_more", "listed manifolds"),
    *_of("diffusers_models", "network autoencoder schedulers pipeline"),
    *_of("peft_adapters", "lora dora ia3 loha vera adalora prefix saved"),
    *_of("sentence_embeddings", "similar pooled"),
    *_of("pyro_inference", "variational montecarlo effects"),
    *_of("skorch_fit", "classifier search"),
    *_of("open_clip_models", "clip perceptual"),
    *_of("karpathy", "mingpt adder nanogpt"),
    *_of("makemore", "transformer bow mlp rnn gru bigram"),
    *_of(
        "examples",
        "mnist mnist_rnn mnist_hogwild mnist_forward_forward vae "
        "siamese_network dcgan imagenet regression reinforce actor_critic "
        "super_resolution time_sequence_prediction gcn gat fast_neural_style "
        "lm_lstm lm_gru lm_rnn_tanh lm_transformer",
    ),
    *_of(
        "examples_fx",
        "custom_tracer inline_function invert module_tracer primitive_library "
        "proxy_based_graph_creation replace_op subgraph_rewriter_basic_use "
        "wrap_output_dynamically",
    ),
]
