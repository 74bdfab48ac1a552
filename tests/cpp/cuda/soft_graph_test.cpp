// Edges of the GPU in software's graphs, and kernels that may be set up before
// those in front of them end.
#include "tests/cpp/cuda/example_kernels.h"
#include "tests/cpp/cuda/soft_device.h"

namespace hotaru::soft_gpu {
namespace {

using namespace hotaru::cuda;

constexpr CUgraphEdgeData kEarly{
    kKernelPortProgrammatic, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, {}};

class SoftGraph : public SoftGpu {
 protected:
  void SetUp() override {
    SoftGpu::SetUp();
    stream_ = stream();
    cell_ = floats(1);
    upload(cell_, {0});
    ASSERT_CU(cuCtxSynchronize());
    ASSERT_CU(cuGraphCreate(&graph_, 0));
  }
  void TearDown() override {
    EXPECT_CU(CUDA_SUCCESS, cuGraphDestroy(graph_));
    SoftGpu::TearDown();
  }

  /// Captures what f puts on the stream, behind a node or nothing.
  template <class F>
  CUgraphNode node(CUgraphNode before, const F& f) {
    CUgraph graph = nullptr;
    EXPECT_CU(CUDA_SUCCESS,
              cuStreamBeginCaptureToGraph(stream_, graph_, &before, nullptr,
                                          before ? 1 : 0,
                                          CU_STREAM_CAPTURE_MODE_RELAXED));
    f();
    CUstreamCaptureStatus status{};
    const CUgraphNode* last = nullptr;
    size_t count = 0;
    EXPECT_CU(CUDA_SUCCESS,
              cuStreamGetCaptureInfo_v3(stream_, &status, nullptr, nullptr,
                                        &last, nullptr, &count));
    const CUgraphNode made = count == 1 ? *last : nullptr;
    EXPECT_CU(CUDA_SUCCESS, cuStreamEndCapture(stream_, &graph));
    return made;
  }
  CUgraphNode kernel(CUgraphNode before, const char* name, AfterParams params) {
    return node(before, [&] { launch(name, 2, 40, stream_, params); });
  }
  CUgraphNode fill(CUgraphNode before) {
    return node(before, [&] {
      EXPECT_CU(CUDA_SUCCESS, cuMemsetD32Async(address(cell_), 0, 1, stream_));
    });
  }

  CUresult add(CUgraphNode from, CUgraphNode to, CUgraphEdgeData data) {
    return cuGraphAddDependencies_v2(graph_, &from, &to, &data, 1);
  }
  CUresult remove(CUgraphNode from, CUgraphNode to,
                  const CUgraphEdgeData* data = nullptr) {
    return cuGraphRemoveDependencies_v2(graph_, &from, &to, data, 1);
  }
  /// Makes an edge one behind which the second node begins early.
  void begin_early(CUgraphNode from, CUgraphNode to) {
    EXPECT_EQ(CUDA_SUCCESS, remove(from, to));
    EXPECT_EQ(CUDA_SUCCESS, add(from, to, kEarly));
  }
  CUgraphExec executable() {
    CUgraphExec made = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cuGraphInstantiateWithFlags(&made, graph_, 0));
    return made;
  }
  /// Launches; returns the device's error. A context that failed is made anew.
  CUresult run(CUgraphExec made) {
    EXPECT_CU(CUDA_SUCCESS, cuGraphLaunch(made, stream_));
    const CUresult error = cuCtxSynchronize();
    if (error != CUDA_SUCCESS) {
      EXPECT_CU(CUDA_SUCCESS, cuDevicePrimaryCtxRelease_v2(0));
      EXPECT_CU(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&contexts_[0], 0));
    }
    return error;
  }
  CUresult run() {
    const CUgraphExec made = executable();
    const CUresult error = run(made);
    EXPECT_CU(CUDA_SUCCESS, cuGraphExecDestroy(made));
    return error;
  }

  CUstream stream_ = nullptr;
  CUgraph graph_ = nullptr;
  float* cell_ = nullptr;
};

TEST_F(SoftGraph, EdgesAreAddedAndRemoved) {
  const AfterParams params{cell_, 40};
  const CUgraphNode a = kernel(nullptr, "add_one_after", params),
                    b = kernel(a, "add_one_after", params),
                    c = kernel(nullptr, "add_one_after", params);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(a, b, kEarly));  // there is one
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, remove(a, b, &kEarly));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, remove(b, c));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(b, a, {}));  // a circle
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(a, a, {}));
  begin_early(a, b);
  EXPECT_EQ(CUDA_SUCCESS, add(c, a, {}));  // from a node that was made later
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(b, c, {}));

  size_t count = 0;
  EXPECT_CU(CUDA_SUCCESS,
            cuGraphGetEdges_v2(graph_, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(2u, count);
  CUgraphNode from[4], to[4];
  CUgraphEdgeData data[4];
  count = 4;
  EXPECT_CU(CUDA_ERROR_LOSSY_QUERY,
            cuGraphGetEdges_v2(graph_, from, to, nullptr, &count));
  EXPECT_CU(CUDA_SUCCESS, cuGraphGetEdges_v2(graph_, from, to, data, &count));
  ASSERT_EQ(2u, count);
  const size_t early = from[0] == a ? 0 : 1;
  EXPECT_EQ(a, from[early]);
  EXPECT_EQ(b, to[early]);
  EXPECT_EQ(kKernelPortProgrammatic, data[early].from_port);
  EXPECT_EQ(c, from[1 - early]);
  EXPECT_EQ(a, to[1 - early]);
  EXPECT_EQ(0, data[1 - early].type);
  EXPECT_EQ(CUDA_SUCCESS, run());
  EXPECT_EQ(3 * 80, download(cell_, 1)[0]);
}

TEST_F(SoftGraph, OnlyKernelsBeginEarly) {
  const AfterParams params{cell_, 40};
  const CUgraphNode a = kernel(nullptr, "add_one_after", params),
                    b = fill(nullptr),
                    c = kernel(nullptr, "add_one_after", params);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(a, b, kEarly));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(b, a, kEarly));
  constexpr unsigned char kType = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(a, c, {0, 0, kType, {}}));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(a, c, {1, 1, kType, {}}));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(a, c, {1, 0, 0, {}}));
  EXPECT_EQ(CUDA_SUCCESS, add(a, c, kEarly));
}

TEST_F(SoftGraph, WhoBeginsEarlyHasToWait) {
  for (const char* name : {"add_one_after", "add_one_together"}) {
    const CUgraphNode a = kernel(nullptr, name, {cell_, 0}),
                      b = kernel(a, name, {cell_, 40});
    begin_early(a, b);
    EXPECT_EQ(CUDA_SUCCESS, run()) << name;
    const CUgraphNode c = kernel(b, name, {cell_, 39});  // all but one
    EXPECT_EQ(CUDA_SUCCESS, run()) << name;
    begin_early(b, c);
    const CUresult error = run();  // by who comes first: that one, or another
    EXPECT_TRUE(error == CUDA_ERROR_ILLEGAL_ADDRESS ||
                error == CUDA_ERROR_ILLEGAL_INSTRUCTION)
        << name << ' ' << error;
    EXPECT_EQ(CUDA_SUCCESS, remove(b, c, &kEarly));
    EXPECT_EQ(CUDA_SUCCESS, run()) << name;
  }
}

TEST_F(SoftGraph, NewParametersLeaveTheEdges) {
  const CUgraphNode a = kernel(nullptr, "add_one_after", {cell_, 0}),
                    b = kernel(a, "add_one_after", {cell_, 40});
  begin_early(a, b);
  const CUgraphExec made = executable();
  const auto give = [&](const char* name, AfterParams params) {
    void* all[] = {&params};
    const CUDA_KERNEL_NODE_PARAMS kernel{
        function(name), 1, 1, 1, 8, 1, 1, 0, all, nullptr, nullptr, nullptr};
    EXPECT_CU(CUDA_SUCCESS,
              cuGraphExecKernelNodeSetParams_v2(made, b, &kernel));
  };
  EXPECT_EQ(CUDA_SUCCESS, run(made));
  give("add_one_together", {cell_, 8});
  EXPECT_EQ(CUDA_SUCCESS, run(made));
  give("add_one_after", {cell_, 0});  // reads before anybody waits
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, run(made));
  EXPECT_CU(CUDA_SUCCESS, cuGraphExecDestroy(made));
}

}  // namespace
}  // namespace hotaru::soft_gpu
