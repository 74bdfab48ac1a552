"""Writes archives of quantised modules for test_quantized_archives.py.

    python tests/python/quantization/make_quantized_archives.py

Once with PyTorch 2.13 and once with 1.13: each replaces its own archives in
tests/python/golden/quantized_archives.tar.xz. Beside an archive lie its inputs
and what PyTorch computes from them.
"""

from __future__ import annotations

import io
import sys
import tarfile
import warnings
import zipfile
from pathlib import Path

import torch
import torch.ao.quantization as tq
from torch import nn
from torch.ao.quantization import quantize_fx

HERE = Path(__file__).parent.parent
OUT = HERE / "golden" / "quantized_archives.tar.xz"
VERSION = "".join(torch.__version__.split(".")[:2])
CHANNELS = tq.get_default_qconfig("fbgemm")
TENSOR = tq.default_qconfig


def ramp(*shape: int) -> torch.Tensor:
    """Numbers on both sides of 0, none twice."""
    size = torch.Size(shape).numel()
    line = torch.linspace(-2, 2, size) * torch.linspace(0.5, 1, size)
    return line.view(shape)


class Recurrent(nn.Module):
    def __init__(self, kind, **options) -> None:
        super().__init__()
        self.net = kind(3, 4, **options)

    def forward(self, x):
        return self.net(x)


class Mixed(nn.Module):
    """Functions of quantised tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.leave = tq.QuantStub(), tq.DeQuantStub()
        self.sum, self.joined = (
            nn.quantized.FloatFunctional(),
            nn.quantized.FloatFunctional(),
        )
        self.product = nn.quantized.FloatFunctional()
        self.conv = nn.Conv2d(2, 2, 1)

    def forward(self, x):
        x = self.enter(x)
        y = self.conv(x)
        z = self.joined.cat([self.sum.add(x, y), x], 1)
        z = torch.relu(self.product.mul(z, z))[:, :3]
        z = z.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
        z = nn.functional.max_pool2d(z, 2)
        return self.leave(z.mean([2, 3]).flatten(1)).softmax(1)


class Bag(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(10, 12, mode="sum", include_last_offset=True)

    def forward(self, x, offsets):
        return self.bag(x, offsets)


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        y = torch.relu(self.norm(self.conv(x)))
        y = nn.functional.adaptive_avg_pool2d(y + y, 1)
        return self.head(y.flatten(1))


class Tensors(nn.Module):
    """Tensors that are quantised in the program and in its state."""

    def __init__(self) -> None:
        super().__init__()
        scales, zeros = torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 2])
        table = torch.quantize_per_channel(ramp(3, 4), scales, zeros, 0, torch.qint8)
        self.register_buffer("table", table)
        self.weight = nn.Parameter(ramp(4))

    def forward(self, x):
        q = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
        sums = self.table.dequantize() + x * self.weight
        return torch.relu(q).dequantize(), q.int_repr(), sums, q


def static(module, x, qconfig, fused: bool = False):
    """A module between stubs, observed and converted."""
    whole = nn.Sequential(tq.QuantStub(), module, tq.DeQuantStub()).eval()
    if fused:
        whole = tq.fuse_modules(whole, [["1.0", "1.1"]])
    whole.qconfig = qconfig
    tq.prepare(whole, inplace=True)
    whole(x)
    return tq.convert(whole)


def norm(kind, fused: bool):
    made = kind(3).eval()
    made.running_mean.copy_(ramp(3))
    made.running_var.copy_(ramp(3).abs() + 0.5)
    return nn.Sequential(made, nn.ReLU()) if fused else made


def rows(module, qconfig, *x):
    module.eval()
    for inner in module.modules():
        if isinstance(inner, (nn.Embedding, nn.EmbeddingBag)):
            inner.qconfig = qconfig
    tq.prepare(module, inplace=True)
    return tq.convert(module), *x


def by_graph(module, mapping, x):
    given = quantize_fx.prepare_fx(module.eval(), mapping, (x,))
    given(x)
    return quantize_fx.convert_fx(given), x


def cases():
    """Names and what makes a module and its inputs."""
    yield from dynamic_cases()
    yield from static_cases()
    yield from function_cases()
    yield from other_cases()


def dynamic_cases():
    linear = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    for name, dtype in (("int8", torch.qint8), ("half", torch.float16)):
        yield (
            f"dynamic_linear_{name}",
            lambda d=dtype: (
                tq.quantize_dynamic(linear, {nn.Linear}, dtype=d),
                ramp(3, 4),
            ),
        )
        for kind in (nn.LSTM, nn.GRU):
            yield (
                f"dynamic_{kind.__name__}_{name}",
                lambda k=kind, d=dtype: (
                    tq.quantize_dynamic(
                        Recurrent(k, num_layers=2, bidirectional=True), {k}, dtype=d
                    ),
                    ramp(2, 5, 3),
                ),
            )
    for kind in (nn.LSTMCell, nn.GRUCell, nn.RNNCell):
        yield (
            f"dynamic_{kind.__name__}",
            lambda k=kind: (
                tq.quantize_dynamic(nn.Sequential(k(3, 4)), {k}),
                ramp(2, 3),
            ),
        )
    yield (
        "dynamic_channels",
        lambda: (
            tq.quantize_dynamic(
                nn.Sequential(nn.Linear(4, 6)),
                {nn.Linear: tq.per_channel_dynamic_qconfig},
            ),
            ramp(3, 4),
        ),
    )


def static_cases():
    for name, config in (("channels", CHANNELS), ("tensor", TENSOR)):
        for fused in (False, True):
            end = f"{'_relu' if fused else ''}_{name}"
            yield (
                f"linear{end}",
                lambda c=config, f=fused: (
                    static(
                        nn.Sequential(nn.Linear(4, 3), nn.ReLU())
                        if f
                        else nn.Linear(4, 3),
                        ramp(3, 4),
                        c,
                        f,
                    ),
                    ramp(3, 4),
                ),
            )
            for n in (1, 2, 3):
                yield (
                    f"conv{n}{end}",
                    lambda n=n, c=config, f=fused: convolution(n, c, f),
                )
    for n in (1, 2):
        yield f"transposed{n}", lambda n=n: transposed(n)
    yield (
        "reflected",
        lambda: (
            static(
                nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"),
                ramp(1, 2, 4, 4),
                CHANNELS,
            ),
            ramp(1, 2, 4, 4),
        ),
    )


def function_cases():
    for n, kind in ((2, nn.BatchNorm2d), (3, nn.BatchNorm3d)):
        for fused in (False, True):
            x = ramp(2, 3, *[4] * n)
            yield (
                f"norm{n}{'_relu' if fused else ''}",
                (lambda k=kind, f=fused, x=x: (static(norm(k, f), x, CHANNELS, f), x)),
            )
    picture = ramp(1, 4, 4, 4)
    for module in (
        nn.LayerNorm(4),
        nn.GroupNorm(2, 4),
        nn.InstanceNorm2d(4),
        nn.ELU(),
        nn.Hardswish(),
        nn.LeakyReLU(0.1),
        nn.Sigmoid(),
        nn.Tanh(),
        nn.ReLU6(),
        nn.Hardsigmoid(),
        nn.Hardtanh(),
        nn.MaxPool2d(2),
        nn.AvgPool2d(2),
        nn.AdaptiveAvgPool2d(1),
        nn.Upsample(scale_factor=2),
        nn.ZeroPad2d(1),
        nn.ChannelShuffle(2),
        nn.PixelShuffle(2),
        nn.Dropout(),
    ):
        yield (
            f"of_{type(module).__name__}",
            lambda m=module: (static(m, picture, CHANNELS), picture),
        )


def other_cases():
    yield "mixed", mixed
    table = tq.float_qparams_weight_only_qconfig
    yield (
        "rows",
        lambda: rows(
            nn.Sequential(nn.Embedding(10, 4)), table, torch.tensor([[1, 2], [9, 0]])
        ),
    )
    bags = torch.tensor([1, 2, 9, 0, 3]), torch.tensor([0, 2, 5])
    yield "bags", lambda: rows(Bag(), table, *bags)
    four = tq.float_qparams_weight_only_qconfig_4bit
    yield "bags_of_4_bits", lambda: rows(Bag(), four, *bags)
    yield (
        "graph_static",
        lambda: by_graph(
            Network(), tq.get_default_qconfig_mapping("fbgemm"), ramp(2, 2, 4, 4)
        ),
    )
    dynamic = tq.QConfigMapping().set_global(tq.default_dynamic_qconfig)
    yield (
        "graph_dynamic",
        lambda: by_graph(
            nn.Sequential(nn.Linear(4, 4), nn.ReLU()), dynamic, ramp(2, 4)
        ),
    )
    yield "tensors", lambda: (Tensors(), ramp(3, 4))


def convolution(n: int, config, fused: bool):
    x = ramp(2, 4, *[5] * n)
    kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[n - 1]
    made = kind(4, 6, 3, stride=2, padding=1, dilation=1, groups=2)
    made = nn.Sequential(made, nn.ReLU()) if fused else made
    return static(made, x, config, fused), x


def transposed(n: int):
    x = ramp(2, 4, *[5] * n)
    kind = (nn.ConvTranspose1d, nn.ConvTranspose2d)[n - 1]
    made = kind(4, 3, 3, stride=2, padding=1, output_padding=1)
    return static(made, x, TENSOR), x


def mixed():
    x = ramp(2, 2, 4, 4)
    module = Mixed().eval()
    module.qconfig = CHANNELS
    tq.prepare(module, inplace=True)
    module(x)
    return tq.convert(module), x


def without_debug_records(data: bytes) -> bytes:
    """The archive without what says where its source was."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            if not info.filename.endswith(".debug_pkl"):
                new.writestr(info.filename, old.read(info))
    return out.getvalue()


def archives():
    """Pairs of a name and bytes."""
    for name, make in cases():
        torch.manual_seed(0)
        try:
            module, *x = make()
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            print(f"{name}: {str(error)[:100]}")
            continue
        module.eval()
        for way in ("script", "trace", "frozen"):
            try:
                if way == "trace":
                    made = torch.jit.trace(module, tuple(x), check_trace=False)
                else:
                    made = torch.jit.script(module)
                made = torch.jit.freeze(made) if way == "frozen" else made
                found = made(*x)
            except (RuntimeError, NotImplementedError) as error:
                print(f"{name} {way}: {str(error)[-90:]!r}")
                continue
            data = io.BytesIO()
            torch.jit.save(made, data)
            start = f"{VERSION}/{name}_{way}"
            yield f"{start}.pt", without_debug_records(data.getvalue())
            data = io.BytesIO()
            torch.save((tuple(x), found), data)
            yield f"{start}.io", data.getvalue()


def main() -> None:
    kept = {}
    if OUT.exists():
        with tarfile.open(OUT) as old:
            for member in old.getmembers():
                if not member.name.startswith(f"{VERSION}/"):
                    kept[member.name] = old.extractfile(member).read()
    kept.update(archives())
    with tarfile.open(OUT, "w:xz") as whole:
        for name in sorted(kept):
            member = tarfile.TarInfo(name)
            member.size = len(kept[name])
            whole.addfile(member, io.BytesIO(kept[name]))
    print(len(kept) // 2, "archives", OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
