"""Switches, filters and errors of PyTorch's compiler: programs set and read
them; PyTorch 2.13 and 2.14 have these values and answers.
"""

from __future__ import annotations

import hotaru._dynamo as dynamo
import hotaru._inductor as inductor
import hotaru.compiler.config as compiler_config
import pytest
from hotaru._dynamo import config, exc

import hotaru as torch
from hotaru import compiler


def test_switches_are_read_set_and_set_back():
    assert config.verbose is False
    assert config.inline_inbuilt_nn_modules is True
    assert config.skip_fwd_side_effects_in_bwd_under_checkpoint is False
    with config.patch(verbose=True, cache_size_limit=3):
        assert (config.verbose, config.recompile_limit) == (True, 3)

    @config.patch("verbose", True)
    def inside(again=True):
        return config.verbose and (not again or inside(False))

    assert inside()
    assert (config.verbose, config.recompile_limit) == (False, 8)
    with pytest.raises(AttributeError), config.patch(verbose=True, nothing=1):
        pass
    assert config.verbose is False


def test_both_modules_have_the_same_switches():
    assert compiler.config is compiler_config
    assert compiler_config.recompile_limit == config.recompile_limit == 8
    with compiler_config.patch(recompile_limit=2):
        assert config.cache_size_limit == 2
    compiler_config.fail_on_recompile_limit_hit = True
    try:
        assert config.fail_on_cache_limit_hit is True
    finally:
        config.fail_on_recompile_limit_hit = False
    assert compiler_config.force_disable_caches is False
    assert "force_disable_caches" not in vars(config)
    assert compiler_config.get_config_copy()["dynamic_shapes"] is True


def test_options_in_groups():
    assert inductor.config.triton.cudagraphs is False
    before = inductor.config.save_config()
    with inductor.config.patch({"triton.cudagraphs": True, "max_autotune": 1}):
        assert inductor.config.triton.cudagraphs is True
        assert inductor.config.max_autotune == 1
    assert inductor.config.save_config() == before
    assert "triton.cudagraphs" in inductor.list_options()
    modes = inductor.list_mode_options()
    assert modes["reduce-overhead"] == {"triton.cudagraphs": True}
    assert set(modes["max-autotune"]) <= set(inductor.list_options())
    with pytest.raises(RuntimeError, match="Unrecognized mode"):
        inductor.list_mode_options("fast")


def test_compile_takes_pytorchs_options():
    options = {
        "max_autotune": True,
        "triton.cudagraphs": True,
        "guard_filter_fn": compiler.skip_all_guards_unsafe,
    }
    x = torch.arange(3.0)
    for given in (
        {"options": options},
        {"name": "part", "isolate_recompiles": True},
        {"dynamic_shapes": {"x": None}, "recompile_limit": 2},
    ):
        run = torch.compile(lambda x: x * 2 + 1, **given)
        assert torch.equal(run(x), x * 2 + 1), given
        assert torch.equal(torch.compile(**given)(torch.sin)(x), x.sin())
    with pytest.raises(ValueError, match="unknown options"):
        torch.compile(torch.sin, options={"max_autotunes": True})


def test_recompile_limit_is_how_many_graphs_are_kept():
    ran = []

    def function(x):
        ran.append(len(x))
        return x + 1

    run = torch.compile(function, recompile_limit=1)
    for n in (2, 3, 2):
        run(torch.ones(n))
    assert ran.count(2) > 1, ran


class _Entry:
    def __init__(self, guard_type, value=None, is_global=False):
        self.guard_type, self.value = guard_type, value
        self.is_global = is_global


class _Own(torch.nn.Module):
    pass


def test_filters_of_guards():
    entries = [
        _Entry("TENSOR_MATCH", torch.ones(1)),
        _Entry("TENSOR_MATCH", torch.nn.Parameter(torch.ones(1)), True),
        _Entry("ID_MATCH", torch.nn.Linear(1, 1)),
        _Entry("ID_MATCH", _Own()),
        _Entry("GRAD_MODE"),
    ]
    for name, kept in {
        "skip_all_guards_unsafe": [],
        "skip_guard_on_globals_unsafe": [0, 2, 3, 4],
        "skip_guard_on_all_nn_modules_unsafe": [0, 1, 4],
        "skip_guard_on_inbuilt_nn_modules_unsafe": [0, 1, 3, 4],
        "keep_tensor_guards_unsafe": [0],
        "keep_portable_guards_unsafe": [0, 1, 4],
    }.items():
        found = getattr(compiler, name)(entries)
        assert [i for i, keep in enumerate(found) if keep] == kept, name
    found = compiler.keep_tensor_guards_unsafe(entries, keep_parameters=True)
    assert found == [True, True, False, False, False]


def test_what_keeps_code_says_what_to_do_instead():
    for call in (
        lambda: compiler.precompile(torch.sin, torch.ones(1)),
        lambda: compiler.load_compiled_function(None),
        lambda: inductor.compile(None, []),
        lambda: inductor.standalone_compile(None, []),
    ):
        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            call()
        assert "torch.compile" in str(caught.value)
    assert compiler.nonstrict_trace(torch.sin) is torch.sin
    before = compiler.set_enable_guard_collectives(True)
    assert compiler.set_enable_guard_collectives(before) is True


def test_errors_are_caught_by_their_bases():
    base = exc.TorchDynamoException
    assert issubclass(exc.TensorifyScalarRestartAnalysis, exc.RestartAnalysis)
    assert exc.RestartAnalysis(restart_reason="x").restart_reason == "x"
    for kind in (exc.Unsupported, exc.UserError, exc.BackendCompilerFailed):
        assert issubclass(kind, base)
        assert issubclass(kind, RuntimeError)
    error = exc.UserError(exc.UserErrorType.DYNAMIC_DIM, "text")
    assert (error.error_type.value, str(error)) == (5, "text")
    assert "'quick'" in str(exc.InvalidBackend("quick"))
    failed = exc.BackendCompilerFailed(len, ValueError("why"), None)
    assert str(failed) == "backend='len' raised:\nValueError: why"
    assert failed.inner_exception.args == ("why",)
    assert dynamo.exc is exc


def test_vectors_and_folders_of_the_compiler(tmp_path, monkeypatch):
    isa = inductor.cpu_vec_isa.pick_vec_isa()
    valid = inductor.cpu_vec_isa.valid_vec_isa_list()
    assert bool(isa) == bool(valid)
    assert isa.nelements() * 32 == isa.bit_width()
    assert isa.nelements(torch.int8) * 8 == isa.bit_width()
    folder = str(tmp_path / "kernels")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", folder)
    folders = inductor.runtime.cache_dir_utils
    assert folders.cache_dir() == folder
    assert (tmp_path / "kernels").is_dir()
    with folders.temporary_cache_dir(str(tmp_path)):
        assert folders.cache_dir() == str(tmp_path)
    assert folders.cache_dir() == folder
