# ruff: noqa: E501  (a case is one line)
"""Cases of scopes, states, custom functions and the scaler, on the CPU."""

from __future__ import annotations

import copy
import pickle
import warnings

from outcomes import tensor


def _run(text: str):
    """A case: the value of `r` that the program leaves, and every warning."""
    code = compile(text, "<case>", "exec")

    def run(lib):
        def x(*shape, **options):
            return tensor(lib, *shape, **options)

        names = {
            "T": lib,
            "x": x,
            "nn": lib.nn,
            "mm": lib.mm,
            "copy": copy,
            "pickle": pickle,
            "amp": lib.autocast,
            "Scaler": lib.amp.GradScaler,
            "on": lambda: [
                lib.is_autocast_enabled("cpu"),
                str(lib.get_autocast_dtype("cpu")),
                lib.is_autocast_cache_enabled(),
            ],
        }
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                exec(code, names)
                result = names["r"]
            except Exception as error:
                result = f"{type(error).__name__}: {error}"
        seen = [
            f"{w.category.__name__}: {w.message}".split(" (Triggered")[0]
            for w in caught
        ]
        return [result, seen, names["on"]()]

    return run


_STATES = [
    "r = on()",
    "with amp('cpu'): r = on()",
    "with amp('cpu', dtype=T.float16, cache_enabled=False): r = on()",
    "with amp('cpu', enabled=False): r = on(), mm(x(2, 2), x(2, 2)).dtype",
    "with amp('cpu', T.float16) as a: r = str(a.fast_dtype), a.device",
    "with amp('cpu'):\n  with amp('cpu', enabled=False): a = on()\n  with amp('cpu', T.float16): b = on()\n  r = a, b, on()",
    "try:\n  with amp('cpu'): 1 / 0\nexcept ZeroDivisionError: r = on()",
    "r = amp('cpu', T.float32)._enabled",
    "r = amp('cpu', T.float64)._enabled",
    "r = amp('cpu', enabled=False, dtype=T.float32)._enabled",
    "r = amp('cuda')._enabled",
    "r = amp('cuda', T.bfloat16)._enabled",
    "r = amp('cuda', enabled=False)._enabled",
    "r = amp('xyz')",
    "r = amp(3)",
    "r = amp('cpu')(3)",
    "r = amp('cpu')(None)",
    "@amp('cpu')\ndef f(a):\n  'doc'\n  return (a @ a).dtype\nr = f(x(2, 2)), f.__name__, f.__doc__, mm(x(2, 2), x(2, 2)).dtype",
    "r = T.cpu.amp.autocast()._enabled",
    "with T.cpu.amp.autocast(dtype=T.float16): r = on()",
    "with T.cpu.amp.autocast(False): r = on()",
    "r = T.cuda.amp.autocast()._enabled",
    "r = T.cuda.amp.GradScaler().is_enabled()",
    "r = T.cpu.amp.GradScaler().is_enabled()",
    "r = T.amp.GradScaler().is_enabled()",
    "r = T.amp.GradScaler('cpu').is_enabled()",
    "r = T.amp.is_autocast_available('cpu'), T.amp.is_autocast_available('cuda'), T.amp.is_autocast_available('meta')",
    "r = T.amp.is_autocast_available('xyz')",
    "r = T.is_autocast_enabled(), T.is_autocast_enabled('cuda'), T.is_autocast_enabled('cpu')",
    "r = T.is_autocast_enabled('xyz')",
    "r = T.get_autocast_dtype('cuda')",
    "r = T.get_autocast_dtype('meta')",
    "r = T.get_autocast_gpu_dtype()",
    "r = T.get_autocast_cpu_dtype()",
    "r = T.is_autocast_cpu_enabled()",
    "T.set_autocast_cpu_enabled(True); r = on(); T.set_autocast_cpu_enabled(False)",
    "T.set_autocast_cpu_dtype(T.float16); r = on(); T.set_autocast_cpu_dtype(T.bfloat16)",
    "T.set_autocast_gpu_dtype(T.bfloat16); r = T.get_autocast_dtype('cuda'); T.set_autocast_dtype('cuda', T.float16)",
    "T.set_autocast_enabled('cpu', True); r = on(), mm(x(2, 2), x(2, 2)).dtype; T.set_autocast_enabled('cpu', False); T.clear_autocast_cache()",
    "T.set_autocast_enabled(True); r = T.is_autocast_enabled(), on(); T.set_autocast_enabled(False)",
    "T.set_autocast_dtype('cpu', T.float16); r = on(), amp('cpu').fast_dtype; T.set_autocast_dtype('cpu', T.bfloat16)",
    "T.set_autocast_cache_enabled(False); r = on(), amp('cpu')._cache_enabled; T.set_autocast_cache_enabled(True)",
    "r = T.set_autocast_enabled('cpu', 3)",
    "r = T.set_autocast_dtype('cpu', 3)",
    "r = T.set_autocast_cache_enabled(3)",
    "r = T.autocast_increment_nesting(), T.autocast_increment_nesting(), T.autocast_decrement_nesting(), T.autocast_decrement_nesting()",
]

_W = "w = x(2, 2, requires_grad=True)\n"
_CASTS = [
    _W
    + "with amp('cpu'):\n  a, b = mm(w, w), w @ w\n  n = a.grad_fn.next_functions\n  r = n[0][0] is n[1][0], n[0][0] is b.grad_fn.next_functions[0][0], n[0][0].name()",
    _W
    + "with amp('cpu', cache_enabled=False):\n  n = mm(w, w).grad_fn.next_functions\n  r = n[0][0] is n[1][0]",
    _W
    + "with amp('cpu'):\n  v = w[0:2]\n  n = mm(v, v).grad_fn.next_functions\n  r = n[0][0] is n[1][0]",
    _W
    + "with amp('cpu'):\n  a = mm(w, w)\n  with amp('cpu', enabled=False): pass\n  r = a.grad_fn.next_functions[0][0] is mm(w, w).grad_fn.next_functions[0][0]",
    _W
    + "with amp('cpu'): a = mm(w, w)\nwith amp('cpu'): r = a.grad_fn.next_functions[0][0] is mm(w, w).grad_fn.next_functions[0][0]",
    _W
    + "with amp('cpu'):\n  a = mm(w, w)\n  with T.no_grad(): w.zero_()\n  stale = mm(w, w)\nwith amp('cpu'): r = (stale == a).all().item(), mm(w, w)",
    _W
    + "with amp('cpu'):\n  with T.no_grad(): a = mm(w, w)\n  b = mm(w, w)\nr = a.requires_grad, b.requires_grad",
    _W
    + "with amp('cpu'):\n  mm(w, w).sum().backward()\n  g = w.grad.clone()\n  mm(w, w).sum().backward()\nr = g, w.grad",
    _W + "with amp('cpu'): y = mm(w, w).sum()\ny.backward()\nr = y.dtype, w.grad",
    "with amp('cpu'): y = mm(x(2, 2), x(2, 2)) + x(2, 2)\nr = y.dtype",
    "w = x(2, 2, dtype=T.float64, requires_grad=True)\nwith amp('cpu'): r = mm(w, w)",
]

_FUNCTION = """
class F(T.autograd.Function):
  @staticmethod
  {fwd}
  def forward(ctx, a, more=None):
    ctx.save_for_backward(a)
    out.append(on()[:2] + [str(a.dtype), [str(m.dtype) for m in (more or ())]])
    return a @ a
  @staticmethod
  {bwd}
  def backward(ctx, g):
    a, = ctx.saved_tensors
    out.append(on()[:2] + [str(a.dtype), str((g @ g).dtype)])
    return (g @ a.to(g.dtype)).float(), None
out = []
a = x(2, 2, requires_grad=True)
"""
_CUSTOM = [
    _FUNCTION.format(fwd=fwd, bwd=bwd) + use + "\nr = out, a.grad"
    for fwd, bwd in (
        ("", ""),
        (
            "@T.amp.custom_fwd(device_type='cpu')",
            "@T.amp.custom_bwd(device_type='cpu')",
        ),
        (
            "@T.amp.custom_fwd(device_type='cpu', cast_inputs=T.float32)",
            "@T.amp.custom_bwd(device_type='cpu')",
        ),
        (
            "@T.amp.custom_fwd(device_type='cpu', cast_inputs=T.float16)",
            "@T.amp.custom_bwd(device_type='cpu')",
        ),
    )
    for use in (
        "F.apply(a).sum().backward()",
        "with amp('cpu'): y = F.apply(a, [a.half(), a.double(), T.ones(1, dtype=T.int64)])\ny.sum().backward()",
        "with amp('cpu'): F.apply(a).sum().backward()",
    )
] + [
    "r = T.amp.custom_fwd(lambda: 0, device_type=3)",
    "r = T.amp.custom_bwd(lambda: 0, device_type=3)",
    "r = callable(T.cuda.amp.custom_fwd(lambda a: a)), callable(T.cuda.amp.custom_bwd(lambda a: a))",
]

_NET = """
T.manual_seed(0)
w = nn.Parameter(x(3))
opt = T.optim.SGD([w], lr=0.5)
s = Scaler('cpu', init_scale=8.0, growth_interval=2)
"""
_STEP = "s.scale((w * w).sum() * {0}).backward(); s.step(opt); s.update(); opt.zero_grad(); log.append((s.get_scale(), s._get_growth_tracker(), w.detach().clone()))\n"
_SCALER = [
    _NET
    + "log = []\n"
    + "".join(
        _STEP.format(f) for f in (1, 1, 1, "float('inf')", 1, 1, "float('nan')", 1)
    )
    + "r = log, s.state_dict()",
    _NET
    + "s.scale((w * 3).sum()).backward(); a = w.grad.clone(); s.unscale_(opt); r = a, w.grad, s._found_inf_per_device(opt), s.step(opt), w",
    _NET
    + "r = s.scale(x(2)), s.scale([x(2), (x(1), x(2))]), list(s.scale(iter([x(1)])))",
    _NET + "r = s.scale([1])",
    _NET + "s.unscale_(opt)",
    _NET + "s.step(opt)",
    _NET + "s.update()",
    _NET + "s.scale(w.sum()).backward(); s.unscale_(opt); s.unscale_(opt)",
    _NET + "s.scale(w.sum()).backward(); s.step(opt); s.unscale_(opt)",
    _NET + "s.scale(w.sum()).backward(); s.step(opt); s.step(opt)",
    _NET + "s.scale(w.sum()); s.step(opt)",
    _NET + "s.scale(w.sum()); s.update()",
    _NET + "s.scale(w.sum()).backward(); s.step(opt, closure=lambda: 0)",
    _NET + "w.data = w.data.half(); s.scale(w.sum()).backward(); s.step(opt)",
    _NET
    + "s.scale(w.sum()); s.update(2.5); a = s.get_scale(); s.update(T.tensor([7.0])); r = a, s.get_scale()",
    _NET + "s.scale(w.sum()); s.update(T.ones(2))",
    _NET + "s.scale(w.sum()); s.update(T.ones(1, requires_grad=True))",
    _NET
    + "s.set_growth_factor(3.0); s.set_backoff_factor(0.25); s.set_growth_interval(7); r = s.get_growth_factor(), s.get_backoff_factor(), s.get_growth_interval(), s.get_scale(), s.is_enabled(), s.state_dict()",
    _NET
    + "s.scale(w.sum()).backward(); s.step(opt); s.update(); q = Scaler('cpu'); q.load_state_dict(s.state_dict()); r = q.state_dict(); q.scale(w.sum()); r = r, q._scale, q._growth_tracker; q.load_state_dict({**s.state_dict(), 'scale': 3.0}); r = r, q._scale",
    _NET + "s.load_state_dict({})",
    _NET
    + "s.scale(w.sum()).backward(); s.step(opt); s.update(); q = pickle.loads(pickle.dumps(s)); r = q.state_dict(), q._scale, copy.deepcopy(s).state_dict()",
    _NET + "s.scale(w.sum()).backward(); s.step(opt); pickle.dumps(s)",
    "Scaler('cpu', growth_factor=1.0)",
    "Scaler('cpu', backoff_factor=1.0)",
    "s = Scaler('cpu', enabled=False); w = nn.Parameter(x(2)); o = T.optim.SGD([w], lr=1.0); s.scale(w.sum()).backward(); s.unscale_(o); s.step(o); s.update(); s.load_state_dict({}); r = w, s.get_scale(), s.state_dict(), s._get_growth_tracker(), pickle.loads(pickle.dumps(s)).is_enabled()",
    _NET
    + "class O(T.optim.SGD):\n  _step_supports_amp_scaling = True\n  def step(self):\n    seen.append((self.grad_scale, self.found_inf, w.grad.clone()))\nseen = []; o = O([w], lr=1.0)\ns.scale(w.sum()).backward(); s.step(o); s.update(); s.scale(w.sum() * float('inf')).backward(); s.unscale_(o); s.step(o); s.update(); r = seen, s.get_scale(), hasattr(o, 'found_inf')",
    _NET
    + "class O(T.optim.SGD):\n  _step_supports_amp_scaling = True\n  def step(self, grad_scaler=None):\n    return grad_scaler is s\no = O([w], lr=1.0); s.scale(w.sum()).backward(); r = s.step(o)",
    _NET
    + "v = nn.Parameter(x(2)); o = T.optim.SGD([v], lr=1.0); s.scale(w.sum()).backward(); s.scale(v.sum() * float('inf')).backward(); s.step(opt); s.step(o); s.update(); r = w, v, s.get_scale()",
]

_TRAIN = """
T.manual_seed(0)
net = {net}
opt = T.optim.SGD(net.parameters(), lr=0.1)
s = Scaler('cpu', init_scale=64.0)
r = []
for step in range(4):
  opt.zero_grad()
  with amp('cpu', T.{low}):
    out = net(x{shape})
    loss = nn.functional.cross_entropy(out, T.tensor([0, 1]))
  r.append([str(out.dtype), str(loss.dtype), loss])
  s.scale(loss).backward()
  s.step(opt)
  s.update()
r.append([(n, p, p.grad) for n, p in net.named_parameters()])
"""
_TRAINING = [
    _TRAIN.format(net=net, low=low, shape=shape)
    for net, shape in (
        (
            "nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.LayerNorm(4), nn.Linear(4, 2))",
            (2, 3),
        ),
        (
            "nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))",
            (2, 1, 4, 4),
        ),
    )
    for low in ("bfloat16", "float16")
]

_UNSCALE = "T._amp_foreach_non_finite_check_and_unscale_"
_UPDATE = "T._amp_update_scale_"
_OPERATORS = (
    [
        f"g = [T.tensor([1.0, 2.0, -3.0], dtype={dtype})]; f = T.zeros(()); {_UNSCALE}(g, f, T.tensor(0.3)); r = g, f"
        for dtype in ("T.float32", "T.float64", "T.float16", "T.bfloat16", "T.int64")
    ]
    + [
        f"g = T.tensor([1.0, {value}, 2.0]); f = T.zeros(1); r = {_UNSCALE}([g], f, T.tensor(0.5)), g, f, g._version"
        for value in ("float('inf')", "-float('inf')", "float('nan')", "3e38")
    ]
    + [
        f"g = x(3, 4).t()[1:, ::2]; f = T.zeros(()); {_UNSCALE}([g], f, T.tensor(2.0)); r = g, f",
        f"g = x(1, 2, 3, 3).to(memory_format=T.channels_last); f = T.zeros(()); {_UNSCALE}([g], f, T.tensor(2.0)); r = g, g.stride()",
        f"g = T.ones(2); f = T.ones(()); {_UNSCALE}([g, T.ones(0)], f, T.tensor(1.0)); r = g, f",
        f"r = {_UNSCALE}([], T.zeros(()), T.tensor(1.0))",
        f"{_UNSCALE}([T.ones(2)], T.zeros(2), T.tensor(1.0))",
        f"{_UNSCALE}([T.ones(2)], T.zeros(()), T.ones(2))",
        f"{_UNSCALE}([T.ones(2)], T.zeros((), dtype=T.float64), T.tensor(1.0))",
        f"{_UNSCALE}([T.ones(2)], T.zeros(()), T.tensor(1.0, dtype=T.float64))",
    ]
    + [
        f"s, k = T.tensor({scale}), T.tensor({tracker}, dtype=T.int32); r = {_UPDATE}(s, k, T.tensor({found}), 2.0, 0.1, 3) is s, s, k, s._version"
        for scale, tracker, found in (
            (4.0, 0, 0.0),
            (4.0, 2, 0.0),
            (4.0, 2, 2.0),
            (3e38, 2, 0.0),
        )
    ]
    + [
        f"{_UPDATE}(T.ones(2), T.zeros((), dtype=T.int32), T.zeros(()), 2.0, 0.5, 1)",
        f"{_UPDATE}(T.ones(()), T.zeros((), dtype=T.int64), T.zeros(()), 2.0, 0.5, 1)",
        f"{_UPDATE}(T.ones((), dtype=T.float64), T.zeros((), dtype=T.int32), T.zeros(()), 2.0, 0.5, 1)",
        f"{_UPDATE}(T.ones(()), T.zeros(2, dtype=T.int32), T.zeros(()), 2.0, 0.5, 1)",
        f"{_UPDATE}(T.ones(()), T.zeros((), dtype=T.int32), T.zeros(2), 2.0, 0.5, 1)",
    ]
)

CASES = {
    text: _run(text)
    for text in (*_STATES, *_CASTS, *_CUSTOM, *_SCALER, *_TRAINING, *_OPERATORS)
}
