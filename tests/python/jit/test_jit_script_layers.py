"""Every layer and loss of nn, compiled, gives what it gives in Python."""

import copy

import hotaru.nn.functional as F
import pytest

import hotaru as torch
from hotaru import nn

PICTURE = torch.linspace(-1, 1, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)
VOLUME = PICTURE[None]
SERIES = PICTURE[0, :, :, :]
ROWS = torch.linspace(-1, 1, 12).reshape(4, 3)
STEPS = torch.linspace(-1, 1, 30).reshape(5, 2, 3)
QUERY = torch.linspace(-1, 1, 48).reshape(3, 2, 8)
MEMORY = torch.linspace(-2, 1, 64).reshape(4, 2, 8)
CAUSAL = torch.full((3, 3), float("-inf")).triu(1)
WORDS = torch.tensor([1, 0, 5])
SIGNS = (ROWS > 0).float() * 2 - 1
CLASSES = torch.tensor([0, 1, 2, 0])

LAYERS = {
    "Linear": (lambda: nn.Linear(3, 4), ROWS),
    "Linear without bias": (lambda: nn.Linear(3, 4, bias=False), ROWS),
    "Bilinear": (lambda: nn.Bilinear(3, 3, 2), ROWS, ROWS),
    "Identity": (nn.Identity, ROWS),
    "Conv1d": (lambda: nn.Conv1d(8, 4, 3, padding=1), SERIES),
    "Conv2d": (lambda: nn.Conv2d(3, 4, 3, stride=2), PICTURE),
    "Conv2d same": (lambda: nn.Conv2d(3, 4, 3, padding="same"), PICTURE),
    "Conv2d reflect": (
        lambda: nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"),
        PICTURE,
    ),
    "Conv3d": (lambda: nn.Conv3d(2, 4, 3), VOLUME),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(8, 4, 3), SERIES),
    "ConvTranspose2d": (
        lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, output_padding=1),
        PICTURE,
    ),
    "ConvTranspose2d size": (
        lambda: nn.ConvTranspose2d(3, 4, 3, stride=2),
        PICTURE,
        [18, 18],
    ),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(2, 4, 3), VOLUME),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3), ROWS),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3), PICTURE),
    "BatchNorm2d average": (lambda: nn.BatchNorm2d(3, momentum=None), PICTURE),
    "BatchNorm2d plain": (
        lambda: nn.BatchNorm2d(3, affine=False, track_running_stats=False),
        PICTURE,
    ),
    "InstanceNorm1d": (
        lambda: nn.InstanceNorm1d(8, affine=True, track_running_stats=True),
        SERIES,
    ),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(3), PICTURE),
    "LayerNorm": (lambda: nn.LayerNorm([8, 8]), PICTURE),
    "GroupNorm": (lambda: nn.GroupNorm(3, 3), PICTURE),
    "RMSNorm": (lambda: nn.RMSNorm(3), ROWS),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(2), PICTURE),
    "MaxPool1d": (lambda: nn.MaxPool1d(2), SERIES),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), PICTURE),
    "MaxPool2d indices": (lambda: nn.MaxPool2d(3, 2, 1, return_indices=True), PICTURE),
    "MaxPool3d": (lambda: nn.MaxPool3d((1, 2, 2)), VOLUME),
    "AvgPool1d": (lambda: nn.AvgPool1d(2), SERIES),
    "AvgPool2d": (lambda: nn.AvgPool2d(2, stride=1), PICTURE),
    "AvgPool3d": (lambda: nn.AvgPool3d(2), VOLUME),
    "AdaptiveAvgPool1d": (lambda: nn.AdaptiveAvgPool1d(4), SERIES),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((None, 2)), PICTURE),
    "AdaptiveAvgPool3d": (lambda: nn.AdaptiveAvgPool3d(2), VOLUME),
    "AdaptiveMaxPool1d": (lambda: nn.AdaptiveMaxPool1d(2, return_indices=True), SERIES),
    "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d(2), PICTURE),
    "LPPool1d": (lambda: nn.LPPool1d(2, 2), SERIES),
    "LPPool2d": (lambda: nn.LPPool2d(2, 2), PICTURE),
    "Dropout": (nn.Dropout, ROWS),
    "Dropout1d": (nn.Dropout1d, SERIES),
    "Dropout2d": (nn.Dropout2d, PICTURE),
    "Dropout3d": (nn.Dropout3d, VOLUME),
    "AlphaDropout": (nn.AlphaDropout, ROWS),
    "FeatureAlphaDropout": (nn.FeatureAlphaDropout, PICTURE),
    "Embedding": (lambda: nn.Embedding(10, 3, padding_idx=0), WORDS),
    "Embedding norm": (lambda: nn.Embedding(10, 3, max_norm=1.0), WORDS),
    "RNN": (lambda: nn.RNN(3, 4), STEPS),
    "RNN both ways": (
        lambda: nn.RNN(3, 4, 2, nonlinearity="relu", bidirectional=True),
        STEPS,
    ),
    "GRU": (lambda: nn.GRU(3, 4, batch_first=True), STEPS),
    "GRU state": (lambda: nn.GRU(3, 4), STEPS, torch.ones(1, 2, 4)),
    "LSTM": (lambda: nn.LSTM(3, 4, 2), STEPS),
    "LSTM state": (
        lambda: nn.LSTM(3, 4),
        STEPS,
        (torch.ones(1, 2, 4), torch.zeros(1, 2, 4)),
    ),
    "LSTM projection": (lambda: nn.LSTM(3, 4, proj_size=2), STEPS),
    "LSTM unbatched": (lambda: nn.LSTM(3, 4, bias=False), STEPS[:, 0]),
    "RNNCell": (lambda: nn.RNNCell(3, 4, nonlinearity="relu"), ROWS),
    "RNNCell unbatched": (lambda: nn.RNNCell(3, 4), ROWS[0]),
    "GRUCell": (lambda: nn.GRUCell(3, 4), ROWS, torch.ones(4, 4)),
    "LSTMCell": (lambda: nn.LSTMCell(3, 4), ROWS),
    "ReflectionPad2d": (lambda: nn.ReflectionPad2d(1), PICTURE),
    "ReplicationPad2d": (lambda: nn.ReplicationPad2d(1), PICTURE),
    "ConstantPad1d": (lambda: nn.ConstantPad1d((1, 2), 3.5), SERIES),
    "ZeroPad2d": (lambda: nn.ZeroPad2d(1), PICTURE),
    "CircularPad2d": (lambda: nn.CircularPad2d(1), PICTURE),
    "Flatten": (nn.Flatten, PICTURE),
    "Unflatten": (lambda: nn.Unflatten(1, (1, 3)), ROWS),
    "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), PICTURE),
    "Unfold": (lambda: nn.Unfold(2), PICTURE),
    "Fold": (lambda: nn.Fold((4, 4), (2, 2)), torch.ones(1, 4, 9)),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), PICTURE),
    "Upsample bilinear": (
        lambda: nn.Upsample((4, 5), mode="bilinear", align_corners=True),
        PICTURE,
    ),
    "CosineSimilarity": (nn.CosineSimilarity, ROWS, ROWS + 1),
    "PairwiseDistance": (nn.PairwiseDistance, ROWS, ROWS + 1),
    "Sequential": (
        lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)),
        ROWS,
    ),
    "MultiheadAttention": (
        lambda: nn.MultiheadAttention(8, 2, dropout=0.1),
        QUERY,
        QUERY,
        QUERY,
    ),
    "MultiheadAttention cross": (
        lambda: nn.MultiheadAttention(8, 2, batch_first=True, bias=False),
        QUERY,
        MEMORY.transpose(0, 1)[:, :3].repeat(3, 1, 1)[:3],
        MEMORY.transpose(0, 1)[:, :3].repeat(3, 1, 1)[:3],
    ),
    "MultiheadAttention masks": (
        lambda: nn.MultiheadAttention(8, 2, add_bias_kv=True),
        QUERY,
        QUERY,
        QUERY,
        torch.tensor([[False, True, False], [False, False, True]]),
        False,
        CAUSAL,
    ),
    "MultiheadAttention sizes": (
        lambda: nn.MultiheadAttention(8, 2, kdim=4, vdim=4, add_zero_attn=True),
        QUERY,
        MEMORY[..., :4],
        MEMORY[..., 4:],
    ),
    "MultiheadAttention unbatched": (
        lambda: nn.MultiheadAttention(8, 2),
        QUERY[:, 0],
        QUERY[:, 0],
        QUERY[:, 0],
    ),
    "TransformerEncoder": (
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16), 2, nn.LayerNorm(8)
        ),
        QUERY,
        CAUSAL,
    ),
    "TransformerEncoderLayer norm first": (
        lambda: nn.TransformerEncoderLayer(
            8, 2, 16, activation="gelu", norm_first=True, batch_first=True
        ),
        QUERY,
    ),
    "Transformer": (
        lambda: nn.Transformer(8, 2, 1, 1, 16),
        MEMORY,
        QUERY,
        None,
        CAUSAL,
    ),
    "GLU": (lambda: nn.GLU(0), ROWS),
    "Threshold": (lambda: nn.Threshold(0.1, 2.0), ROWS),
    "Softmax": (lambda: nn.Softmax(1), ROWS),
    "Softmin": (lambda: nn.Softmin(1), ROWS),
    "Softmax2d": (nn.Softmax2d, PICTURE),
    "LogSoftmax": (lambda: nn.LogSoftmax(1), ROWS),
    "ReLU inplace": (lambda: nn.ReLU(inplace=True), ROWS),
    "LeakyReLU inplace": (lambda: nn.LeakyReLU(0.2, inplace=True), ROWS),
    "L1Loss": (nn.L1Loss, ROWS, SIGNS),
    "MSELoss": (lambda: nn.MSELoss(reduction="sum"), ROWS, SIGNS),
    "SmoothL1Loss": (nn.SmoothL1Loss, ROWS, SIGNS),
    "HuberLoss": (lambda: nn.HuberLoss(reduction="none"), ROWS, SIGNS),
    "CrossEntropyLoss": (nn.CrossEntropyLoss, ROWS, CLASSES),
    "CrossEntropyLoss weight": (
        lambda: nn.CrossEntropyLoss(torch.ones(3), label_smoothing=0.1),
        ROWS,
        CLASSES,
    ),
    "NLLLoss": (nn.NLLLoss, ROWS, CLASSES),
    "BCELoss": (nn.BCELoss, torch.sigmoid(ROWS), (SIGNS + 1) / 2),
    "BCEWithLogitsLoss": (nn.BCEWithLogitsLoss, ROWS, SIGNS),
    "KLDivLoss": (
        lambda: nn.KLDivLoss(reduction="batchmean"),
        ROWS,
        torch.sigmoid(ROWS),
    ),
    "PoissonNLLLoss": (nn.PoissonNLLLoss, ROWS, SIGNS + 1),
    "GaussianNLLLoss": (
        lambda: nn.GaussianNLLLoss(full=True),
        ROWS,
        SIGNS,
        ROWS * ROWS,
    ),
    "HingeEmbeddingLoss": (nn.HingeEmbeddingLoss, ROWS, SIGNS),
    "MarginRankingLoss": (nn.MarginRankingLoss, ROWS, ROWS + 1, SIGNS),
    "CosineEmbeddingLoss": (nn.CosineEmbeddingLoss, ROWS, ROWS + 1, SIGNS[:, 0]),
    "SoftMarginLoss": (nn.SoftMarginLoss, ROWS, SIGNS),
    "MultiLabelMarginLoss": (
        nn.MultiLabelMarginLoss,
        ROWS,
        torch.tensor([[0, -1, -1]] * 4),
    ),
    "MultiLabelSoftMarginLoss": (nn.MultiLabelSoftMarginLoss, ROWS, SIGNS),
    "MultiMarginLoss": (nn.MultiMarginLoss, ROWS, CLASSES),
    "TripletMarginLoss": (nn.TripletMarginLoss, ROWS, ROWS + 1, ROWS - 1),
    "CTCLoss": (
        nn.CTCLoss,
        F.log_softmax(STEPS, 2),
        torch.tensor([[1, 2], [1, 1]]),
        torch.tensor([5, 5]),
        torch.tensor([2, 2]),
    ),
}
for _name in (
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Mish",
    "Hardswish",
    "Hardsigmoid",
    "ELU",
    "CELU",
    "LeakyReLU",
    "RReLU",
    "PReLU",
    "GELU",
    "Softplus",
    "Hardshrink",
    "Softshrink",
    "Sigmoid",
    "Tanh",
    "LogSigmoid",
    "Softsign",
    "Tanhshrink",
    "Hardtanh",
):
    LAYERS[_name] = (getattr(nn, _name), ROWS)


def flat(value) -> list:
    """The tensors of a result in order."""
    if value is None:
        return []
    if isinstance(value, (tuple, list)):
        return [t for item in value for t in flat(item)]
    return [value]


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("name", LAYERS)
def test_compiled_layer_gives_what_the_layer_gives(name, training):
    make, *inputs = LAYERS[name]
    torch.manual_seed(0)
    layer = make().train(training)
    compiled = torch.jit.script(copy.deepcopy(layer))
    results = []
    for module in (layer, compiled):
        torch.manual_seed(1)
        results.append(flat(module(*copy.deepcopy(inputs))))
    assert len(results[0]) == len(results[1])
    for expected, got in zip(*results):
        assert expected.dtype == got.dtype
        assert torch.equal(expected, got)
    # Running statistics and renormed tables change alike.
    for (key, mine), theirs in zip(
        layer.state_dict().items(), compiled.state_dict().values()
    ):
        assert torch.equal(mine, theirs), key
    total = sum(t.sum() for t in results[1] if t.requires_grad)
    if isinstance(total, torch.Tensor):
        total.backward()
        sum(t.sum() for t in results[0] if t.requires_grad).backward()
        for mine, theirs in zip(layer.parameters(), compiled.parameters()):
            assert (mine.grad is None) == (theirs.grad is None)
            assert mine.grad is None or torch.equal(mine.grad, theirs.grad)
