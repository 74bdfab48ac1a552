"""Functions of nn.functional, compiled, do what they do in Python."""

import inspect
import re
import warnings

import hotaru.nn.functional as F
import pytest

import hotaru as torch

A = torch.linspace(0.05, 0.95, 12).reshape(4, 3)
B = A.flip(0)
SIGNS = (A > 0.5).float() * 2 - 1
CLASSES = torch.tensor([0, 1, 2, 0])
PICTURE = torch.linspace(-1, 1, 96).reshape(2, 3, 4, 4)

LOSSES = {
    "l1_loss": (A, B),
    "mse_loss": (A, B),
    "smooth_l1_loss": (A, B),
    "huber_loss": (A, B),
    "cross_entropy": (A, CLASSES),
    "nll_loss": (A, CLASSES),
    "binary_cross_entropy": (A, B),
    "binary_cross_entropy_with_logits": (A, B),
    "kl_div": (A.log(), B),
    "poisson_nll_loss": (A, B),
    "gaussian_nll_loss": (A, B, A),
    "hinge_embedding_loss": (A, SIGNS),
    "margin_ranking_loss": (A, B, SIGNS),
    "cosine_embedding_loss": (A, B, SIGNS[:, 0]),
    "soft_margin_loss": (A, SIGNS),
    "multilabel_margin_loss": (A, torch.ones(4, 3).long()),
    "multilabel_soft_margin_loss": (A, B),
    "multi_margin_loss": (A, CLASSES),
    "triplet_margin_loss": (A, B, A * 2),
}
OPTIONS = [
    {},
    *({"reduction": name} for name in ("none", "mean", "sum", "average")),
    *(
        {"size_average": first, "reduce": second}
        for first, second in ((True, None), (False, None), (None, False))
    ),
]
CALLS = {
    "broadcast target": (F.mse_loss, A, B[0]),
    "number as variance": (F.gaussian_nll_loss, A, B, 0.5),
    "variance a row": (F.gaussian_nll_loss, A, B, A[:, 0]),
    "negative variance": (F.gaussian_nll_loss, A, B, -A),
    "variance of no shape": (F.gaussian_nll_loss, A, B, A[:2]),
    "implicit dim": (F.softmax, A),
    "wrong bounds": (F.hardtanh, A, 2.0, 1.0),
    "rrelu in place": (F.rrelu, A - 0.5, 0.1, 0.3, True, True),
    "dropout1d of 4 axes": (F.dropout1d, PICTURE),
    "dropout2d of 2 axes": (F.dropout2d, A),
    "wrong probability": (F.dropout, A, 1.5),
    "padding outside": (F.embedding, CLASSES, A, 7),
    "renorm": (F.embedding, CLASSES, A * 9, None, 1.0),
    "bags": (F.embedding_bag, CLASSES.reshape(-1, 1), A),
    "bags of any length": (
        F.embedding_bag,
        CLASSES,
        A,
        CLASSES[:1] * 0,
        None,
        2.0,
        False,
        "max",
    ),
    "bags without offsets": (F.embedding_bag, CLASSES, A),
    "bags of no mode": (F.embedding_bag, CLASSES[None], A, None, None, 2.0, False, "z"),
    "grid mode": (F.grid_sample, PICTURE, PICTURE[:, :2, :, :2], "linear"),
    "grid padding": (
        F.grid_sample,
        PICTURE,
        PICTURE[:, :2, :, :2],
        "nearest",
        "reflection",
        True,
    ),
    "fold": (F.fold, F.unfold(PICTURE, 2), 4, [2, 2]),
    "lp_pool of each size": (F.lp_pool2d, PICTURE, 2.0, [2, 3], 1, True),
    "lp_pool of one size": (F.lp_pool2d, PICTURE, 4.0, 2),
    "largest lp_pool": (F.lp_pool2d, PICTURE, float("inf"), 2),
    "least lp_pool": (F.lp_pool1d, PICTURE[0], -float("inf"), 2),
    "antialias": (*(F.interpolate, PICTURE, 2, None, "bilinear"), *(None, None, True)),
    "upsample": (F.upsample, PICTURE, None, 2.0, "bilinear", True),
}


def plain(text) -> str:
    """The text with sizes shown as the lists that they are when compiled."""
    return re.sub(r"torch\.Size\((\[.*?\])\)", r"\1", str(text))


def outcome(function, args, options) -> tuple:
    """(result or error, texts of warnings, first argument afterwards)."""
    args = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args, **options)
        except Exception as error:
            result = error
    return result, [plain(w.message) for w in caught], args[0]


def check(function, args, options) -> None:
    compiled = torch.jit.script(function)
    expected, warned, left = outcome(function, args, options)
    got, told, remains = outcome(compiled, args, options)
    assert told == warned
    if isinstance(expected, Exception):
        assert isinstance(got, Exception)
        assert str(got).endswith(plain(expected))
        return
    assert torch.equal(got, expected)
    assert torch.equal(remains, left)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_compiled_loss_is_the_loss(name, options):
    if "reduce" in options and name in ("huber_loss", "gaussian_nll_loss"):
        options = {"reduction": "sum"}  # they are younger than the flags
    check(getattr(F, name), LOSSES[name], options)


@pytest.mark.parametrize("name", CALLS)
def test_compiled_function_is_the_function(name):
    function, *args = CALLS[name]
    check(function, args, {})


MODES = (
    "nearest",
    "nearest-exact",
    "area",
    "linear",
    "bilinear",
    "bicubic",
    "trilinear",
    "cubic",
)


@pytest.mark.parametrize("axes", [1, 2, 3, 4])
@pytest.mark.parametrize("mode", MODES)
def test_compiled_interpolation_is_the_function(mode, axes):
    torch.manual_seed(0)
    x = torch.randn([1, 2, 3, 4, 2, 3][: axes + 2])
    targets = (
        *((None, None), (5, None), (None, 1.7)),
        *(([4] * axes, None), (None, [0.7] * axes)),
        *(([4] * (axes + 1), None), (None, [1.5] * (axes + 1))),
        ([4] * axes, [1.5] * axes),
    )
    flags = ((True, None), (False, None), (None, True))
    calls = [(*target, mode) for target in targets]
    calls += [(*targets[i], mode, *pair) for i in (1, 2) for pair in flags]
    for call in calls:
        check(F.interpolate, (x, *call), {})


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("size", [2, [None, 3], [3, 1]], ids=str)
def test_compiled_adaptive_pool_picks_by_flag(size, flag):
    layer = torch.nn.AdaptiveMaxPool2d(size, return_indices=flag)
    got, expected = torch.jit.script(layer)(PICTURE), layer(PICTURE)
    if not flag:
        got, expected = [got], [expected]
    assert len(got) == len(expected)
    assert all(torch.equal(a, b) for a, b in zip(got, expected))


def test_attention_can_be_compiled_as_a_function():
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(4, 2)

    def attend(x: torch.Tensor, weight: torch.Tensor, out: torch.Tensor):
        return F.multi_head_attention_forward(
            x, x, x, 4, 2, weight, None, None, None, False, 0.0, out, None
        )

    args = torch.ones(3, 1, 4), layer.in_proj_weight, layer.out_proj.weight
    output, weights = torch.jit.script(attend)(*args)
    expected = attend(*args)
    assert torch.equal(output, expected[0])
    assert torch.equal(weights, expected[1])


@torch.jit.script
def _tensordot_by_lists(a, b, dim: int):
    return torch.tensordot(a, b, ([dim], [1]))


@torch.jit.script
def _tensordot_by_nested_lists(a, b):
    return torch.tensordot(a, b, [[1], [0]])


@torch.jit.script
def _tensordot_by_tensor(a, b):
    return torch.tensordot(a, b, torch.tensor(1))


@torch.jit.script
def _tensordot_by_count(a, b):
    return torch.tensordot(a, b, 1) + torch.tensordot(a, b)


@torch.jit.script
def _tensordot_into(a, b, out: torch.Tensor | None):
    return torch.functional.tensordot(a, b, ([1], [0]), out=out)


@torch.jit.script
def _normalized_into(a, b, out: torch.Tensor | None):
    return torch.nn.functional.normalize(a @ b, out=out)


def test_results_go_where_they_are_told():
    a, b = A[:3], B[1:]
    wanted = (a @ b, torch.nn.functional.normalize(a @ b))
    for function, value in zip((_tensordot_into, _normalized_into), wanted):
        out = torch.empty(0)
        assert function(a, b, out) is out
        torch.testing.assert_close(out, value)
        torch.testing.assert_close(function(a, b, None), value)


def test_library_functions_take_what_python_takes():
    """Signatures of what is written anew for compiled code."""
    from hotaru.jit._library import functional, torch_level

    def names_of(function):
        return list(inspect.signature(function).parameters)

    for library, home in ((functional, torch.nn.functional), (torch_level, torch)):
        for name, function in vars(library).items():
            python = getattr(home, name, None)
            public = inspect.isfunction(function) and not name.startswith("_")
            if public and inspect.isfunction(python):
                assert names_of(function) == names_of(python), name


def test_dims_of_tensordot_are_all_that_python_takes():
    a, b = A[:3], B[1:]
    close = torch.testing.assert_close
    close(_tensordot_by_lists(a, b, 0), a.t() @ b.t())
    close(_tensordot_by_nested_lists(a, b), a @ b)
    close(_tensordot_by_tensor(a, b), a @ b)
    close(_tensordot_by_count(a, b), a @ b + (a * b).sum())


SIZED = {"output_size": 3, "output_ratio": 0.6}


@pytest.mark.parametrize("indices", [False, True])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("size", SIZED)
@pytest.mark.parametrize("axes", [2, 3])
def test_fractional_pools(axes, size, given, indices):
    x = torch.linspace(-1, 1, 6**axes * 2).cos().reshape(1, 2, *[6] * axes)
    samples = torch.linspace(0, 0.9, 2 * axes).reshape(1, 2, axes)
    pool = getattr(torch.nn, f"FractionalMaxPool{axes}d")(
        2,
        **{size: SIZED[size]},
        return_indices=indices,
        _random_samples=samples if given else None,
    )
    compiled = torch.jit.script(pool)
    torch.manual_seed(4)
    expected = pool(x)
    torch.manual_seed(4)
    found = compiled(x)
    torch.manual_seed(4)  # without a batch, and sizes for each axis
    assert compiled(x[0])[0].shape == pool(x[0])[0].shape
    if not indices:
        expected, found = (expected,), (found,)
    assert type(found) is tuple
    for a, b in zip(found, expected, strict=True):
        assert a.shape[2:] == (3,) * axes
        assert torch.equal(a, b)


def test_fractional_pools_as_functions():
    def pool(x):
        values = F.fractional_max_pool2d(x, 2, (2, 3))
        places = F.fractional_max_pool2d(x, 2, 3, return_indices=True)[1]
        return values, places, F.fractional_max_pool2d_with_indices(x, 2, 2)

    def without_a_size(x):
        return F.fractional_max_pool2d(x, 2)

    torch.manual_seed(4)
    values, places, (more, _) = torch.jit.script(pool)(PICTURE)
    torch.manual_seed(4)
    expected = pool(PICTURE)
    assert torch.equal(values, expected[0])
    assert torch.equal(places, expected[1])
    assert torch.equal(more, expected[2][0])
    with pytest.raises(Exception, match="either an output_size or an output_r"):
        torch.jit.script(without_a_size)(PICTURE)
