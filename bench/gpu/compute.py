"""Operators that compute, as worker.py times them: rates of products,
bandwidths of rows, times of the rest. The same statements for both libraries.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Sizes of products, rows, what is sorted, and the rest (a divisor)."""

    product: tuple = (1024, 4096, 8192)
    rows: int = 8192
    many: int = 1 << 26
    part: int = 1


FULL = Sizes()
TINY = Sizes(product=(32,), rows=32, many=1 << 10, part=16)


def products(torch, sizes: Sizes):
    """TFLOP/s of square products and of layers with what follows them."""
    for name in ("float32", "bfloat16"):
        for n in sizes.product:
            a = torch.randn(n, n, device="cuda", dtype=getattr(torch, name))
            b = torch.randn_like(a)
            work = 2 * n**3 / 1e9
            yield f"matmul {name} {n} TFLOP/s", work, lambda a=a, b=b: a @ b
    n = sizes.product[-1] // 2
    x = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
    w, bias = torch.randn_like(x), torch.randn_like(x[0])

    def layer():
        y = torch.nn.functional.linear(x, w, bias)
        return torch.nn.functional.gelu(y, approximate="tanh")

    yield f"linear, gelu bfloat16 {n} TFLOP/s", 2 * n**3 / 1e9, layer
    a = torch.randn(256, n // 8, 64, device="cuda", dtype=torch.bfloat16)
    work = 2 * 256 * (n // 8) ** 2 * 64 / 1e9
    yield "bmm bfloat16 TFLOP/s", work, lambda: a @ a.mT


def convolutions(torch, sizes: Sizes):
    """A layer of ResNet-50, with and without gradients."""
    batch, channels = 32 // sizes.part, 256 // sizes.part
    for name in ("float32", "float16"):
        x = torch.randn(
            batch, channels, 14, 14, device="cuda", dtype=getattr(torch, name)
        )
        layer = torch.nn.Conv2d(channels, channels, 3, padding=1).cuda()
        layer = layer.to(x.dtype)
        work = 2 * 9 * batch * channels**2 * 14 * 14 / 1e9
        if name == "float16":
            x = x.contiguous(memory_format=torch.channels_last)
            layer = layer.to(memory_format=torch.channels_last)

        def forward(layer=layer, x=x):
            with torch.no_grad():
                return layer(x)

        leaf = x.clone().requires_grad_()

        def step(layer=layer, x=leaf):
            y = layer(x)
            y.backward(y.detach())

        yield f"conv {name} TFLOP/s", work, forward
        yield f"conv and gradients {name} TFLOP/s", 3 * work, step


def attention(torch, sizes: Sizes):
    shape = (8 // min(sizes.part, 8), 16 // sizes.part, 2048 // sizes.part, 64)
    work = 4 * shape[0] * shape[1] * shape[2] ** 2 * shape[3] / 1e9
    attend = torch.nn.functional.scaled_dot_product_attention
    for name in ("float32", "bfloat16"):
        q, k, v = (
            torch.randn(shape, device="cuda", dtype=getattr(torch, name))
            for _ in range(3)
        )

        def forward(q=q, k=k, v=v):
            return attend(q, k, v)

        def causal(q=q, k=k, v=v):
            return attend(q, k, v, is_causal=True)

        given = [x.clone().requires_grad_() for x in (q, k, v)]

        def step(given=given, q=q):
            attend(*given).backward(q)

        yield f"attention {name} TFLOP/s", work, forward
        yield f"causal attention {name} TFLOP/s", work / 2, causal
        yield f"attention and gradients {name} TFLOP/s", 3.5 * work, step


def rows(torch, sizes: Sizes):
    """TB/s, each input read once and each output written once."""
    n = sizes.rows
    functional = torch.nn.functional
    for name, item in (("float32", 4), ("bfloat16", 2)):
        x = torch.randn(n, n, device="cuda", dtype=getattr(torch, name))
        once = n * n * item / 1e9
        w = torch.randn_like(x[0])
        target = torch.randint(0, n, (n,), device="cuda")
        for what, bytes_moved, f in (
            ("softmax", 2, lambda x=x: x.softmax(1)),
            ("softmax(0)", 2, lambda x=x: x.softmax(0)),
            ("layer_norm", 2, lambda x=x, w=w: functional.layer_norm(x, (n,), w, w)),
            ("cross_entropy", 1, lambda x=x, t=target: functional.cross_entropy(x, t)),
            ("sum(0)", 1, lambda x=x: x.sum(0)),
            ("sum(1)", 1, lambda x=x: x.sum(1)),
            ("amax(1)", 1, lambda x=x: x.amax(1)),
            ("cumsum(1)", 2, lambda x=x: x.cumsum(1)),
            ("transposed copy", 2, lambda x=x: x.t().contiguous()),
            ("add of a row", 2, lambda x=x, w=w: x + w),
            ("index_select", 2, lambda x=x, t=target: x.index_select(0, t)),
            ("gelu", 2, lambda x=x: functional.gelu(x)),
        ):
            yield f"{what} {name} TB/s", bytes_moved * once, f


def the_rest(torch, sizes: Sizes):
    """Milliseconds."""
    n = sizes.many
    x = torch.randn(n, device="cuda")
    square = torch.randn(2048 // sizes.part, 2048 // sizes.part, device="cuda")
    positive = square @ square.t() + square.shape[0] * torch.eye(
        square.shape[0], device="cuda"
    )
    index = torch.randint(0, n, (n,), device="cuda")
    lstm = torch.nn.LSTM(512 // sizes.part, 512 // sizes.part).cuda()
    steps = torch.randn(
        128 // sizes.part, 64, 512 // sizes.part, device="cuda"
    ).requires_grad_()

    def lstm_forward():
        with torch.no_grad():
            return lstm(steps)

    def lstm_step():
        lstm(steps)[0].sum().backward()

    yield "sort ms", 0, lambda: x.sort()
    yield "cumsum ms", 0, lambda: x.cumsum(0)
    yield "topk(10) of rows ms", 0, lambda: x.view(-1, n // 64).topk(10)
    yield "gather ms", 0, lambda: x[index]
    yield ("scatter_add ms", 0, lambda: torch.zeros_like(x).scatter_add_(0, index, x))
    yield "mask ms", 0, lambda: x[x > 0]
    yield "randn ms", 0, lambda: torch.randn(n, device="cuda")
    yield "fft ms", 0, lambda: torch.fft.fft(x)
    yield "cholesky ms", 0, lambda: torch.linalg.cholesky(positive)
    yield "solve ms", 0, lambda: torch.linalg.solve(positive, square)
    yield "eigh(512) ms", 0, lambda: torch.linalg.eigh(positive[:512, :512])
    yield "LSTM ms", 0, lstm_forward
    yield "LSTM and gradients ms", 0, lstm_step


FAMILIES = (products, convolutions, attention, rows, the_rest)


def measure(torch, numbers: dict, soft: bool, device_ms) -> None:
    """Adds each family's figures; what fails is a text that says why."""
    sizes = TINY if soft else FULL
    for family in FAMILIES:
        for name, work, statement in family(torch, sizes):
            try:
                ms = device_ms(torch, statement, 3 if soft else 10)
                numbers[name] = work / ms if work else ms
            except Exception as error:
                numbers[name] = f"{type(error).__name__}: {error}"[:200]
        torch.cuda.empty_cache()
