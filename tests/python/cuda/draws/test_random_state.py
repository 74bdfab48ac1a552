"""Seeds and states of the generators of CUDA devices."""

from __future__ import annotations

import warnings

import pytest

import hotaru as torch


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def test_manual_seed_seeds_all_devices():
    torch.manual_seed(17)
    assert torch.initial_seed() == 17
    assert torch.cuda.initial_seed() == 17
    for generator in torch.cuda.default_generators:
        assert generator.initial_seed() == 17
    chosen = torch.seed()
    assert torch.cuda.initial_seed() == chosen == torch.initial_seed()
    torch.cuda.manual_seed_all(5)
    assert torch.cuda.initial_seed() == 5
    assert torch.initial_seed() == chosen
    torch.cuda.seed_all()
    assert torch.cuda.initial_seed() != 5


def test_seeds_of_one_device(two_devices):
    torch.manual_seed(1)
    with torch.cuda.device(1):
        torch.cuda.manual_seed(2)
        assert torch.cuda.initial_seed() == 2
    assert torch.cuda.initial_seed() == 1
    torch.cuda.seed()
    assert torch.cuda.initial_seed() != 1
    assert torch.cuda.default_generators[1].initial_seed() == 2
    torch.cuda.seed_all()
    first, second = (g.initial_seed() for g in torch.cuda.default_generators)
    assert first == second


@pytest.mark.parametrize("seed", [0, -1, 2**63, 2**64 - 1])
def test_all_seeds_of_64_bits(seed):
    torch.manual_seed(seed)
    assert torch.cuda.initial_seed() == seed % 2**64


def test_states_are_kept_and_given_back():
    torch.cuda.manual_seed(3)
    state = torch.cuda.get_rng_state()
    assert (state.dtype, state.device.type) == (torch.uint8, "cpu")
    assert state.numel() == 16
    torch.cuda.manual_seed(4)
    assert not torch.cuda.get_rng_state().equal(state)
    for device in (0, "cuda", "cuda:0", torch.device("cuda")):
        torch.cuda.manual_seed(4)
        torch.cuda.set_rng_state(state, device)
        assert torch.cuda.get_rng_state(device).equal(state)
        assert torch.cuda.initial_seed() == 3
    states = torch.cuda.get_rng_state_all()
    assert len(states) == torch.cuda.device_count()
    torch.manual_seed(8)
    torch.cuda.set_rng_state_all(states)
    assert torch.cuda.initial_seed() == 3


def test_wrong_states():
    with pytest.raises(TypeError, match="must be a torch"):
        torch.cuda.set_rng_state(torch.ones(16))
    with pytest.raises(RuntimeError, match="wrong size"):
        torch.cuda.set_rng_state(torch.zeros(3, dtype=torch.uint8))
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.get_rng_state(99)


def test_fork_rng_restores_all():
    before = torch.get_rng_state(), torch.cuda.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.random.fork_rng():
            torch.manual_seed(99)
    assert torch.get_rng_state().equal(before[0])
    assert torch.cuda.get_rng_state().equal(before[1])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(99)
    assert torch.get_rng_state().equal(before[0])
    assert torch.cuda.initial_seed() == 99
    with torch.random.fork_rng(enabled=False):
        torch.manual_seed(98)
    assert torch.initial_seed() == 98
    with (
        pytest.raises(RuntimeError, match="torch has no module of `abacus`"),
        torch.random.fork_rng(device_type="abacus"),
    ):
        pass


def test_fork_rng_warns_of_several_devices(two_devices, run):
    printed = run(
        "import warnings\n"
        "import hotaru as torch\n"
        "for _ in range(2):\n"
        "    with warnings.catch_warnings(record=True) as seen:\n"
        "        warnings.simplefilter('always')\n"
        "        with torch.random.fork_rng():\n"
        "            pass\n"
        "        with torch.random.fork_rng(devices=iter([0, 1])):\n"
        "            pass\n"
        "    print([str(w.message)[:53] for w in seen])\n"
    )
    assert printed.splitlines() == [
        "['CUDA reports that you have 2 available devices, and y']",
        "[]",
    ]


def test_generators_of_ones_own():
    generator = torch.Generator(device="cuda")
    assert generator.device == torch.device("cuda:0")
    assert generator.manual_seed(6) is generator
    assert generator.initial_seed() == 6
    assert torch.cuda.initial_seed() == 0


def test_draws_repeat():
    torch.manual_seed(0)
    first = torch.rand(1000, device="cuda")
    torch.manual_seed(0)
    assert torch.rand(1000, device="cuda").equal(first)
    assert not torch.rand(1000, device="cuda").equal(first)


BEGIN = {
    "operator": "pass",
    "count": "torch.cuda.device_count()",
    "init": "torch.cuda.init()",
    "use": "torch.ones(2, device='cuda')",
    "move": "torch.ones(2).cuda()",
}


@pytest.mark.parametrize("begin", sorted(BEGIN))
def test_seeds_before_cuda_begins_count(run, begin):
    """Also where an operator is what begins to use CUDA."""
    program = (
        "import hotaru as torch\n"
        "torch.manual_seed(7)\n"
        f"{BEGIN[begin]}\n"
        "print(torch.rand(3, device='cuda').tolist())\n"
        "print(torch.cuda.initial_seed())\n"
    )
    torch.manual_seed(7)
    drawn = torch.rand(3, device="cuda").tolist()
    assert run(program) == f"{drawn}\n7\n"


def test_seeds_and_states_before_cuda_begins_run_in_their_order(run):
    printed = run(
        "import hotaru as torch\n"
        "state = torch.tensor([9] + [0] * 15, dtype=torch.uint8)\n"
        "torch.manual_seed(7)\n"
        "torch.cuda.set_rng_state(state)\n"
        "print(torch.cuda.initial_seed())\n"
    )
    assert printed == "9\n"
    printed = run(
        "import hotaru as torch\n"
        "state = torch.tensor([9] + [0] * 15, dtype=torch.uint8)\n"
        "torch.cuda.set_rng_state(state)\n"
        "torch.cuda.manual_seed(3)\n"
        "torch.manual_seed(7)\n"
        "print(torch.cuda.initial_seed())\n"
    )
    assert printed == "7\n"


def test_failure_of_what_waited_says_where_it_was_asked_for(run):
    printed = run(
        "import hotaru as torch\n"
        "def ask():\n"
        "    torch.cuda.set_rng_state(torch.zeros(3, dtype=torch.uint8))\n"
        "ask()\n"
        "try:\n"
        "    torch.cuda.init()\n"
        "except torch.cuda.DeferredCudaCallError as error:\n"
        "    print(str(error))\n"
        "torch.cuda.init()\n"
    )
    assert printed.startswith("CUDA call failed lazily at initialization with error: ")
    assert "CUDA call was originally invoked at:" in printed
    assert "in ask" in printed
