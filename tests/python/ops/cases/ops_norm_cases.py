"""Cases of normalisation and activation functions."""

from __future__ import annotations

from ops_eval import cases

_NORM = [
    "F.batch_norm(x(3, 2), None, None, training=True)",
    "F.batch_norm(x(2, 2, 3), x(2), x(2).abs() + 1, x(2), x(2))",
    "F.batch_norm(x(2, 2, 2, 2), None, None, x(2), x(2), training=True)",
    "F.batch_norm(x(3, 2).half(), x(2), x(2).abs(), x(2), x(2))",
    "list(T.native_batch_norm(x(3, 2), None, None, x(2), x(2).abs(), True, 0.1, 1e-5))",
    "[m := x(2), v := x(2).abs(), F.batch_norm(x(3, 2), m, v, training=True, "
    "momentum=0.3)]",
    "[m := x(2), v := x(2).abs(), F.instance_norm(x(2, 2, 3), m, v, momentum=0.3)]",
    "F.layer_norm(x(2, 3), (3,))",
    "F.layer_norm(x(2, 3, 2), (3, 2), x(3, 2), x(3, 2, start=3), 1e-3)",
    "F.layer_norm(x(3, 2).t(), (3,), x(3))",
    "F.layer_norm(x(2, 3).half(), (3,), x(3).half(), x(3).half())",
    "F.layer_norm(x(2, 3).bfloat16(), (3,))",
    "F.layer_norm(T.ones(2, 0), (0,))",
    "list(T.native_layer_norm(x(2, 3), (3,), None, None, 1e-5))",
    "F.group_norm(x(2, 4), 2)",
    "F.group_norm(x(1, 4, 3), 2, x(4), x(4, start=2))",
    "F.instance_norm(x(2, 2, 3), weight=x(2), bias=x(2))",
    "F.rms_norm(x(2, 3), (3,), x(3))",
    "F.rms_norm(x(2, 3), (3,), eps=0.1)",
    "F.local_response_norm(x(1, 4, 3), 3)",
]

_NAMES = [
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "gelu",
    "silu",
    "mish",
    "relu6",
    "hardtanh",
    "hardsigmoid",
    "hardswish",
    "softplus",
    "softshrink",
    "hardshrink",
    "logsigmoid",
    "softsign",
    "tanhshrink",
    "relu",
]
_NUMBERS = "t([-20.0, -3.0, -1.0, -0.5, -0.1, 0.0, 0.1, 0.5, 2.0, 6.5, 25.0])"

_ACTIVATION = [
    *(f"F.{name}({_NUMBERS})" for name in _NAMES),
    *(f"F.{name}({_NUMBERS}.half())" for name in _NAMES),
    *(f"F.{name}(t([nan]))" for name in _NAMES),
    "F.leaky_relu(x(3), 0.5)",
    "F.elu(x(3), 2.0)",
    "F.celu(x(3), 2.0)",
    "F.gelu(x(3), approximate='tanh')",
    "F.hardtanh(x(5), -0.2, 0.6)",
    "F.softplus(x(3), 2, 1)",
    "F.threshold(x(3), 0.1, 20)",
    "F.softshrink(x(3), 0.2)",
    "F.hardshrink(x(3), 0.2)",
    "F.prelu(x(2, 3), t([0.25]))",
    "F.prelu(x(2, 3), x(3))",
    "F.glu(x(2, 4))",
    "F.glu(x(2, 3), 0)",
    "F.rrelu(x(3))",
    "F.relu6(l(3) * 4)",
    "F.hardtanh(l(3))",
    "F.threshold(l(3), 1, 7)",
    "F.silu(x(3, 4)[:, ::2])",
    "F.leaky_relu_(x(3), 0.5)",
    "F.hardtanh_(x(3), -0.2, 0.2)",
    "F.elu_(x(3))",
    "F.silu(x(3), inplace=True)",
]

_GRADIENTS = [
    "grad(lambda a, w, b: F.batch_norm(a, None, None, w, b, True), d(3, 2), "
    "d(2), d(2))",
    "grad(lambda a, w, b: F.batch_norm(a, d(2), d(2).abs(), w, b), d(3, 2), "
    "d(2), d(2))",
    "grad(lambda a, w, b: F.layer_norm(a, (3,), w, b), d(2, 3), d(3), d(3))",
    "grad(lambda a, w, b: F.group_norm(a, 2, w, b), d(1, 4, 2), d(4), d(4))",
    "grad(lambda a, w: F.rms_norm(a, (3,), w), d(2, 3), d(3))",
    "grad(lambda a: F.instance_norm(a) * 1, d(1, 2, 3))",
    "grad(lambda w: F.batch_norm(d(3, 2), None, None, w, None, True), d(2))",
    "grad(lambda b: F.layer_norm(d(2, 3), (3,), None, b), d(3))",
    "grad2(lambda a, w, b: F.batch_norm(a, None, None, w, b, True), d(3, 2), "
    "d(2), d(2))",
    "grad2(lambda a, w, b: F.batch_norm(a, d(2), d(2).abs(), w, b), d(3, 2), "
    "d(2), d(2))",
    "grad2(lambda a, w, b: F.layer_norm(a, (3,), w, b), d(2, 3), d(3), d(3))",
    "grad2(lambda a, w, b: F.group_norm(a, 2, w, b), d(1, 4, 2), d(4), d(4))",
    *(f"grad(F.{name}, d(2, 5) * 4)" for name in _NAMES),
    *(
        f"grad2(F.{name}, d(2, 5) * 4)"
        for name in ("elu", "gelu", "silu", "mish", "softplus", "logsigmoid")
    ),
    "grad(lambda a: F.gelu(a, approximate='tanh'), d(5))",
    "grad(F.prelu, d(2, 3), d(3))",
    "grad(lambda a: F.leaky_relu_(a * 1), d(4))",
    "grad(lambda a: F.elu_(a * 1), d(4))",
    "grad(lambda a: F.hardtanh_(a * 1, -0.5, 0.5), d(4))",
    "grad(lambda a: F.silu(a * 1, inplace=True), d(4))",
]

_ERRORS = [
    "F.local_response_norm(x(1, 2, 3, 3).bfloat16(), 2)",
    "F.layer_norm(x(2, 3), (4,))",
    "F.layer_norm(x(2, 3), ())",
    "F.layer_norm(x(2, 3), (3,), x(4))",
    "F.layer_norm(x(2, 3), (3,), x(3), x(4))",
    "F.layer_norm(l(2, 3), (3,))",
    "F.layer_norm(x(2, 3), (3,), d(3))",
    "F.group_norm(x(2, 3), 2)",
    "F.group_norm(x(2, 4), 2, x(3))",
    "F.batch_norm(x(2, 3), x(4), x(3))",
    "F.batch_norm(x(2, 3), x(3), x(3), x(4))",
    "F.batch_norm(l(2, 3), x(3), x(3))",
    "F.batch_norm(x(2, 3), d(3), d(3))",
    "F.batch_norm(x(1, 3), None, None, training=True)",
    "F.rms_norm(x(2, 3), (4,))",
    "F.prelu(x(2, 3), x(2))",
    "F.glu(x(3))",
    "F.gelu(x(2), approximate='x')",
]

_NATIVE = [
    "op('_native_batch_norm_legit')(x(4, 3), x(3), x(3), x(3), x(3), True, 0.1, 1e-5)",
    "op('_native_batch_norm_legit')(x(4, 3), None, None, x(3), x(3, start=4), "
    "False, 0.1, 1e-5)",
    "op('_native_batch_norm_legit')(x(4, 3), x(3), x(3), True, 0.1, 1e-5)",
    "op('_native_batch_norm_legit_no_training')(x(4, 3), x(3), x(3), x(3), "
    "T.ones(3), 0.1, 1e-5)",
    "op('_batch_norm_with_update')(x(4, 3), x(3), x(3), x(3), x(3), 0.1, 1e-5)",
    "op('_batch_norm_no_update')(x(4, 3), x(3), x(3), x(3), T.ones(3), 0.1, 1e-5)[0]",
    "T.native_batch_norm(x(4, 3).half(), x(3), x(3), None, None, True, 0.1, 1e-5)",
    "T.native_batch_norm(x(4, 3).half(), None, None, None, None, True, 0.1, 1e-2)",
    "T.native_layer_norm(x(4, 3).bfloat16(), (3,), x(3), x(3), 1e-5)",
    "T.native_layer_norm(x(4, 3).bfloat16(), (3,), None, None, 1e-2)",
    "T.native_group_norm(x(4, 4, 1).half(), None, None, 4, 4, 1, 2, 1e-2)",
    "F.batch_norm(x(0), x(0), x(0))",
    "F.batch_norm(x(3), x(3), x(3))",
    "T.batch_norm(x(3), None, None, None, None, True, 0.1, 1e-5, False)",
]

CASES = cases(_NORM, _ACTIVATION, _GRADIENTS, _ERRORS, _NATIVE)
