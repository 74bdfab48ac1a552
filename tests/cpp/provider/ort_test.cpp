// ONNX Runtime as an engine: values, streams, graphs, errors and threads.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <latch>
#include <thread>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/exchange/onnx/load_onnx.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/provider/compile_onnx.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/captured_graph.h"
#include "tests/cpp/child.h"
#include "tests/cpp/provider/onnx_bytes.h"
#include "tests/cpp/sanitizers.h"

namespace hotaru::provider {
namespace {

using onnx_bytes::kFloat;
using onnx_bytes::kInt64;
using onnx_bytes::node;
using onnx_bytes::Parts;
using onnx_bytes::value;
using Bytes = std::vector<std::byte>;

/// Skips where the library is not there, or sees less than the sanitizer.
class OrtEngine : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized)
      GTEST_SKIP() << "ONNX Runtime was built without the sanitizer, which "
                      "would not see what it does for other threads";
    if (!std::getenv("HOTARU_ONNXRUNTIME") && *HOTARU_FOUND_RUNTIME)
      set_onnx_runtime_path(HOTARU_FOUND_RUNTIME);
    try {
      onnx_runtime();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

Tensor counted(IntSpan sizes) {
  const int64_t n = numel_of(sizes);
  const Tensor flat = arange(0, n, 1, DType::kFloat32);
  return reshape(remainder(flat, full(Dims{}, 7.0)), sizes);
}

std::vector<float> floats(const Tensor& t) {
  const Tensor dense = contiguous(t);
  const float* data = host_data<float>(dense, "test");
  return {data, data + dense.numel()};
}

std::vector<Tensor> run(const Ref<Executable>& program,
                        const std::vector<Tensor>& inputs) {
  return (*program)(inputs);
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Bytes small_mlp() {
  return onnx_bytes::mlp({8, 8, 4});
}

/// One node from "x" (and "y") to "z".
Bytes one_node(const std::string& op, std::vector<std::string> inputs,
               const std::string& output, std::vector<std::string> values) {
  Parts parts;
  parts.nodes = {node(op, inputs, {"z"})};
  parts.inputs = std::move(values);
  parts.outputs = {output};
  return onnx_bytes::model(parts);
}

Bytes non_zero() {
  return one_node("NonZero", {"x"}, value("z", kInt64, {"1", "count"}),
                  {value("x", kFloat, {"n"})});
}

TEST_F(OrtEngine, ValuesAreThoseOfTheImporter) {
  const auto program = compile_onnx(small_mlp(), "mlp");
  const script::Module own = exchange::load_onnx(small_mlp(), "mlp");
  ASSERT_EQ(program->inputs().size(), 1u);
  EXPECT_EQ(program->inputs()[0].name, "x");
  EXPECT_EQ(program->inputs()[0].type_text(), "float32[batch, 8]");
  EXPECT_EQ(program->outputs()[0].type_text(), "float32[batch, 4]");
  const autograd::NoGrad no_grad;
  // Sums of few multiples of 2^-12: exact in any order.
  for (int64_t batch : {1, 5, 0, 5, 3}) {
    const Tensor x = counted(Dims{batch, 8});
    const Tensor y = run(program, {x})[0];
    EXPECT_EQ(y.size(0), batch);
    EXPECT_EQ(floats(y), floats(own({x}).as_tensor()));
  }
  const Tensor columns = counted(Dims{8, 5});
  EXPECT_EQ(floats(run(program, {transpose(columns, 0, 1)})[0]),
            floats(own({transpose(columns, 0, 1)}).as_tensor()));
}

TEST_F(OrtEngine, ResultsOutliveTheirProgram) {
  Tensor known, fresh;
  {
    known = run(compile_onnx(small_mlp(), "mlp"), {ones(Dims{1, 8})})[0];
    fresh = run(compile_onnx(non_zero(), "nz"), {ones(Dims{3})})[0];
  }
  EXPECT_EQ(known.numel(), 4);
  EXPECT_EQ(fresh.numel(), 3);
  EXPECT_EQ(host_data<int64_t>(fresh, "test")[2], 2);
}

TEST_F(OrtEngine, ScalarsAndSeveralOutputs) {
  Parts parts;
  parts.nodes = {node("Add", {"x", "y"}, {"sum"}),
                 node("Mul", {"x", "y"}, {"product"})};
  parts.inputs = {value("x", kFloat, {}), value("y", kFloat, {})};
  parts.outputs = {value("sum", kFloat, {}), value("product", kFloat, {})};
  const auto program = compile_onnx(onnx_bytes::model(parts), "two");
  const auto results = run(program, {scalar_tensor(3.0, DType::kFloat32),
                                     scalar_tensor(4.0, DType::kFloat32)});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].dim(), 0);
  EXPECT_EQ(floats(results[0])[0], 7);
  EXPECT_EQ(floats(results[1])[0], 12);
}

TEST_F(OrtEngine, QueuedStreamsKeepTheOrder) {
  const auto program = compile_onnx(small_mlp(), "mlp");
  const Tensor x = counted(Dims{2, 8});
  const auto expected = floats(run(program, {add(x, ones(Dims{}))})[0]);
  const Stream stream = Stream::queued();
  Tensor y;
  {
    const StreamGuard guard(stream);
    y = mul(run(program, {add(x, ones(Dims{}))})[0], full(Dims{}, 2.0));
  }
  // Reading waits.
  const auto found = floats(y);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], 2 * expected[i]);
}

TEST_F(OrtEngine, ErrorsOfQueuedCallsComeWithTheValue) {
  // The declared sizes do not fit the result.
  const auto program = compile_onnx(
      one_node("Add", {"x", "y"}, value("z", kFloat, {"n"}),
               {value("x", kFloat, {"n"}), value("y", kFloat, {"m"})}),
      "wrong.onnx");
  const Stream stream = Stream::queued();
  Tensor z;
  {
    const StreamGuard guard(stream);
    z = run(program, {ones(Dims{1}), ones(Dims{3})})[0];
  }
  const std::string text = error_of([&] { stream.synchronize(); });
  EXPECT_NE(text.find("wrong.onnx: ONNX Runtime "), std::string::npos) << text;
  EXPECT_NE(text.find("provider_run"), std::string::npos) << text;
}

TEST_F(OrtEngine, GraphsHoldOneCall) {
  const auto program = compile_onnx(small_mlp(), "mlp");
  const Tensor x = counted(Dims{2, 8});
  Tensor y;
  const auto graph = graph::captured_graph([&] {
    const autograd::NoGrad no_grad;
    y = run(program, {x})[0];
  });
  ASSERT_EQ(graph->recorded().nodes.size(), 1u);
  EXPECT_EQ(graph->recorded().nodes[0].name, "provider_run");
  for (float number : {1.0f, 4.0f}) {
    fill_(x, number);
    graph->replay();
    EXPECT_EQ(floats(y), floats(run(program, {x})[0]));
  }
}

TEST_F(OrtEngine, ShapesThatDependOnValues) {
  const auto program = compile_onnx(non_zero(), "nz.onnx");
  ASSERT_TRUE(program->shapeless());
  EXPECT_EQ(program->shapeless()->name, "z");
  const Tensor x = counted(Dims{9});
  EXPECT_EQ(run(program, {x})[0].size(1), 7);
  const Stream stream = Stream::queued();
  {
    const StreamGuard guard(stream);
    EXPECT_EQ(run(program, {mul(x, zeros(Dims{}))})[0].size(1), 0);
  }
  EXPECT_EQ(
      error_of([&] { graph::captured_graph([&] { run(program, {x}); }); }),
      "operation not permitted when stream is capturing: nz.onnx: the "
      "shape of output 'z' does not follow from the inputs' "
      "(int64[1, count])");
}

TEST_F(OrtEngine, ShapesThatAreNotAsDeclared) {
  // "n" stands for two sizes.
  const auto add_two = compile_onnx(
      one_node("Add", {"x", "y"}, value("z", kFloat, {"n"}),
               {value("x", kFloat, {"n"}), value("y", kFloat, {"n"})}),
      "add");
  EXPECT_EQ(run(add_two, {ones(Dims{1}), ones(Dims{3})})[0].size(0), 3);
  EXPECT_EQ(run(add_two, {ones(Dims{3}), ones(Dims{3})})[0].size(0), 3);
  // The result has the size of "m".
  const auto wrong = compile_onnx(
      one_node("Add", {"x", "y"}, value("z", kFloat, {"n"}),
               {value("x", kFloat, {"n"}), value("y", kFloat, {"m"})}),
      "wrong");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(run(wrong, {ones(Dims{1}), ones(Dims{3})})[0].size(0), 3);
}

TEST_F(OrtEngine, InputsThatDoNotFitAreNamed) {
  const auto program = compile_onnx(small_mlp(), "mlp");
  const auto given = [&](const Tensor& x) {
    return error_of([&] { run(program, {x}); });
  };
  EXPECT_EQ(given(ones(Dims{2, 8}, DType::kFloat64)),
            "mlp: input 'x' is float32[batch, 8], got float64");
  EXPECT_EQ(
      given(ones(Dims{2, 9})),
      "mlp: input 'x' is float32[batch, 8], got a tensor of shape [2, 9]");
  EXPECT_EQ(given(ones(Dims{8})),
            "mlp: input 'x' is float32[batch, 8], got a tensor of shape [8]");
  EXPECT_EQ(given(Tensor()), "mlp: input 'x' is not given");
  EXPECT_EQ(error_of([&] { run(program, {}); }),
            "mlp: takes 1 inputs (x: float32[batch, 8]), got 0");
  const Tensor x = ones(Dims{2, 8});
  autograd::set_requires_grad(x, true);
  EXPECT_NE(given(x).find("input 'x' requires a gradient"), std::string::npos);
  const autograd::NoGrad no_grad;
  EXPECT_EQ(given(x), "no error");
}

TEST_F(OrtEngine, WhatCannotBeCompiled) {
  Bytes damaged = small_mlp();
  damaged.resize(damaged.size() / 2);
  EXPECT_NE(error_of([&] {
              compile_onnx(damaged, "half.onnx");
            }).find("half.onnx: ONNX Runtime "),
            std::string::npos);
  EXPECT_EQ(error_of([] { compile_onnx("/nowhere/a.onnx"); }),
            "/nowhere/a.onnx: no such file");
  EXPECT_NE(error_of([] {
              compile_onnx(one_node("NoSuchOp", {"x"}, value("z", kFloat, {}),
                                    {value("x", kFloat, {})}),
                           "op.onnx");
            }).find("NoSuchOp"),
            std::string::npos);
  OnnxOptions options;
  options.providers = {{"NoSuchExecutionProvider", {}}};
  EXPECT_NE(error_of([&] {
              compile_onnx(small_mlp(), "mlp", options);
            }).find("CPUExecutionProvider)"),
            std::string::npos);
  options.providers = {{"CPUExecutionProvider", {}}};
  options.graph_optimization_level = 4;
  EXPECT_EQ(error_of([&] { compile_onnx(small_mlp(), "mlp", options); }),
            "graph_optimization_level is 4; there are 0, 1, 2, 3 and 99");
}

size_t threads_of_process() {
  size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    (void)entry;
    ++count;
  }
  return count;
}

TEST_F(OrtEngine, EightCallersAndNoThreadMore) {
  const auto program = compile_onnx(small_mlp(), "mlp");
  const Tensor warm = run(program, {counted(Dims{1, 8})})[0];
  constexpr int kCallers = 8, kCalls = 300;
  const size_t before = threads_of_process();
  std::atomic<int> wrong{0};
  std::latch all_called(kCallers), counted_threads(1);
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i)
    callers.emplace_back([&, i] {
      const Tensor x = counted(Dims{i + 1, 8});
      const auto expected = floats(run(program, {x})[0]);
      for (int call = 0; call < kCalls; ++call)
        wrong += floats(run(program, {x})[0]) != expected;
      all_called.count_down();
      counted_threads.wait();
    });
  all_called.wait();
  EXPECT_EQ(threads_of_process(), before + kCallers);
  counted_threads.count_down();
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(OrtEngine, OnePoolForAllModels) {
  OnnxOptions two;
  two.intra_op_num_threads = 2;
  two.oversubscribe = true;  // where there is one core
  {
    const auto first = compile_onnx(small_mlp(), "mlp");
    EXPECT_NE(error_of([&] {
                compile_onnx(small_mlp(), "mlp", two);
              }).find("pool in this process has 1 thread(s), which 1 comp"),
              std::string::npos);
  }
  const size_t before = threads_of_process();
  {
    const auto first = compile_onnx(small_mlp(), "mlp", two);
    const auto second = compile_onnx(small_mlp(), "mlp", two);
    const auto third = compile_onnx(small_mlp(), "mlp");
    EXPECT_EQ(threads_of_process(), before + 1);
    EXPECT_EQ(status_of_child([&] { run(first, {ones(Dims{1, 8})}); }), kThrew);
    EXPECT_EQ(run(third, {ones(Dims{1, 8})})[0].numel(), 4);
  }
  OnnxOptions one;
  one.intra_op_num_threads = 1;
  const auto last = compile_onnx(small_mlp(), "mlp", one);
  EXPECT_EQ(threads_of_process(), before);
  EXPECT_EQ(status_of_child([&] { run(last, {ones(Dims{1, 8})}); }), 0);
  OnnxOptions many;
  many.intra_op_num_threads = get_num_threads() + 1;
  EXPECT_NE(error_of([&] {
              compile_onnx(small_mlp(), "mlp", many);
            }).find("the option oversubscribe allows it"),
            std::string::npos);
}

}  // namespace
}  // namespace hotaru::provider
