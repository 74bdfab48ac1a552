"""Steps of float64 parameters have float64's digits, whatever the options are
given as: numbers, tensors, for all parameters at once or one by one. The values
are PyTorch 2.13's.
"""

from __future__ import annotations

import pytest

import hotaru as torch

CASES = [
    (
        "SGD",
        {"momentum": 0.9, "dampening": 0.3},
        [
            0.48942277179891375,
            -2.2698477281343776,
            0.09575193119024451,
            6.435895321884305,
        ],
    ),
    (
        "SGD",
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        [
            -0.2817868484226188,
            -2.000366912662861,
            -0.3847341997162587,
            3.0911815868250256,
        ],
    ),
    (
        "SGD",
        {"maximize": True},
        [1.411015721692318, -1.0822135213270307, 0.6069768231922962, 2.613695608070225],
    ),
    (
        "Adam",
        {},
        [
            0.9106890217946583,
            -2.330398687086274,
            0.28996492831065346,
            4.239044756177609,
        ],
    ),
    (
        "Adam",
        {"amsgrad": True, "weight_decay": 0.1},
        [
            0.8831011821076604,
            -2.3082470059285414,
            0.2804181135071758,
            4.228307890207374,
        ],
    ),
    (
        "Adam",
        {"maximize": True},
        [
            1.1189999010819682,
            -1.6130353261478394,
            0.23198971998050139,
            3.670471764736753,
        ],
    ),
    (
        "AdamW",
        {},
        [0.9061472353802545, -2.329749423186383, 0.2885871823788936, 4.232845025004401],
    ),
    (
        "AdamW",
        {"amsgrad": True, "maximize": True},
        [
            1.115128642748025,
            -1.6056209264718697,
            0.23101268156250387,
            3.662077058777423,
        ],
    ),
    (
        "Adagrad",
        {"lr_decay": 0.01},
        [
            0.8338686765656707,
            -2.2528613968695694,
            0.18171786608937845,
            4.1360980016483095,
        ],
    ),
    (
        "Adagrad",
        {"initial_accumulator_value": 0.1, "weight_decay": 0.1, "maximize": True},
        [
            1.1815087315426498,
            -1.6661526630074677,
            0.38674009234003315,
            3.796050270335316,
        ],
    ),
    (
        "RMSprop",
        {},
        [4.339164232293343, -5.243814600246626, 3.2443842533014835, 3.6809459383933976],
    ),
    (
        "RMSprop",
        {"momentum": 0.9, "centered": True, "weight_decay": 0.1},
        [8.11106361244186, -6.674711754238246, 5.807940405555571, 4.191085092817775],
    ),
    (
        "Adadelta",
        {},
        [0.9986390703881728, -2.001721729018157, 0.2991864086162787, 4.001159761014281],
    ),
    (
        "Adadelta",
        {"weight_decay": 0.1, "maximize": True},
        [
            1.0013122444703726,
            -1.9983045363122356,
            0.3007690511461134,
            3.9988315159152634,
        ],
    ),
    (
        "Adamax",
        {},
        [
            0.9796327840140956,
            -2.300965024633132,
            0.33305459868209814,
            4.2186314323900875,
        ],
    ),
    (
        "Adamax",
        {"weight_decay": 0.1, "maximize": True},
        [
            1.0334497918821017,
            -1.682908134613601,
            0.21122641306593848,
            3.7031489480191477,
        ],
    ),
    (
        "NAdam",
        {},
        [
            0.7948513061640986,
            -2.2797903063370826,
            0.15151301223049396,
            4.14391090983843,
        ],
    ),
    (
        "NAdam",
        {"decoupled_weight_decay": True, "weight_decay": 0.1},
        [
            0.7544830900367309,
            -2.244423354668896,
            0.13931007195936412,
            4.089292300866207,
        ],
    ),
    (
        "RAdam",
        {},
        [0.7656579284375997, -2.293326183101936, 0.23158837255589643, 4.89570189961568],
    ),
    (
        "RAdam",
        {"decoupled_weight_decay": True, "weight_decay": 0.1},
        [
            0.7206302181376958,
            -2.2834578925937254,
            0.2198550195078222,
            5.743407392288237,
        ],
    ),
    (
        "ASGD",
        {},
        [
            0.4639594357503567,
            -2.2767273817069915,
            -0.016468748228463812,
            5.090546732285992,
        ],
    ),
    (
        "ASGD",
        {"lambd": 0.01, "t0": 2, "weight_decay": 0.1},
        [
            0.42058072379450373,
            -2.2689754697824047,
            -0.02497170581113807,
            5.120718155269094,
        ],
    ),
    ("Rprop", {}, [0.99, -2.2800000000000002, 0.29000000000000004, 4.16]),
    (
        "Rprop",
        {"maximize": True},
        [1.01, -1.4631999999999998, 0.31, 3.6359999999999997],
    ),
    (
        "Adafactor",
        {},
        [
            1.8330067357102597,
            -2.274957226300999,
            0.09812095290657534,
            4.154080486010022,
        ],
    ),
    (
        "Adafactor",
        {"weight_decay": 0.1},
        [1.769489896144569, -2.27791070975017, 0.0814262985637739, 4.068431990234657],
    ),
]

WAYS = [{}, {"foreach": True}, {"foreach": False}]
FUSED = {"SGD", "Adam", "AdamW", "Adagrad"}


def stepped(name, **options):
    p = torch.tensor([[1.0, -2.0], [0.3, 4.0]], dtype=torch.float64)
    p.requires_grad_()
    optimizer = getattr(torch.optim, name)([p], **options)
    for i in range(4):
        optimizer.zero_grad()
        ((p * p).sin() + p * (i - 1.3)).sum().backward()
        optimizer.step()
    return p.detach().flatten()


@pytest.mark.parametrize(("name", "options", "want"), CASES)
@pytest.mark.parametrize("tensor", [False, True], ids=["number", "tensor"])
def test_last_digits(name, options, want, tensor):
    ways = list(WAYS)
    if name in FUSED:
        ways.append({"fused": True})
    for way in ways:
        rate = torch.tensor(0.1, dtype=torch.float64) if tensor else 0.1
        if tensor and way.get("foreach") and name != "SGD":
            continue  # refused: a tensor as rate needs capturable
        if name == "Adafactor" and way.get("foreach"):
            continue
        got = stepped(name, lr=rate, **options, **way)
        torch.testing.assert_close(
            got, torch.tensor(want, dtype=torch.float64), rtol=2e-15, atol=1e-15
        )


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_last_digits_of_tensors_as_betas(name):
    betas = [torch.tensor(b, dtype=torch.float64) for b in (0.9, 0.999)]
    for way in ({}, {"fused": True}, {"foreach": False}):
        got = stepped(name, lr=0.1, betas=tuple(betas), **way)
        want = stepped(name, lr=0.1)
        torch.testing.assert_close(got, want, rtol=2e-15, atol=1e-15)


def test_a_rate_of_float32_is_its_own_number():
    rate = torch.tensor(0.1)
    got = stepped("Adam", lr=rate)
    assert torch.equal(got, stepped("Adam", lr=rate.item()))
