// Everything a program needs that runs models or computes with tensors:
//
//   #include <hotaru/hotaru.h>
//
//   hotaru::script::Module model = hotaru::script::load("model.pt");
//   hotaru::autograd::NoGrad no_grad;
//   hotaru::Value y = model({hotaru::ones({1, 512}), 16000});
//   std::cout << hotaru::format_tensor(y.as_tensor()) << '\n';
//
// Link with CMake's hotaru::hotaru (find_package(hotaru)).
#pragma once

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/error.h"
#include "hotaru/core/printing/format.h"
#include "hotaru/core/tensor.h"
#include "hotaru/core/value.h"
#include "hotaru/graph/drawing/drawing.h"
#include "hotaru/graph/graph.h"
#include "hotaru/io/npy.h"
#include "hotaru/io/weights/weight_file.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/own/launch_function.h"
#include "hotaru/runtime/own/own_kernel.h"
#include "hotaru/runtime/profiler.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/threads/future.h"
#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/runtime/threads/parallel_backend.h"
#include "hotaru/runtime/threads/scheduler.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/passes/freeze.h"
#include "hotaru/script/source/script_error.h"
