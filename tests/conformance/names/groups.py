"""Public names of PyTorch that hotaru is not measured by, and why; and why
names are missing that it is measured by.

A name belongs to the first group of which a pattern matches its full name from
the beginning, as in "torch.cuda.memory.empty_cache".
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Group(NamedTuple):
    title: str
    reason: str
    patterns: str

    def has(self, name: str) -> bool:
        return re.match(rf"(?:{self.patterns})", name, re.VERBOSE) is not None


GROUPS = (
    Group(
        "GPUs and other devices by name",
        "They ask for a certain device or vendor's library. `torch.cuda` has "
        "what hotaru's CUDA back end has ([gpu.md](gpu.md)); devices that "
        "hotaru does not know answer that they are not available.",
        r"""torch\.(cuda|xpu|mps|mtia|accelerator)\b
        | torch\.backends\.(cuda|cusparselt|kleidiai|mha|mkl|mps|nnpack|xeon)
        | torch\.(Tensor|nn\.Module|nn\.modules\.module\.Module
            |UntypedStorage|TypedStorage|storage\.\w+|\w+Storage|\w+Tensor
            |nn\.Parameter|jit\.\w+)
            \.(ipu|xpu|mtia|hpu|is_hpu|is_ipu|is_xpu|is_mtia|is_vulkan|mps
            |is_maia|is_mps)$
        | torch\.(is_vulkan_available|cudnn_|miopen_|mkldnn_)
        | torch\.(get|set|is)_autocast_(ipu|xla)_
        | torch\.utils\.(hipify|cpp_backtrace|mkldnn|mobile_optimizer)
        | torch\.nn\.attention\.(\w*flash_attention_impl|varlen|WARN_FOR)
        | torch\.sparse\.(semi_structured|\w*SemiStructured|to_sparse_semi)
        | torch\.autograd\.profiler_util\.EventMetadata
        | torch\.profiler\.itt | torch\.autograd\.profiler\.(emit_|\w*nv)
        | torch\.serialization\.validate_(hpu|cuda) | torch\.numa
        | torch\.nn\.parallel\.(comm|replicate|scatter|gather|parallel_apply)
        | torch\.nn\.(parallel\.)?DataParallel\.\w
        | torch\.nn\.functional\.(ScalingType|SwizzleType)
        """,
    ),
    Group(
        "Distributed back ends",
        "Collectives, groups, stores, the launcher, `DistributedDataParallel`, "
        "`fully_shard`, DTensor, tensor parallel, checkpoints and pipelines are "
        "there, over sockets or MPI ([distributed.md](distributed.md)); NCCL, RPC "
        "and PyTorch's own files below these are not.",
        r"""torch\.distributed\b
        | torch\.nn\.parallel\.(distributed|Distributed)
        | torch\.nn\.(modules\.(batchnorm\.)?)?SyncBatchNorm
        """,
    ),
    Group(
        "Symbolic shapes",
        "Sizes are numbers here, so nothing reasons about them as formulas; "
        "PyTorch's documentation calls these files experimental. "
        "`SymInt`, `SymFloat` and `SymBool` themselves are counted.",
        r"torch\.fx\.experimental\.(symbolic_shapes|sym_node|_size_hinting)\b",
    ),
    Group(
        "Internals",
        "Classes of PyTorch's extension that end up in `torch` by their name "
        "alone, and files that PyTorch's documentation does not describe: "
        "they are written for the files beside them.",
        r"""torch\.(jit\.(frontend|annotations|generate_bytecode|mobile
            |unsupported_tensor_ops|quantized)\b
        | multiprocessing\.(reductions|queue|pool)\b
        | fx\.experimental\.(?!proxy_tensor\.(make_fx|get_proxy_mode
            |handle_sym_dispatch|maybe_(enable|disable)_thunkify)\b)
        | fx\.passes\.(?!shape_prop|split_module)
        | utils\.data\.datapipes\.(dataframe|utils\.decoder|gen_pyi)
        | utils\.(backcompat|backend_registration|file_baton|jit|viz
            |debug_log|collect_env|data\.backward_compat|_\w+|cpp_backtrace)
        | utils\.benchmark\.(op_fuzzers|utils\.(cpp_jit|valgrind_wrapper
            |compile))
        | autograd\.profiler_legacy\b | nn\.cpp | nn\.common_types
        | fx\.config | fx\.traceback | export\.pt2_archive\.constants
        | utils\.model_dump
        | (AVG|SUM|AggregationType|AliasDb|Argument(Spec)?|Benchmark\w+|Block
            |BufferDict|CallStack|Capsule|Code|CompilationUnit
            |CompleteArgumentSpec|ConcreteModuleType\w*|DeepCopyMemoTable
            |DeserializationStorageContext|ErrorReport|ExcludeDispatchKeyGuard
            |ExecutionPlan|FatalError|Gradient|Graph\b|GraphExecutorState
            |IODescriptor|InferredType|JITException|LiteScriptModule
            |LockingLogger|LoggerBase|ModuleDict|Node\b|NoopLogger
            |OperatorInfo|ParameterDict|PyTorchFile\w+|ScriptClass\w*
            |ScriptDict\w*|ScriptFunction|ScriptList\w*|ScriptMethod
            |ScriptModule\w*|ScriptObject\w*|SerializationStorageContext
            |StaticModule|ThroughputBenchmark|TracingState|Use|Value
            |DispatchKey(Set)?|StreamObjType|merge_type_from_type_comment
            |parse_(ir|schema|type_comment)|import_ir_module\w*|unify_type_list
            |fork|wait|cpp|autocast_\w+|set_autocast_cache_enabled
            |vitals_enabled|set_vital|read_vitals|\w+Type)(\.|$))
        """,
    ),
    Group(
        "Quantisation and sparsity of `torch.ao`",
        "PyTorch has deprecated them in favour of torchao. Quantisation of "
        "modules, dynamic and static, is there, its back ends and quantisation "
        "of graphs are not: `ao.quantization` says what it lacks.",
        r"""torch\.(ao|quantization)\b
        | torch\.nn\.(quantized|quantizable|qat|intrinsic)\b
        | torch\.(fused_moving|fake_quantize|fbgemm|quantize|dequantize
            |quantized_|q_|empty_\w*quantized|choose_qparams|fbgemm
            |_empty_\w*quant|int_repr|dynamic_quant)
        | torch\.Tensor\.(q_|qscheme|int_repr|dequantize)
        """,
    ),
    Group(
        "Export and foreign formats",
        "Files of other run times: torch.export, ONNX, mobile devices, "
        "extensions that are compiled against PyTorch's C++.",
        r"torch\.(export|onnx|utils\.(cpp_extension|bundled_inputs))\b",
    ),
)


MISSING = (
    Group(
        "Dtypes without elements",
        "Nothing compiled can store them.",
        r"torch\.(bit|bcomplex32)$",
    ),
    Group(
        "Fails in PyTorch, too",
        "PyTorch has the name; whatever uses it is an error there.",
        r"""torch\.(sparse\.solve | serialization\.storage_to_tensor_type
        | autograd\.(function\.)?NestedIOFunction
        | utils\.data\.runtime_validation$)""",
    ),
    Group(
        "Texts of PyTorch's documentation",
        "Constants that its docstrings are made of.",
        r"torch\.(linalg|nn\.functional)\.\w+_notes$",
    ),
    Group(
        "Guards and settings of PyTorch's compiler",
        "`torch.compile` captures graphs here ([graphs.md](graphs.md)): there "
        "are no guards to leave out and no caches to set.",
        r"""torch\.compiler\. | torch\.autograd\.graph\.region_
        | torch\.library\.Library\.register_symm""",
    ),
    Group(
        "Symbolic sizes and traces below autograd",
        "Sizes are numbers, and transforms of functions are backward passes "
        "and loops: there is nothing to unwrap, and no layer that would see "
        "mutations leave a function.",
        r"""torch\.fx\.(Graph\.(create_|materialize_) | proxy\.MetaProxy
        | experimental\.proxy_tensor\.) | torch\.func\.
        | torch\.(Type\.|Sym(Bool|Float|Int)\.)""",
    ),
    Group(
        "Settings of PyTorch's engine",
        "The layout of gradients and the streams they are added up on are "
        "not what a program can set here.",
        r"""torch\.autograd\.(grad_mode\.)?enforce_grad_layout
        | torch\.autograd\.graph\.set_""",
    ),
    Group(
        "Records of PyTorch's profiler",
        "Execution traces and the library that records them; counts of "
        "instructions, which need Valgrind and a compiled extension.",
        r"""torch\.(autograd\.)?profiler | torch\.jit\.ScriptModule\.get_debug
        | torch\.utils\.benchmark\.(Callgrind|CopyIf|FunctionCount)""",
    ),
    Group(
        "Back ends that others compile",
        "Parts of PyTorch's C++ and of its build.",
        r"""torch\.utils\.(\w*privateuse1|get_cpp_backtrace)
        | torch\.library\. | torch\.Tensor\.to_mkldnn""",
    ),
)


def reason_of(name: str) -> Group | None:
    """Why a name is missing, if that is more than that nobody wrote it."""
    return next((group for group in MISSING if group.has(name)), None)


def group_of(name: str) -> Group | None:
    return next((group for group in GROUPS if group.has(name)), None)
