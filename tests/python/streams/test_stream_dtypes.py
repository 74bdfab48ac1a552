"""A dtype that an operator has no code for is an error of the call, whatever
the stream: on a queued one nothing of it is left to its synchronisation.
"""

import pytest

import hotaru as torch

F = torch.nn.functional
nn = torch.nn
DTYPES = [
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "bool",
    "complex64",
    "complex128",
]


def index(*shape):
    return torch.zeros(shape, dtype=torch.int64)


def calls(scope, names, operands, suffix=""):
    """A case for each named function: its call with `operands(x)`."""

    def case(function):
        return lambda x: function(*operands(x))

    return {name + suffix: case(getattr(scope, name)) for name in names.split()}


# Operators of a square matrix of any dtype.
CASES = {
    **calls(
        torch,
        "abs acos acosh angle asin asinh atan atanh bitwise_not ceil cos "
        "cosh deg2rad digamma erf erfc exp exp2 expm1 floor frac "
        "isfinite isinf isnan isneginf isposinf lgamma log log10 log1p log2 "
        "logical_not neg positive reciprocal round rsqrt sgn sigmoid sign "
        "signbit sin sinc sinh sqrt square tan tanh trunc nan_to_num "
        "rad2deg logit sum prod mean std var max min amax amin argmax "
        "argmin all any median count_nonzero nonzero sort argsort flatten "
        "msort std_mean var_mean tril triu t",
        lambda x: (x,),
    ),
    **calls(
        torch,
        "add sub mul div true_divide floor_divide remainder fmod pow atan2 "
        "bitwise_and bitwise_or bitwise_xor eq ne lt le gt ge maximum "
        "minimum fmax fmin logical_and logical_or logical_xor hypot "
        "copysign logaddexp logaddexp2 xlogy "
        "heaviside ldexp bitwise_left_shift bitwise_right_shift dist cdist "
        "matmul mm kron",
        lambda x: (x, x),
        ".2",
    ),
    **calls(
        torch,
        "max min median mode sort cumsum cumprod cummax cummin logcumsumexp "
        "logsumexp softmax log_softmax flip roll unbind diff amax amin "
        "argmax argmin std var",
        lambda x: (x, 0),
        ".dim",
    ),
    **calls(
        torch.linalg,
        "cholesky inv det slogdet qr vector_norm svd svdvals eigh eigvalsh "
        "eig eigvals lu lu_factor ldl_factor matrix_exp pinv matrix_rank",
        lambda x: (x,),
        ".linalg",
    ),
    **calls(
        F,
        "relu relu6 gelu silu mish elu selu celu hardtanh hardswish "
        "hardsigmoid leaky_relu logsigmoid softplus softsign tanhshrink "
        "softshrink hardshrink rrelu dropout glu normalize",
        lambda x: (x,),
    ),
    **calls(
        F,
        "l1_loss mse_loss smooth_l1_loss huber_loss kl_div "
        "binary_cross_entropy binary_cross_entropy_with_logits "
        "soft_margin_loss poisson_nll_loss multilabel_soft_margin_loss "
        "cosine_similarity pairwise_distance linear",
        lambda x: (x, x),
    ),
    **calls(F, "nll_loss cross_entropy multi_margin_loss", lambda x: (x, index(4))),
    "multilabel_margin": lambda x: F.multilabel_margin_loss(x, index(4, 4)),
    "topk": lambda x: torch.topk(x, 2),
    "kthvalue": lambda x: torch.kthvalue(x, 2),
    "clamp": lambda x: torch.clamp(x, 0, 1),
    "lerp": lambda x: torch.lerp(x, x, 0.5),
    "addcmul": lambda x: torch.addcmul(x, x, x),
    "addcdiv": lambda x: torch.addcdiv(x, x, x),
    "addmm": lambda x: torch.addmm(x, x, x),
    "baddbmm": lambda x: torch.baddbmm(x[None], x[None], x[None]),
    "where": lambda x: torch.where(x == x, x, x),
    "solve": lambda x: torch.linalg.solve(x, x),
    "bincount": lambda x: torch.bincount(x[0]),
    "searchsorted": lambda x: torch.searchsorted(x, x),
    "bucketize": lambda x: torch.bucketize(x, x[0]),
    "multinomial": lambda x: torch.multinomial(x, 2),
    "bernoulli": lambda x: torch.bernoulli(x),
    "gather": lambda x: torch.gather(x, 0, index(2, 2)),
    "scatter": lambda x: x.scatter(0, index(2, 2), x),
    "scatter_add": lambda x: x.scatter_add(0, index(2, 2), x),
    "index_add": lambda x: x.index_add(0, index(4), x),
    "index_copy": lambda x: x.index_copy(0, index(4), x),
    "index_fill": lambda x: x.index_fill(0, index(4), 1),
    "index_put": lambda x: x.index_put((index(4),), x, accumulate=True),
    "masked_fill": lambda x: x.masked_fill(x == x, 1),
    "masked_scatter": lambda x: x.masked_scatter(x == x, x),
    "embedding": lambda x: F.embedding(index(3), x),
    "polygamma": lambda x: torch.polygamma(1, x),
    "diag_embed": lambda x: torch.diag_embed(x),
    "einsum": lambda x: torch.einsum("ij,jk->ik", x, x),
    **{
        "scatter_reduce." + how: (
            lambda x, how=how: x.scatter_reduce(0, index(4, 4), x, how)
        )
        for how in ("sum", "prod", "mean", "amax", "amin")
    },
    **{
        draw: (lambda x, draw=draw: getattr(x.clone(), draw)())
        for draw in ("uniform_", "normal_", "exponential_", "random_", "bernoulli_")
    },
    # Windows and layers.
    "conv1d": lambda x: F.conv1d(x[None], x[None]),
    "conv2d": lambda x: F.conv2d(x[None, None], x[None, None, :2, :2]),
    "conv_transpose1d": lambda x: F.conv_transpose1d(x[None], x[:, :, None]),
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "max_pool2d": lambda x: F.max_pool2d(x[None], 2),
    "max_pool3d": lambda x: F.max_pool3d(x[None, None], (1, 2, 2)),
    "avg_pool1d": lambda x: F.avg_pool1d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x[None], 2),
    "avg_pool3d": lambda x: F.avg_pool3d(x[None, None], (1, 2, 2)),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x[None], 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x[None], 2),
    "fractional_max_pool2d": lambda x: F.fractional_max_pool2d(
        x[None, None], 2, output_size=2, _random_samples=x[None, :1, :2]
    ),
    "max_unpool2d": lambda x: F.max_unpool2d(x[None, None], index(1, 1, 4, 4), 2),
    "lp_pool1d": lambda x: F.lp_pool1d(x, 2, 2),
    "pad": lambda x: F.pad(x, (1, 1)),
    "pad.reflect": lambda x: F.pad(x, (1, 1), "reflect"),
    "interpolate.nearest": lambda x: F.interpolate(x[None], 8),
    "interpolate.linear": lambda x: F.interpolate(x[None], 8, mode="linear"),
    "interpolate.bicubic": lambda x: F.interpolate(x[None, None], 8, mode="bicubic"),
    "grid_sample": lambda x: F.grid_sample(x[None, None], x.reshape(1, 4, 2, 2)),
    "affine_grid": lambda x: F.affine_grid(x[None, :2, :3], (1, 1, 3, 3)),
    "unfold": lambda x: F.unfold(x[None, None], 2),
    "fold": lambda x: F.fold(x[None], (3, 3), 2),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "group_norm": lambda x: F.group_norm(x[None], 2),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "instance_norm": lambda x: F.instance_norm(x[None]),
    "rms_norm": lambda x: F.rms_norm(x, (4,)),
    "local_response_norm": lambda x: F.local_response_norm(x[None], 2),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
    "ctc_loss": lambda x: F.ctc_loss(x[:, None], index(1, 1), [4], [0]),
    "cosine_embedding_loss": lambda x: F.cosine_embedding_loss(x, x, torch.ones(4)),
    "lstm": lambda x: nn.LSTM(4, 4)(x[None]),
    "gru_cell": lambda x: nn.GRUCell(4, 4)(x),
    # Functions of the dtype alone.
    "arange": lambda x: torch.arange(4, dtype=x.dtype),
    "linspace": lambda x: torch.linspace(0, 1, 4, dtype=x.dtype),
    "logspace": lambda x: torch.logspace(0, 1, 4, dtype=x.dtype),
    "eye": lambda x: torch.eye(4, dtype=x.dtype),
    "randint": lambda x: torch.randint(2, (4,), dtype=x.dtype),
    "randperm": lambda x: torch.randperm(4, dtype=x.dtype),
    "rand": lambda x: torch.rand(4, dtype=x.dtype),
    "normal": lambda x: torch.normal(x, 1.0),
}


def outcome(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "fine"


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("name", CASES)
def test_a_missing_dtype_is_an_error_of_the_call(name):
    operator = CASES[name]
    wants = set()
    for dtype in DTYPES:
        x = torch.eye(4).to(getattr(torch, dtype))
        want = outcome(lambda x=x: operator(x))
        if "ZeroDivisionError" in want:  # about a value, so late
            continue
        stream = torch.cpu.Stream()
        with stream:
            found = outcome(lambda x=x: operator(x))
        assert found == want, dtype
        assert outcome(stream.synchronize) == "fine", dtype
        wants.add(want)
    assert "fine" in wants
