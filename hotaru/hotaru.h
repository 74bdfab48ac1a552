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
#include "hotaru/core/format.h"
#include "hotaru/core/tensor.h"
#include "hotaru/core/value.h"
#include "hotaru/graph/drawing.h"
#include "hotaru/graph/graph.h"
#include "hotaru/io/npy.h"
#include "hotaru/ops/copy.h"
#include "hotaru/ops/factory.h"
#include "hotaru/ops/matmul.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise.h"
#include "hotaru/ops/reduce.h"
#include "hotaru/ops/view.h"
#include "hotaru/runtime/event.h"
#include "hotaru/runtime/future.h"
#include "hotaru/runtime/parallel.h"
#include "hotaru/runtime/parallel_backend.h"
#include "hotaru/runtime/profiler.h"
#include "hotaru/runtime/scheduler.h"
#include "hotaru/runtime/stream.h"
#include "hotaru/script/archive.h"
#include "hotaru/script/freeze.h"
