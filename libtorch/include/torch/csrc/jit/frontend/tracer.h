// Tracing by hand, as far as libraries name it: hotaru traces from Python, and
// here a trace that is begun throws NotImplementedError.
#pragma once

#include "torch/jit.h"

namespace torch::jit {

struct Value {
  Value* setType(const c10::TypePtr&) { return this; }
};
struct Graph {
  Value* insertInput(size_t, const std::string& = "") { return nullptr; }
  Value* addInput(const std::string& = "") { return nullptr; }
  size_t registerOutput(Value*) { return 0; }
};
inline void FixupTraceScopeBlocks(std::shared_ptr<Graph>&, Module*) {}
inline void NormalizeOps(const std::shared_ptr<Graph>&) {}

namespace tracer {

struct TracingState {
  TracingState() {
    throw c10::NotImplementedError(
        "a trace is begun in Python, with torch.jit.trace");
  }
  void setValue(const IValue&, Value*) {}
  Value* getOutput(const IValue&, size_t) { return nullptr; }
  std::shared_ptr<Graph> graph;
};
inline bool isTracing() {
  return false;
}
inline std::shared_ptr<TracingState> getTracingState() {
  return nullptr;
}
inline void setTracingState(const std::shared_ptr<TracingState>&) {}
inline void abandon() {}

}  // namespace tracer
}  // namespace torch::jit
