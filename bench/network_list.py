"""The networks of bench/networks.py: random weights, shapes that are in use.

    network_list.py FOLDER [NAME,NAME]    writes an ONNX file for each (PyTorch)

Those of OWN are written against `torch` and run in hotaru as they stand; those
of OTHERS are built by torchvision and transformers, and hotaru loads the file.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import onnx_models
import torch
import torch.nn as nn
import torch.nn.functional as F
from models import convolution
from onnx_models import picture, tokens


class Temporal(nn.Module):
    """A TCN's block: two causal convolutions, their taps `dilation` apart."""

    def __init__(self, width, dilation):
        super().__init__()
        self.left = 2 * dilation
        self.first = nn.Conv1d(width, width, 3, dilation=dilation)
        self.second = nn.Conv1d(width, width, 3, dilation=dilation)

    def forward(self, x):
        y = torch.relu(self.first(F.pad(x, (self.left, 0))))
        return x + torch.relu(self.second(F.pad(y, (self.left, 0))))


def tcn(bands=40, width=96):
    """A temporal convolutional network of seven blocks."""
    blocks = [Temporal(width, 1 << i) for i in range(7)]
    first = nn.Conv1d(bands, width, 1)
    return nn.Sequential(first, *blocks, nn.Conv1d(width, 32, 1))


class Tagger(nn.Module):
    """Words' classes by an LSTM of two layers in both directions."""

    def __init__(self, width=128, hidden=256):
        super().__init__()
        self.token = nn.Embedding(onnx_models.TOKENS, width)
        self.lstm = nn.LSTM(width, hidden, 2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * hidden, 32)

    def forward(self, tokens):
        return self.head(self.lstm(self.token(tokens))[0])


class Mixer(nn.Module):
    """A layer of MLP-Mixer: a perceptron over patches, one over channels."""

    def __init__(self, width=384, patches=196):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.across, self.back = (
            nn.Linear(patches, width // 2),
            nn.Linear(width // 2, patches),
        )
        self.up, self.down = (nn.Linear(width, 4 * width), nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.norm1(x).transpose(1, 2)
        x = x + self.back(F.gelu(self.across(y))).transpose(1, 2)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Patches(nn.Module):
    """Patches of 16 x 16, as rows."""

    def __init__(self, width=384):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 16, 16)

    def forward(self, x):
        return self.patch(x).flatten(2).transpose(1, 2)


class Mean(nn.Module):
    """The mean over patches."""

    def forward(self, x):
        return x.mean(1)


def mixer():
    """MLP-Mixer, eight layers of 384."""
    layers = [Patches(), *(Mixer() for _ in range(8)), nn.LayerNorm(384)]
    return nn.Sequential(*layers, Mean(), nn.Linear(384, 1000))


class Detector(nn.Module):
    """A feature pyramid of four levels, and heads for classes and boxes."""

    def __init__(self, width=96, classes=20, anchors=3):
        super().__init__()
        widths = (64, 128, 256, 512)
        self.stem = nn.Sequential(convolution(3, 32, 3, 2), convolution(32, 64, 3, 2))
        self.steps = nn.ModuleList(
            nn.Sequential(convolution(a, b, 3, 2), convolution(b, b, 3))
            for a, b in zip((64, *widths), widths)
        )
        self.side = nn.ModuleList(nn.Conv2d(a, width, 1) for a in widths)
        self.smooth = nn.ModuleList(convolution(width, width, 3) for _ in widths)
        self.tower = nn.Sequential(*(convolution(width, width, 3),) * 2)
        self.kind = nn.Conv2d(width, anchors * classes, 3, padding=1)
        self.box = nn.Conv2d(width, anchors * 4, 3, padding=1)

    def forward(self, x):
        x, levels = self.stem(x), []
        for step, side in zip(self.steps, self.side):
            x = step(x)
            levels.append(side(x))
        for i in (2, 1, 0):
            wider = F.interpolate(levels[i + 1], scale_factor=2.0)
            levels[i] = levels[i] + wider
        kinds, boxes = [], []
        for level, smooth in zip(levels, self.smooth):
            y = self.tower(smooth(level))
            kinds.append(self.kind(y).flatten(2))
            boxes.append(self.box(y).flatten(2))
        return torch.cat(kinds, -1).sigmoid(), torch.cat(boxes, -1)


class Only(nn.Module):
    """A network of transformers as a function of tensors: its first result."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x, return_dict=False)[0]


def torchvision_models():
    """torchvision.models. Its import asks for its library's operators, which a
    build for CUDA does not bring to a PyTorch without it; names are enough.
    """
    try:
        import torchvision
    except RuntimeError:
        sys.modules.pop("torchvision", None)
        names = torch.library.Library("torchvision", "DEF")
        plain = ("roi_align", "ps_roi_align", "roi_pool", "ps_roi_pool")
        for name in (*plain, "deform_conv2d"):
            names.define(f"{name}(Tensor x) -> Tensor")
            names.define(f"_{name}_backward(Tensor x) -> Tensor")
        names.define("nms(Tensor x) -> Tensor")
        names.define("qnms(Tensor x) -> Tensor")
        torchvision_models.kept = names
        import torchvision
    return torchvision.models


def vision(name):
    """A network of torchvision without its weights."""

    def build():
        models = torchvision_models()
        options = {"init_weights": True} if name == "googlenet" else {}
        if name == "googlenet":
            options |= {"aux_logits": False}
        return getattr(models, name)(weights=None, **options)

    return build


def transformers():
    """The library, which imports torchvision where it is installed."""
    with contextlib.suppress(ImportError):
        torchvision_models()
    import transformers

    return transformers


def distilbert():
    t = transformers()
    return Only(t.DistilBertModel(t.DistilBertConfig()))


def t5():
    t = transformers()
    return Only(t.T5EncoderModel(t.T5Config(use_cache=False)))


def whisper():
    """The encoder of Whisper's smallest: 30 s of speech."""
    t = transformers()
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    config = t.WhisperConfig(
        d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536
    )
    return Only(WhisperEncoder(config))


def shared(title):
    """A network of bench/onnx_models.py."""
    build, arguments, _ = onnx_models.MODELS[title]
    return build, arguments


OWN = {
    "mlp784_b1": shared("MLP"),
    "resnet50_b1": shared("ResNet-50"),
    "resnet50_b8": shared("ResNet-50, batch 8"),
    "bert_base_128": shared("BERT-base, 128 tokens"),
    "vit_small_197": shared("ViT-small"),
    "gpt_ctx256": shared("GPT, 256 tokens"),
    "unet_128": shared("UNet"),
    "lstm_lm_b1x64": shared("LSTM language model"),
    "mobilenet_v2": shared("MobileNetV2"),
    "efficientnet_b0": shared("EfficientNet-B0"),
    "convnext_half": shared("ConvNeXt"),
    "gru_speech_200": shared("bidirectional GRU"),
    "bilstm_tagger_32": (Tagger, tokens(32)),
    "tcn_500": (tcn, lambda: (torch.randn(1, 40, 500),)),
    "mixer_196": (mixer, picture(224)),
    "fpn_256": (Detector, picture(256)),
}
OTHERS = {
    "densenet121": (vision("densenet121"), picture(224)),
    "regnet_y_400mf": (vision("regnet_y_400mf"), picture(224)),
    "squeezenet1_1": (vision("squeezenet1_1"), picture(224)),
    "googlenet": (vision("googlenet"), picture(224)),
    "shufflenet_v2": (vision("shufflenet_v2_x1_0"), picture(224)),
    "swin_t": (vision("swin_t"), picture(224)),
    "distilbert_128": (distilbert, tokens(128)),
    "t5_small_encoder_128": (t5, tokens(128)),
    "whisper_tiny_encoder": (whisper, lambda: (torch.randn(1, 80, 3000),)),
}
NETWORKS = OWN | OTHERS
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)


def settle(model, arguments):
    """Gives batch norms the statistics of one call. With those that they are
    made with, a deep network's numbers vanish and its result is its bias.
    """
    norms = [part for part in model.modules() if isinstance(part, NORMS)]
    if not norms:
        return
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    with torch.no_grad():
        model(*arguments)
    model.eval()


def make(name):
    """The network with weights after a fixed seed, in eval mode; arguments."""
    build, arguments = NETWORKS[name]
    torch.manual_seed(0)
    model, made = build().eval(), arguments()
    settle(model, made)
    return model, made


def export(name, folder):
    """Writes the network by PyTorch's exporter, and its arguments beside it."""
    import numpy

    model, arguments = make(name)
    path = Path(folder) / f"{name}.onnx"
    inputs = {f"x{i}": one.numpy() for i, one in enumerate(arguments)}
    numpy.savez(path.with_suffix(".npz"), **inputs)
    for dynamo in (True, False):  # what the newer can't, the older may
        try:
            with torch.no_grad(), contextlib.redirect_stdout(sys.stderr):
                torch.onnx.export(
                    model, arguments, str(path), dynamo=dynamo, input_names=list(inputs)
                )
            return path
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    raise RuntimeError(f"{name}: PyTorch exports it in no way")


if __name__ == "__main__":
    wanted = sys.argv[2].split(",") if len(sys.argv) > 2 else NETWORKS
    for each in wanted:
        if not (Path(sys.argv[1]) / f"{each}.onnx").exists():
            print(export(each, sys.argv[1]), flush=True)
