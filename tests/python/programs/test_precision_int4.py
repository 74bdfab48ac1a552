"""`--precision int4`, and embeddings in integers of 8 and 4 bits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import hotaru as torch
from hotaru import nn

COMMAND = Path(sys.executable).with_name("hotaru")
LINEAR = torch._C._operator("hotaru::linear_int4")
ROWS = torch._C._operator("hotaru::embedding_narrow")


def output(*words) -> str:
    done = subprocess.run(
        [str(COMMAND), *map(str, words)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def saved(module, folder, name="model.pt"):
    path = folder / name
    torch.jit.script(module.eval()).save(str(path))
    return path


def grouped(weight, group):
    """The numbers that a weight's integers stand for, as documented."""
    n, k = weight.shape
    parts = weight.double().reshape(n, k // group, group)
    low, high = parts.amin(-1), parts.amax(-1)
    zero = (low + 8 * (high - low) / 15).float().bfloat16().double()
    step = torch.maximum((zero - low) / 8, (high - zero) / 7)
    step = step.clamp(min=2.0**-100).float().bfloat16().double()
    zero, step = zero.unsqueeze(-1), step.unsqueeze(-1)
    q = ((parts - zero) / step).round().clamp(-8, 7)
    return (q * step + zero).reshape(n, k), step.expand_as(parts).reshape(n, k)


class Maps(nn.Module):
    """Widths that groups divide, and not; odd numbers of rows."""

    def __init__(self, widths):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(widths[0], widths[1])
        self.second = nn.Linear(widths[1], widths[2], bias=False)

    def forward(self, x):
        y = self.first(x)
        return y, self.second(y.relu())


def close(made, x, weight, bias=None):
    """Float32 sums in any order, by weights of the reference arithmetic."""
    wanted, sizes = x.double() @ weight.t(), x.double().abs() @ weight.abs().t()
    if bias is not None:
        wanted, sizes = wanted + bias, sizes + bias.abs()
    assert made.shape == wanted.shape
    assert ((made.double() - wanted).abs() <= sizes * 2.0**-19).all()


@pytest.mark.parametrize("group", [32, 64, 128])
@pytest.mark.parametrize("widths", [(128, 256, 67), (256, 128, 1), (128,) * 3])
def test_archives_compute_by_the_documented_weights(tmp_path, group, widths):
    model = Maps(widths)
    source, target = saved(model, tmp_path), tmp_path / "low.pt"
    words = ("--precision=int4", f"--group={group}")
    text = output("convert", source, target, *words)
    assert text == "2 linear maps in int4\n"
    made = torch.jit.load(str(target))
    first, step = grouped(model.first.weight.detach(), group)
    second, _ = grouped(model.second.weight.detach(), group)
    # Half a step, and what rounding the step to 8 bits cuts at the ends.
    apart = (first - model.first.weight.double()).abs()
    assert (apart <= step * (0.5 + 2.0**-5)).all()
    for shape in ((1,), (2,), (7,), (9,), (40,), (2, 3), (), (0,), (3, 0)):
        x = torch.randn(*shape, widths[0])
        with torch.no_grad():
            y, z = made(x)
        close(y, x, first, model.first.bias.detach().double())
        close(z, y.relu(), second)


@pytest.mark.parametrize("rows", [1, 12])
def test_eager_queued_and_graph_have_the_same_bits(tmp_path, rows):
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(50, 64, padding_idx=0)
            self.maps = Maps((64, 96, 33))

        def forward(self, i):
            return self.maps(self.table(i))[1]

    torch.manual_seed(1)
    source = saved(Tagger(), tmp_path)
    for precision in ("int4", "int8"):
        target = tmp_path / f"{precision}.pt"
        text = output("convert", source, target, f"--precision={precision}")
        assert text == f"2 linear maps and 1 embedding in {precision}\n"
        made, i = torch.jit.load(str(target)), torch.randint(0, 50, (rows,))
        with torch.no_grad():
            wanted = made(i)
            with torch.cpu.stream(torch.cpu.Stream()):
                queued = made(i)
            torch.cpu.synchronize()
            assert torch.equal(queued, wanted)
            graph, held = torch.cpu.Graph(), i.clone()
            with torch.cpu.graph(graph):
                replayed = made(held)
            for again in (i, 49 - i):
                held.copy_(again)
                graph.replay()
                assert torch.equal(replayed, made(again))


def test_archives_shrink(tmp_path):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(1000, 256)
            self.inner = nn.Linear(256, 2048)

        def forward(self, i):
            return self.inner(self.table(i))

    source = saved(Model(), tmp_path)
    whole, numbers = source.stat().st_size, 256 * (1000 + 2048)
    for words, most in (
        # A byte, and 8 for each row of the table.
        (("--precision=int8",), 256 * 3048 + 8 * 1000),
        # Half a byte, and 4 for each group.
        (("--precision=int4",), numbers * (1 / 2 + 4 / 32)),
        (("--precision=int4", "--group=128"), numbers * (1 / 2 + 4 / 128)),
    ):
        target = tmp_path / "low.pt"
        output("convert", source, target, *words)
        bias_and_code = 2048 * 4 + 8000
        assert target.stat().st_size < most + bias_and_code < whole / 3


def test_what_no_groups_divide_stays_and_is_told_of(tmp_path):
    model = nn.Sequential(nn.Linear(96, 40), nn.Linear(40, 64))
    source, target = saved(model, tmp_path), tmp_path / "low.pt"
    text = output("convert", source, target, "--precision=int4")
    assert text == "1 linear map in int4; in float32: linear\n"
    done = subprocess.run(
        [
            str(COMMAND),
            "convert",
            str(source),
            str(target),
            "--precision=int4",
            "--group=64",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "of a width that groups of 64 divide" in done.stderr


def test_numbers_too_large_stay_and_extremes_are_held(tmp_path):
    model = nn.Sequential(*(nn.Linear(32, 2, bias=False) for _ in range(1)))
    weight = model[0].weight.data
    weight[0] = torch.linspace(-1e38, 1e38, 32)
    weight[1] = 7.3  # a group without a range
    source, target = saved(model, tmp_path), tmp_path / "low.pt"
    output("convert", source, target, "--precision=int4")
    made = torch.jit.load(str(target))
    with torch.no_grad():
        got = made(torch.eye(32)).t()
    assert (got[0] - weight[0]).abs().max() <= 1e38 / 15 * 1.05
    assert (got[1] - 7.3).abs().max() <= 7.3 * 2**-14
    nan = torch.full((1, 32), torch.nan)
    with torch.no_grad():
        assert made(nan).isnan().all()
    for bad in (2e38, torch.nan, torch.inf):
        weight[0, 3] = bad
        source = saved(nn.Sequential(model[0], nn.Linear(2, 2)), tmp_path)
        done = subprocess.run(
            [str(COMMAND), "convert", str(source), str(target), "--precision=int4"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "no linear map" in done.stderr


def test_compare_foretells_what_the_archive_does(tmp_path):
    model = Maps((128, 64, 10))
    source, target = saved(model, tmp_path), tmp_path / "low.pt"
    output("convert", source, target, "--precision=int4", "--group=64")
    text = output(
        "compare",
        source,
        "--shape=3,128",
        "--precision=int4",
        "--group=64",
        "--seconds=0",
        "--json",
    )
    (low,) = json.loads(text)["precisions"]
    assert low["linear"] == {"int4": 2, "embeddings": 0, "recurrent": 0, "kept": []}
    names = [layer["name"] for layer in low["layers"]]
    assert names == ["first", "second"]
    for layer in low["layers"]:
        assert not layer["float32"]
        assert 0 < layer["error"]["relative"] < 0.2


@pytest.mark.parametrize(
    ("x", "weight", "scales", "bias", "expected"),
    [
        ((2, 64), (4, 32), (2, 3, 2), None, None),
        ((2, 64), (3, 32), (2, 3, 2), None, "[4, 32], got Byte of shape [3"),
        ((2, 60), (4, 30), (2, 3, 2), None, "does not fit 2 groups"),
        ((2, 64), (4, 32), (0, 3, 2), None, "does not fit 0 groups"),
        ((2, 64), (4, 32), (2, 3, 1), None, "[groups, outputs, 2]"),
        ((2, 64), (4, 32), (3, 2), None, "[groups, outputs, 2]"),
        ((2, 64), (4, 32), (1, 2, 32, 2), None, "[blocks, groups, 64, 2]"),
        ((2, 64), (4, 32), (1, 2, 64, 2), None, "[64, 32], got Byte of shape"),
        ((2, 64), (64, 32), (1, 3, 64, 2), None, "does not fit 3 groups"),
        ((2, 64), (4, 32), (2, 3, 2), (4,), "does not fit 3 outputs"),
    ],
)
def test_linear_int4_says_what_would_be_right(x, weight, scales, bias, expected):
    given = (
        torch.zeros(x),
        torch.zeros(weight, dtype=torch.uint8),
        torch.zeros(scales, dtype=torch.bfloat16),
        None if bias is None else torch.zeros(bias),
    )
    if expected is None:
        assert LINEAR(*given).shape == (2, 3)
        return
    with pytest.raises(RuntimeError) as error:
        LINEAR(*given)
    assert expected in str(error.value)


def test_linear_int4_takes_strides():
    torch.manual_seed(0)
    packed = torch.randint(0, 256, (6, 32)).to(torch.uint8)
    scales = torch.randn(2, 5, 2).bfloat16()
    x, bias = torch.randn(64, 9).t(), torch.randn(10)[::2]
    want = LINEAR(x.contiguous(), packed, scales, bias.contiguous())
    wide = torch.zeros(6, 64, dtype=torch.uint8)
    wide[:, ::2] = packed
    turned = scales.transpose(0, 1).contiguous().transpose(0, 1)
    assert torch.equal(LINEAR(x, wide[:, ::2], turned, bias), want)


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_scales_by_blocks_of_rows(rows):
    torch.manual_seed(0)
    packed = torch.randint(0, 256, (192, 64)).to(torch.uint8)
    scales = torch.randn(4, 192, 2).bfloat16()
    x = torch.randn(rows, 128)
    blocks = scales.reshape(4, 3, 64, 2).transpose(0, 1)
    want = LINEAR(x, packed, scales)
    assert torch.equal(LINEAR(x, packed, blocks), want)
    assert torch.equal(LINEAR(x, packed, blocks.contiguous()), want)
    assert LINEAR(x, packed[:0], blocks[:0]).shape == (rows, 0)


# Bytes that PyTorch 2.13's embedding_bag_byte_prepack and
# embedding_bag_4bit_prepack make of this table.
TABLE = [
    [0.5, -1.25, 3.0, 0.1],
    [7.0, 7.0, 7.0, 7.0],
    [-1e-6, 0.0, 2e-6, 5e-7],
    [100.0, -3.3, 0.007, 12.0],
]
BYTES = [
    [105, 0, 255, 81, 137, 136, 136, 60, 0, 0, 160, 191],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 224, 64],
    [0, 85, 254, 127, 186, 29, 74, 50, 189, 55, 134, 181],
    [255, 0, 8, 38, 3, 105, 207, 62, 51, 51, 83, 192],
]
NIBBLES = [
    [6, 95, 137, 52, 0, 189],
    [0, 0, 0, 60, 0, 71],
    [96, 143, 3, 0, 17, 128],
    [15, 32, 227, 70, 154, 194],
]


@pytest.mark.parametrize(("bits", "rows"), [(8, BYTES), (4, NIBBLES)])
def test_rows_of_tables_are_pytorchs(bits, rows):
    table = torch.tensor(rows, dtype=torch.uint8).unsqueeze(1)
    got = ROWS(table, torch.tensor([[3, 0], [1, 2]]), bits)
    wanted = torch.tensor(TABLE)[torch.tensor([[3, 0], [1, 2]])]
    # Half a step, and roundings to half precision, of small numbers coarse.
    step = (wanted.amax(-1) - wanted.amin(-1)) / (2**bits - 1)
    bound = step * 0.52 + (wanted.amin(-1).abs() * 2**-11 if bits == 4 else 0)
    assert ((got - wanted).abs() <= bound.unsqueeze(-1) + 4e-7).all()


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("width", [2, 6, 32, 34, 130])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_every_width(bits, width, dtype):
    torch.manual_seed(width)
    q = torch.randint(0, 2**bits, (5, 3, width))
    tail = torch.randn(5, 3, 2) * 0.1
    tail = tail if bits == 8 else tail.half()
    packed = q if bits == 8 else q[..., ::2] + 16 * q[..., 1::2]
    table = torch.cat((packed.to(torch.uint8), tail.contiguous().view(torch.uint8)), -1)
    scale, bias = tail.float().split(1, -1)
    terms = q * scale.double()
    wanted = (terms + bias).reshape(5, 3 * width)
    # Two roundings at most.
    limit = (terms.abs() + (terms + bias).abs()).reshape(wanted.shape) * 2**-24
    i = torch.randint(0, 5, (4, 14), dtype=dtype)[:, ::2]
    found = ROWS(table, i, bits)
    assert ((found - wanted[i.long()]).abs() <= limit[i.long()]).all()
    assert ROWS(table, i[:0], bits).shape == (0, 7, 3 * width)
    assert ROWS(table, i[0, 0], bits).shape == (3 * width,)
    strided = table.transpose(0, 1).contiguous().transpose(0, 1)
    assert torch.equal(ROWS(strided, i, bits), found)


def test_indices_that_are_no_rows_are_pytorchs_error():
    table = torch.zeros(4, 1, 9, dtype=torch.uint8)
    for bad in (4, -1):
        with pytest.raises(IndexError, match="index out of range in self"):
            ROWS(table, torch.tensor([0, bad]), 8)
        with torch.cpu.stream(torch.cpu.Stream()):
            ROWS(table, torch.tensor([0, bad]), 8)
        with pytest.raises(IndexError, match="index out of range in self"):
            torch.cpu.synchronize()
    with pytest.raises(RuntimeError, match=r"Long, Int; but got torch\.Float"):
        ROWS(table, torch.zeros(2), 8)
    with pytest.raises(RuntimeError, match="bits should be 8 or 4, got 2"):
        ROWS(table, torch.tensor([0]), 2)
    with pytest.raises(RuntimeError, match="of at least 8 bytes"):
        ROWS(table[..., :7], torch.tensor([0]), 8)
