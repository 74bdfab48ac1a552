"""Errors on a machine without a GPU, and in a forked process."""

from __future__ import annotations

import pytest

import hotaru as torch

NOWHERE = "/nonexistent/libcuda.so"
HEAD = """
import hotaru as torch
def told(f):
    try:
        f()
    except Exception as error:
        print(type(error).__name__, str(error).split("\\n")[0])
    else:
        print("no error")
"""


@pytest.mark.parametrize(
    "use",
    [
        "torch.ones(2).cuda()",
        "torch.ones(2, device='cuda')",
        "torch.ones(2).to('cuda')",
        "torch.ones(2).pin_memory()",
        "torch.nn.Linear(2, 2).cuda()",
        "torch.nn.Linear(2, 2).to('cuda')",
        "torch.cuda.init()",
        "torch.cuda.current_device()",
        "torch.cuda.set_device(0)",
        "torch.cuda.device(0).__enter__()",
        "torch.cuda.get_device_properties(0)",
        "torch.cuda.synchronize()",
        "torch.cuda.Stream()",
        "torch.cuda.Event().record()",
        "torch.cuda.current_stream()",
        "torch.cuda.mem_get_info()",
        "torch.cuda.reset_peak_memory_stats()",
        "torch.cuda.get_rng_state()",
        "torch.Generator('cuda')",
    ],
)
def test_uses_say_that_there_is_no_driver(run, use):
    printed = run(f"{HEAD}told(lambda: {use})", HOTARU_CUDA_DRIVER=NOWHERE)
    assert printed.startswith(
        "RuntimeError Found no NVIDIA driver on your system. Please check that "
        "you have an NVIDIA GPU and installed a driver from "
        "http://www.nvidia.com/Download/index.aspx"
    )


def test_questions_have_answers_without_a_driver(run):
    printed = run(
        "import hotaru as torch\n"
        "cuda = torch.cuda\n"
        "print(cuda.is_available(), cuda.device_count(), cuda.memory_stats())\n"
        "print(cuda.memory_allocated(), cuda.is_initialized())\n"
        "print(cuda.is_bf16_supported(), cuda.get_rng_state_all())\n"
        "cuda.empty_cache()\n"
        "cuda.manual_seed(1)\n"
        "torch.manual_seed(1)\n"
        "cuda.seed_all()\n"
        "with cuda.device(None), cuda.device(-1), torch.random.fork_rng():\n"
        "    print(torch.accelerator.current_accelerator())\n"
        "print(torch.version.cuda, torch.ones(2).is_pinned())\n"
        "print(cuda.Event(), torch.accelerator.memory_allocated())\n",
        HOTARU_CUDA_DRIVER=NOWHERE,
    )
    assert printed.splitlines() == [
        "False 0 OrderedDict()",
        "0 False",
        "False []",
        "None",
        "None False",
        "<torch.cuda.Event uninitialized> 0",
    ]


def test_accelerator_without_a_device(run):
    printed = run(
        f"{HEAD}"
        "told(lambda: torch.accelerator.set_device_index(0))\n"
        "told(lambda: torch.accelerator.get_memory_info())\n"
        "told(lambda: torch.accelerator.set_device_index('cuda:0'))\n",
        HOTARU_CUDA_DRIVER=NOWHERE,
    )
    none = "RuntimeError Cannot access accelerator device when none is available."
    assert printed.splitlines() == [none, none, "RuntimeError Accelerator expected"]


def test_loader_warns_and_does_not_pin(run):
    printed = run(
        "import warnings\n"
        "import hotaru as torch\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    loader = torch.utils.data.DataLoader([1, 2], pin_memory=True)\n"
        "    print([b.is_pinned() for b in loader], seen[0].message)\n",
        HOTARU_CUDA_DRIVER=NOWHERE,
    )
    assert printed == (
        "[False, False] 'pin_memory' argument is set as true but no "
        "accelerator is found, then device pinned memory won't be used.\n"
    )


def test_wrong_kinds_of_device_need_no_driver():
    with pytest.raises(RuntimeError, match="Invalid device, must be cuda device"):
        torch.ones(2).cuda("cpu")


def test_a_forked_child_is_told(run):
    printed = run(
        f"{HEAD}"
        "import os, sys\n"
        "torch.ones(2, device='cuda')\n"
        "sys.stdout.flush()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    told(lambda: torch.ones(2, device='cuda'))\n"
        "    told(lambda: torch.cuda.init())\n"
        "    told(lambda: torch.cuda.current_stream())\n"
        "    told(lambda: torch.manual_seed(1))\n"
        "    print(torch.cuda.is_initialized(), torch.ones(2) + 1)\n"
        "    sys.stdout.flush()\n"
        "    os._exit(0)\n"
        "print(os.waitpid(child, 0)[1], torch.ones(2, device='cuda'))\n",
        HOTARU_CUDA_DRIVER="soft",
    )
    bad_fork = (
        "RuntimeError Cannot re-initialize CUDA in forked subprocess. To use "
        "CUDA with multiprocessing, you must use the 'spawn' start method"
    )
    assert printed.splitlines() == [
        bad_fork,
        bad_fork,
        bad_fork,
        "no error",
        "False tensor([2., 2.])",
        "0 tensor([1., 1.], device='cuda:0')",
    ]


def test_a_child_uses_cuda_that_its_parent_only_asked_about(run):
    printed = run(
        "import os, sys\n"
        "import hotaru as torch\n"
        "torch.manual_seed(0)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    print(torch.ones(2, device='cuda') + 1)\n"
        "    sys.stdout.flush()\n"
        "    os._exit(0)\n"
        "print(os.waitpid(child, 0)[1])\n",
        HOTARU_CUDA_DRIVER="soft",
    )
    assert printed == "tensor([2., 2.], device='cuda:0')\n0\n"


def test_profiles_say_that_there_is_no_device(run):
    printed = run(
        "import warnings, hotaru as torch\n"
        "from hotaru.profiler import ProfilerActivity as A, profile\n"
        "both = [A.CPU, A.CUDA]\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        "    with profile(activities=both) as prof:\n"
        "        torch.ones(2).exp()\n"
        "    older = torch.autograd.profiler.profile(use_device='cuda')\n"
        "    with older:\n"
        "        torch.ones(2).exp()\n"
        "print([str(w.message) for w in told])\n"
        "for p in (prof, older):\n"
        "    table = p.key_averages().table(sort_by='cuda_time_total')\n"
        "    print(p.use_device, 'aten::exp' in table, 'CUDA' in table)\n"
        "print(torch.profiler.supported_activities())\n",
        HOTARU_CUDA_DRIVER=NOWHERE,
    )
    warning = "CUDA is not available, disabling CUDA profiling"
    assert printed.splitlines() == [
        str([warning, warning]),
        "None True False",
        "None True False",
        "{<ProfilerActivity.CPU: 0>}",
    ]


def test_a_profile_opens_no_driver(run):
    printed = run(
        "import hotaru as torch\n"
        "with torch.profiler.profile():\n"
        "    torch.ones(2).exp()\n"
        "with open('/proc/self/maps') as maps:\n"
        "    print('libhotaru_cuda' in maps.read())\n",
        HOTARU_CUDA_DRIVER="soft",
    )
    assert printed == "False\n"
