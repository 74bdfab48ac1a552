"""Makes the TorchScript archives that the script tests load, with PyTorch.

    python tests/golden/make_script.py tests/golden/script

language.pt holds a module with methods that take nothing and return a string,
and an attribute `expected` with what PyTorch returned for each. networks.pt
holds small networks, scripted and traced, each with an input and the output;
cases.pt holds the modules of script_cases.py, and `expected`; frozen_NAME.pt is one of them, frozen. The archives in the repository were made
with PyTorch 2.13.0 and, those ending in _old, 1.13.1.
"""

import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import script_cases
import torch
from torch import nn


class Point(NamedTuple):
    x: int
    y: float


@torch.jit.script
class Counter:
    def __init__(self, start: int = 10):
        self.n = start
        self.log = torch.jit.annotate(List[str], [])

    def add(self, k: int) -> int:
        self.n += k
        self.log.append(f"+{k}")
        return self.n

    def __len__(self) -> int:
        return len(self.log)

    def __getitem__(self, i: int) -> str:
        return self.log[i]


@torch.jit.interface
class Scales(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Double(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def early(x: int) -> str:
    if x < 0:
        return "negative"
    for i in range(x):
        if i == 7:
            return "seven"
        if i > 100:
            break
    else_value = "small"
    if x > 20:
        else_value = "large"
    return else_value


def find_first(values: List[int], wanted: int) -> Optional[int]:
    for i, v in enumerate(values):
        if v == wanted:
            return i
    return None


def recursive_sum(n: int) -> int:
    total = 0
    while True:
        if n == 0:
            break
        total += n
        n -= 1
        if total > 1000:
            continue
    return total


class Language(nn.Module):
    scale: Scales
    history: List[int]
    maybe: Optional[torch.Tensor]
    names: Dict[str, int]

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
        self.scale = Double()
        self.state = 0
        self.names = {"a": 1, "b": 2}
        self.history = []
        self.maybe = None
        self.threshold = 0.5

    @torch.jit.export
    def integers(self) -> str:
        a, b = -7, 2
        return str(
            [
                a // b,
                a % b,
                a * b,
                a - b,
                abs(a),
                a & b,
                a | b,
                a ^ b,
                1 << 5,
                -9 >> 1,
                max(a, b),
                min(a, b),
                int(3.9),
            ]
        )

    @torch.jit.export
    def floats(self) -> str:
        a, b = -7.5, 2.0
        return str(
            [
                a / b,
                a // b,
                a % b,
                a * 3,
                a**b,
                float(3),
                1 / 4,
                round(2.5),
                float("1.5"),
                1e20,
                1e-05,
                -0.0,
                a - 1,
            ]
        )

    @torch.jit.export
    def comparisons(self) -> str:
        a, b = 3, 4.0
        return str(
            [
                a < b,
                a == 3,
                a != 3,
                1 < a < 4,
                not a > b,
                "x" < "y",
                [1, 2] == [1, 2],
                "a" in "cat",
                5 in [1, 5],
            ]
        )

    @torch.jit.export
    def strings(self) -> str:
        s = "Hello, World"
        parts = s.split(", ")
        return "|".join(
            [
                s.upper(),
                s.lower(),
                s[1:4],
                s[-1],
                parts[1],
                s.replace("l", "L"),
                "{} and {}".format(1, "two"),
                f"{len(s)}!",
                " x ".strip(),
                "%s is %d" % ("it", 5),
                str(s.startswith("He")),
                str(s.find("World")),
                "-".join(["1", "2"]),
            ]
        )

    @torch.jit.export
    def lists(self) -> str:
        a = [5, 3, 8]
        a.append(1)
        a.extend([9, 9])
        a.insert(1, 7)
        last = a.pop()
        a.remove(3)
        b = a[1:3] + [x * 2 for x in a]
        a.sort()
        a.reverse()
        a[0] = -1
        c = [0] * 3
        del b[0]
        return str(
            (
                a,
                b,
                c,
                last,
                sorted([3, 1, 2]),
                a[::2],
                a.index(7),
                a.count(9),
                len(b),
                max(b),
                sum(c),
                a[-1],
            )
        )

    @torch.jit.export
    def dicts(self) -> str:
        d: Dict[str, int] = {}
        d["x"] = 1
        d.update({"y": 2, "z": 3})
        popped = d.pop("y")
        keys: List[str] = []
        total = 0
        for k, v in d.items():
            keys.append(k)
            total += v
        square = {i: i * i for i in range(3)}
        return str(
            (
                d,
                keys,
                total,
                popped,
                "x" in d,
                d.get("q", 5),
                list(d.values()),
                square,
                len(square),
            )
        )

    @torch.jit.export
    def tuples(self) -> str:
        t = (1, "two", 3.0)
        a, b, c = t
        p = Point(3, 4.5)
        q = (1, 2, 3, 4)
        return str((t[1], a, b, c, p.x, p.y, q[1:3], q[-1], len(q)))

    @torch.jit.export
    def optionals(self) -> str:
        out: List[str] = []
        x: Optional[int] = None
        for i in range(3):
            if x is None:
                x = i
            elif x == 1 or i > 5:
                out.append("one")
            else:
                x = x + 1
        if x is not None and x > 0:
            out.append(str(x))
        y = 3 if x is None else x
        out.append(str(y + 1))
        found = find_first([4, 5, 6], 6)
        missing = find_first([4, 5, 6], 7)
        assert found is not None
        return ",".join(out) + str(found + 1) + str(missing)

    @torch.jit.export
    def flow(self) -> str:
        out = [early(-1), early(3), early(9), early(1), str(recursive_sum(5))]
        i = 0
        total = 0
        while i < 10:
            i += 1
            if i % 2 == 0:
                continue
            for j in range(10):
                if j == i:
                    break
                total += j
            if total > 40:
                break
        for a, b in zip([1, 2, 3], ["x", "y", "z"]):
            out.append(b + str(a))
        for k in range(10, 0, -4):
            out.append(str(k))
        return str((out, i, total))

    @torch.jit.export
    def classes(self) -> str:
        c = Counter(5)
        c.add(3)
        c.add(4)
        return str((c.n, len(c), c[0]))

    @torch.jit.export
    def modules(self) -> str:
        x = torch.ones(1, 2)
        n = 0
        for i, layer in enumerate(self.layers):
            n += layer(x).numel() * i
        y = self.scale.forward(x)
        return str((n, float(y.sum()), len(self.layers)))

    @torch.jit.export
    def attributes(self) -> str:
        self.state = 0
        self.state += 2
        self.history.clear()
        self.history.append(self.state)
        self.names["c"] = 3
        self.maybe = torch.zeros(2)
        m = self.maybe
        size = 0
        if m is not None:
            size = m.numel()
        self.maybe = None
        return str(
            (
                self.state,
                self.history,
                self.names,
                size,
                self.threshold,
                self.maybe is None,
            )
        )

    @torch.jit.export
    def tensors(self) -> str:
        x = torch.arange(12).reshape(3, 4)
        y = x.clone()
        y[1, 2] = 100
        y[:, 0] = 7
        y[0] += 1
        idx = torch.tensor([0, 2])
        picked = x[idx]
        a, b, c = x.unbind(0)
        z = x[1:, ::2]
        return str(
            (
                int(y.sum()),
                picked.size(),
                int(a.sum() + b.sum() - c.sum()),
                z.shape,
                x[..., -1].numel(),
                x[None].dim(),
                int(x[1, 2]),
                float(x.float().mean()),
                x.dtype == torch.int64,
                [int(v) for v in x[0]],
                bool(x[0, 1] > 0),
                int(x[-1][-1]),
            )
        )

    @torch.jit.export
    def anything(self) -> str:
        out: List[str] = []
        values: List[Any] = [1, "a", 2.5, torch.zeros(1)]
        for v in values:
            if isinstance(v, int):
                out.append("int" + str(v + 1))
            elif isinstance(v, str):
                out.append("str" + v)
            elif isinstance(v, float):
                out.append("float")
            else:
                out.append("other")
        return ",".join(out)

    @torch.jit.export
    def unions(self) -> str:
        out: List[str] = []
        u: Union[int, str] = 3
        if isinstance(u, int):
            out.append(str(u + 1))
        u = "text"
        if isinstance(u, str):
            out.append(u + "!")
        return ",".join(out)

    @torch.jit.export
    def forks(self) -> str:
        x = torch.ones(2)
        futures = [torch.jit.fork(self.helper, x, i) for i in range(3)]
        results = [torch.jit.wait(f) for f in futures]
        return str([float(r.sum()) for r in results])

    def helper(self, x: torch.Tensor, k: int) -> torch.Tensor:
        return x * k + self.threshold

    @torch.jit.export
    def grad_mode(self) -> str:
        before = torch.is_grad_enabled()
        with torch.no_grad():
            inside = torch.is_grad_enabled()
        return str((before, inside, torch.is_grad_enabled()))

    @torch.jit.export
    def failing(self, kind: int) -> int:
        if kind == 0:
            raise ValueError("value {} is bad".format(kind))
        assert kind != 1, "kind must not be one"
        values = [1, 2]
        if kind == 2:
            return values[5]
        if kind == 3:
            return self.names["missing"]
        with torch.no_grad():
            if kind == 4:
                raise RuntimeError("inside with")
        return kind

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Expected(nn.Module):
    expected: Dict[str, str]

    def __init__(self, module, expected):
        super().__init__()
        self.module = module
        self.expected = expected

    def forward(self) -> Dict[str, str]:
        return self.expected


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell = kind(8, 16, 2, batch_first=True)
        self.out = nn.Linear(16, 4)

    def forward(self, x):
        y, _ = self.cell(x)
        return self.out(y[:, -1])


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2)
        self.c2 = nn.Conv2d(4, 4, 3)
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(4 * 3 * 3, 10)

    def forward(self, x):
        x = self.pool(torch.relu(self.norm(self.c1(x))))
        x = torch.relu(self.c2(x))
        x = self.drop(torch.flatten(self.pool(x), 1))
        return torch.log_softmax(self.out(x), 1)


class Sample(nn.Module):
    """A network with one input and the output that PyTorch gives for it."""

    def __init__(self, net, example):
        super().__init__()
        self.net = net
        with torch.no_grad():
            self.register_buffer("output", net(example).clone())
        self.register_buffer("input", example)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x)


class Networks(nn.Module):
    def __init__(self, samples):
        super().__init__()
        for name, sample in samples.items():
            setattr(self, name, sample)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def networks(out, suffix):
    torch.manual_seed(0)
    mlp = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
    plain = {
        "mlp": (mlp, torch.randn(2, 10)),
        "conv": (Convolutional(), torch.randn(2, 1, 16, 16)),
        "rnn": (Recurrent(nn.RNN), torch.randn(2, 5, 8)),
        "lstm": (Recurrent(nn.LSTM), torch.randn(2, 5, 8)),
        "gru": (Recurrent(nn.GRU), torch.randn(2, 5, 8)),
    }
    samples = {}
    for name, (net, x) in plain.items():
        net.eval()
        scripted = torch.jit.script(net)
        samples[name + "_script"] = Sample(scripted, x)
        samples[name + "_trace"] = Sample(torch.jit.trace(net, x), x)
        if name in ("conv", "lstm"):
            torch.jit.freeze(scripted).save(str(out / f"frozen_{name}{suffix}.pt"))
    torch.jit.script(Networks(samples).eval()).save(str(out / f"networks{suffix}.pt"))


def language():
    scripted = torch.jit.script(Language())
    names = [
        n
        for n, m in Language.__dict__.items()
        if getattr(m, "_torchscript_modifier", None) is not None
    ]
    expected = {n: getattr(scripted, n)() for n in names if n != "failing"}
    return torch.jit.script(Expected(scripted, expected))


class Recorded(nn.Module):
    """The modules of script_cases.py and what PyTorch computed in each."""

    def __init__(self):
        super().__init__()
        expected = {}
        for name, case in script_cases.CASES.items():
            compiled = torch.jit.script(case().eval())
            expected.update(
                (f"{name}.{k}", v) for k, v in script_cases.results(compiled).items()
            )
            setattr(self, name, compiled)
        self.expected = expected

    def forward(self) -> Dict[str, str]:
        return self.expected


def cases():
    return torch.jit.script(Recorded().eval())


def main():
    out = Path(sys.argv[1])
    suffix = "_old" if torch.__version__.startswith("1.") else ""
    cases().save(str(out / f"cases{suffix}.pt"))
    language().save(str(out / f"language{suffix}.pt"))
    networks(out, suffix)


if __name__ == "__main__":
    main()
