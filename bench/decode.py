"""Language models, one token at a time: how near to the memory's speed.

A decoder (RMSNorm, rotary positions, SwiGLU) with random weights makes one
token at a context of 256, replayed as a graph whose caches are written in
place. Each precision of the weights is timed in turns with a plain read of as
many bytes (the sum of a float32 tensor) and, with --peer, with llama.cpp on
the same GGUF file.

    python bench/decode.py [--threads 1 2] [--peer PYTHON] [--json FILE]
    python bench/decode.py --products    one row times one matrix after another

PYTHON has the packages llama-cpp-python, gguf and numpy.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hotaru.nn import functional as F
from hotaru.weights import load_file

import hotaru as torch

CONTEXT, VOCABULARY, HEAD = 256, 4096, 64
SIZES = {"8 x 1024": (8, 1024, 2816), "16 x 2048": (16, 2048, 5632)}
PRECISIONS = ("float32", "bfloat16", "int8", "int4", "Q8_0", "Q4_0")
GROUP = 32  # of int4, as in Q4_0


class Int8Linear(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        scale = weight.abs().amax(1) / 127
        self.register_buffer("weight", (weight / scale[:, None]).round().to(torch.int8))
        self.register_buffer("scale", scale)

    def forward(self, x):
        return torch._weight_int8pack_mm(x, self.weight, self.scale)


class Int4Linear(torch.nn.Module):
    """As `hotaru convert --precision int4` writes it."""

    def __init__(self, weight):
        super().__init__()
        n, k = weight.shape
        groups = weight.reshape(n, k // GROUP, GROUP)
        low, high = groups.amin(2), groups.amax(2)
        scale = (high - low) / 15
        levels = ((groups - low[..., None]) / scale[..., None]).round()
        packed = levels.clamp(0, 15).int().reshape(n, k)
        self.register_buffer(
            "weight", torch._convert_weight_to_int4pack_for_cpu(packed, 2)
        )
        pairs = torch.stack([scale, low + 8 * scale], -1).bfloat16()
        blocks = pairs.reshape(n // 64, 64, k // GROUP, 2).transpose(1, 2)
        self.register_buffer("pairs", blocks.contiguous())

    def forward(self, x):
        return torch.ops.hotaru.linear_int4(x, self.weight, self.pairs)


def float_linear(weight):
    made = torch.nn.Linear(*reversed(weight.shape), bias=False)
    made.weight = torch.nn.Parameter(weight, requires_grad=False)
    return made


class Layer(torch.nn.Module):
    """A block of the model; linear(name) gives each linear map."""

    def __init__(self, width, linear, at, dtype):
        super().__init__()
        self.heads = width // HEAD
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            setattr(self, name, linear(f"{at}.{name}"))
        for name in ("ffn_gate", "ffn_up", "ffn_down"):
            setattr(self, name, linear(f"{at}.{name}"))
        self.attn_norm = torch.nn.RMSNorm(width, 1e-5, dtype=dtype)
        self.ffn_norm = torch.nn.RMSNorm(width, 1e-5, dtype=dtype)
        shape = (1, self.heads, CONTEXT, HEAD)
        self.register_buffer("keys", torch.zeros(shape, dtype=dtype))
        self.register_buffer("values", torch.zeros(shape, dtype=dtype))

    def split(self, x):
        return x.view(1, 1, self.heads, HEAD).transpose(1, 2)

    def forward(self, x, position, turn, mask):
        y = self.attn_norm(x)
        q = turned(self.split(self.attn_q(y)), turn)
        k = turned(self.split(self.attn_k(y)), turn)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, self.split(self.attn_v(y)))
        y = F.scaled_dot_product_attention(q, self.keys, self.values, mask)
        x = x + self.attn_output(y.transpose(1, 2).reshape(1, -1))
        y = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(y)) * self.ffn_up(y))


def turned(x, turn):
    """Rotary positions: the halves of each head as complex numbers."""
    a, b = x.chunk(2, -1)
    cos, sin = turn
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class Decoder(torch.nn.Module):
    def __init__(self, size, linear, dtype=torch.float32):
        super().__init__()
        layers, width, _ = SIZES[size]
        self.embedding = torch.nn.Embedding(VOCABULARY, width, dtype=dtype)
        self.layers = torch.nn.ModuleList(
            Layer(width, linear, f"blk.{i}", dtype) for i in range(layers)
        )
        self.norm = torch.nn.RMSNorm(width, 1e-5, dtype=dtype)
        self.output = linear("output")
        steps = torch.arange(CONTEXT).float()
        speeds = 10000 ** (-torch.arange(HEAD // 2) / (HEAD / 2))
        angles = steps[:, None] * speeds
        self.register_buffer("cos", angles.cos().to(dtype))
        self.register_buffer("sin", angles.sin().to(dtype))
        self.register_buffer("seen", torch.ones(CONTEXT, CONTEXT).tril() > 0)

    def cache_bytes(self):
        return sum(
            t.numel() * t.element_size()
            for layer in self.layers
            for t in (layer.keys, layer.values)
        )

    def forward(self, token, position):
        x = self.embedding(token)
        turn = self.cos[position], self.sin[position]
        mask = self.seen[position]
        for layer in self.layers:
            x = layer(x, position, turn, mask)
        return self.output(self.norm(x))


def shapes(size):
    """The matrices of a model by their names in GGUF files."""
    layers, width, hidden = SIZES[size]
    found = {"output": (VOCABULARY, width)}
    for i in range(layers):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            found[f"blk.{i}.{name}"] = (width, width)
        for name in ("ffn_gate", "ffn_up"):
            found[f"blk.{i}.{name}"] = (hidden, width)
        found[f"blk.{i}.ffn_down"] = (width, hidden)
    return found


def make(size, precision, path):
    """A model and the bytes of weights that each token reads."""
    torch.manual_seed(0)
    table, total = shapes(size), 0
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
    kept = load_file(path, blocks="keep") if path else None

    def linear(name):
        nonlocal total
        if kept:
            made = kept[f"{name}.weight"].linear()
        else:
            n, k = table[name]
            weight = torch.randn(n, k) / k**0.5
            kinds = {"int8": Int8Linear, "int4": Int4Linear}
            kind = kinds.get(precision, float_linear)
            made = kind(weight.to(dtype))
        total += sum(
            t.numel() * t.element_size() for t in (*made.parameters(), *made.buffers())
        )
        return made

    return Decoder(size, linear, dtype).eval(), total


def read(buffer):
    """Seconds of one read of a tensor."""
    begin = time.perf_counter()
    buffer.sum()
    return time.perf_counter() - begin


PEER = """
import sys, time
from llama_cpp import Llama
path, threads, context = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
llm = Llama(path, n_ctx=context, n_threads=threads, n_threads_batch=threads,
            verbose=False, use_mmap=True)
for token in range(1, context):  # all at once crashes with AMX
    llm.eval([token])
print("ready", flush=True)
for line in sys.stdin:
    llm.n_tokens = context - 1
    begin = time.perf_counter()
    llm.eval([5])
    print(time.perf_counter() - begin, flush=True)
"""

WRITE = """
import sys, json, numpy, gguf
path, kind, layers, width, hidden, vocabulary, head, context = sys.argv[1:9]
layers, width, hidden = int(layers), int(width), int(hidden)
vocabulary, head = int(vocabulary), int(head)
table = json.load(sys.stdin)
w = gguf.GGUFWriter(path, "llama")
w.add_block_count(layers)
w.add_context_length(int(context))
w.add_embedding_length(width)
w.add_feed_forward_length(hidden)
w.add_head_count(width // head)
w.add_head_count_kv(width // head)
w.add_rope_dimension_count(head)
w.add_layer_norm_rms_eps(1e-5)
w.add_vocab_size(vocabulary)
w.add_tokenizer_model("no_vocab")
rng = numpy.random.default_rng(0)
def add(name, shape):
    q = getattr(gguf.GGMLQuantizationType, kind)
    # Uniform integers of deviation 74 or 4.6, to numbers of 1 / sqrt(k).
    size, deviation = (34, 74) if kind == "Q8_0" else (18, 4.6)
    blocks = numpy.frombuffer(
        rng.bytes(shape[0] * shape[1] // 32 * size), numpy.uint8
    ).reshape(-1, size).copy()
    scale = numpy.float16(1 / (deviation * shape[1] ** 0.5))
    blocks[:, :2] = numpy.frombuffer(scale.tobytes(), numpy.uint8)
    w.add_tensor(name, blocks.reshape(shape[0], -1), raw_dtype=q)
add("token_embd.weight", (vocabulary, width))
for name, shape in table.items():
    add(name + ".weight", tuple(shape))
ones = numpy.ones(width, numpy.float32)
w.add_tensor("output_norm.weight", ones)
for i in range(layers):
    w.add_tensor(f"blk.{i}.attn_norm.weight", ones)
    w.add_tensor(f"blk.{i}.ffn_norm.weight", ones)
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()
"""


class Peer:
    """llama.cpp in a process of its own, which waits between turns."""

    def __init__(self, python, path, threads):
        self.process = subprocess.Popen(
            [python, "-c", PEER, path, str(threads), str(CONTEXT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout.readline() == "ready\n"
        self.process.send_signal(signal.SIGSTOP)

    def step(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seconds = float(self.process.stdout.readline())
        # Its threads would go on spinning.
        self.process.send_signal(signal.SIGSTOP)
        return seconds

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def write_gguf(python, path, kind, size):
    numbers = [*SIZES[size], VOCABULARY, HEAD, CONTEXT]
    subprocess.run(
        [python, "-c", WRITE, path, kind, *map(str, numbers)],
        input=json.dumps(shapes(size)),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def measure(size, precision, path, threads, peer, turns):
    torch.set_num_threads(threads)
    model, total = make(size, precision, path)
    step = torch.compile(model, fullgraph=True)
    token, position = torch.tensor([5]), torch.tensor([CONTEXT - 1])
    buffer = torch.ones(total // 4)
    times, reads, others = [], [], []
    other = Peer(peer, path, threads) if peer and path else None
    with torch.no_grad():
        for _ in range(3):
            step(token, position)
        for _ in range(turns):
            begin = time.perf_counter()
            step(token, position)
            times.append(time.perf_counter() - begin)
            reads.append(read(buffer))
            if other:
                others.append(other.step())
    if other:
        other.close()
    row = {
        "size": size,
        "precision": precision,
        "threads": threads,
        "megabytes": total / 1e6,
        "caches_megabytes": model.cache_bytes() / 1e6,
        "tokens_per_s": 1 / statistics.median(times),
        "tokens_per_s_best": 1 / min(times),
        "read_gb_per_s": total / statistics.median(reads) / 1e9,
        # In turns, so that what disturbs one disturbs the other.
        "share": statistics.median(r / t for r, t in zip(reads, times)),
        "share_best": min(reads) / min(times),
    }
    # With what else a token has to read: all keys and values.
    whole = 1 + row["caches_megabytes"] / row["megabytes"]
    row["share_with_caches"] = row["share"] * whole
    if others:
        row["peer_tokens_per_s"] = 1 / statistics.median(others)
        row["over_peer"] = statistics.median(o / t for o, t in zip(others, times))
    return row


def product(precision, n, k):
    """A product of one row with a new weight, and the weight's bytes."""
    x = torch.randn(1, k)
    if precision == "bfloat16":
        x = x.bfloat16()
    if precision in ("float32", "bfloat16"):
        weight = torch.ones(n, k, dtype=x.dtype)
        return (lambda: F.linear(x, weight)), weight.numel() * x.itemsize
    if precision == "int8":
        weight, scale = torch.ones(n, k, dtype=torch.int8), torch.ones(n)
        run = lambda: torch._weight_int8pack_mm(x, weight, scale)  # noqa: E731
        return run, n * k
    if precision == "int4":
        weight = torch.ones(n, k // 2, dtype=torch.uint8)
        pairs = torch.ones(n // 64, k // GROUP, 64, 2, dtype=torch.bfloat16)
        run = lambda: torch.ops.hotaru.linear_int4(x, weight, pairs)  # noqa: E731
        return run, n * k // 2 + pairs.numel() * 2
    row = k // 32 * (34 if precision == "Q8_0" else 18)
    blocks = torch.ones(n, row, dtype=torch.uint8)
    run = torch.ops.hotaru.linear_blocks
    return (lambda: run(x, blocks, precision)), n * row


def measure_products(precision, n, k, threads, turns):
    """One pass over 256 MiB of weights against a read of as many bytes."""
    torch.set_num_threads(threads)
    runs, total = [], 0
    while total < 256 << 20:
        run, size = product(precision, n, k)
        runs.append(run)
        total += size
    buffer = torch.ones(total // 4)
    times, reads = [], []
    for _ in range(turns):
        begin = time.perf_counter()
        for run in runs:
            run()
        times.append(time.perf_counter() - begin)
        reads.append(read(buffer))
    pairs = zip(reads[1:], times[1:])  # the first pass maps memory
    return {
        "precision": precision,
        "weight": [n, k],
        "threads": threads,
        "read_gb_per_s": total / min(reads) / 1e9,
        "share": statistics.median(r / t for r, t in pairs),
        "share_best": min(reads) / min(times),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--sizes", nargs="+", default=list(SIZES))
    parser.add_argument("--precisions", nargs="+", default=list(PRECISIONS))
    parser.add_argument("--products", action="store_true")
    parser.add_argument("--turns", type=int, default=25)
    parser.add_argument("--peer", help="a Python with llama-cpp-python, gguf")
    parser.add_argument("--folder", help="where GGUF files stay; else nowhere")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = []
    if args.products:
        for precision in args.precisions:
            for n, k in ((2048, 2048), (8192, 2048), (2048, 8192)):
                for threads in args.threads:
                    row = measure_products(precision, n, k, threads, args.turns)
                    print(json.dumps(row), flush=True)
        return
    with tempfile.TemporaryDirectory() as passing:
        folder = args.folder or passing
        for size in args.sizes:
            for precision in args.precisions:
                path = None
                if precision.startswith("Q"):
                    if not args.peer:
                        continue
                    name = f"{size.replace(' ', '')}-{precision}.gguf"
                    path = str(Path(folder) / name)
                    if not Path(path).exists():
                        write_gguf(args.peer, path, precision, size)
                for threads in args.threads:
                    row = measure(size, precision, path, threads, args.peer, args.turns)
                    rows.append(row)
                    print(json.dumps(row), flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    sys.exit(main())
