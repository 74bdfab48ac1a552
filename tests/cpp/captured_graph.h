// Graphs of what tests do.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "hotaru/graph/graph.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::graph {

/// Captures what body() calls on a stream of its own.
template <class Body>
Ref<Graph> captured_graph(const Body& body, Options options = {}) {
  auto graph = make_ref<Graph>(std::move(options));
  const Stream stream = Stream::queued();
  graph->capture_begin(stream);
  {
    const StreamGuard guard(stream);
    body();
  }
  graph->capture_end();
  return graph;
}

/// A captured call, which can be run again.
struct Captured {
  template <class F>
  explicit Captured(const F& what, Options options = {})
      : graph(captured_graph([&] { result = what(); }, std::move(options))) {}

  Tensor replayed() const {
    graph->replay();
    return clone(result);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& node : graph->program().nodes())
      out.push_back(node->name());
    return out;
  }
  int64_t count(const std::string& name) const {
    const std::vector<std::string> all = names();
    return std::count(all.begin(), all.end(), name);
  }

  Tensor result;
  Ref<Graph> graph;
};

/// The largest difference between elements of tensors of one shape and dtype.
inline double distance(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_TRUE(same(a.sizes(), b.sizes()));
  const Tensor x = clone(contiguous(to(a, DType::kFloat32))),
               y = clone(contiguous(to(b, DType::kFloat32)));
  double most = 0;
  for (int64_t i = 0; i < x.numel(); ++i)
    most = std::max(most, std::abs(double(x.data<float>()[i]) -
                                   double(y.data<float>()[i])));
  return most;
}

}  // namespace hotaru::graph
