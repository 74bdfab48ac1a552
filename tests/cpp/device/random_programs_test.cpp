// Programs that nobody thought of: the same calls on four streams of two
// devices, on queues of the CPU, and with copies that do not wait, give the
// bits that they give on one stream.
#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>
#include <vector>

#include "hotaru/core/host.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

constexpr int kDevices = 2, kTensors = 4, kSteps = 24;
constexpr int64_t kElements = 300;

Device cuda(int index) {
  return {DeviceType::kCUDA, int8_t(index)};
}

/// One call of a program.
struct Step {
  enum Kind {
    kAdd,
    kMulInPlace,
    kNew,
    kSum,
    kPeerCopy,
    kToHost,
    kFromHost,
    kHostAdd,
    kFill,
    kKinds
  } kind;
  int device, a, b, stream;
  float value;
};

std::vector<Step> random_program(std::mt19937& random) {
  std::vector<Step> steps;
  const auto below = [&](int n) { return int(random() % unsigned(n)); };
  for (int i = 0; i < kSteps; ++i)
    steps.push_back({Step::Kind(below(Step::kKinds)), below(kDevices),
                     below(kTensors), below(kTensors), below(2),
                     float(below(7)) * 0.25f - 0.5f});
  return steps;
}

struct State {
  std::vector<Tensor> on[kDevices], host;
};

State start() {
  State state;
  for (int i = 0; i < kTensors; ++i) {
    const Tensor x = empty(Dims{kElements}, {DType::kFloat32});
    for (int64_t k = 0; k < kElements; ++k)
      host_data<float>(x, "test")[k] = float((k * 7 + i * 3) % 11) * 0.125f;
    state.host.push_back(clone(x));
    for (int d = 0; d < kDevices; ++d) state.on[d].push_back(to(x, cuda(d)));
  }
  return state;
}

void run(const Step& s, State& state, bool asynchronous) {
  std::vector<Tensor>& here = state.on[s.device];
  std::vector<Tensor>& there = state.on[1 - s.device];
  switch (s.kind) {
    case Step::kAdd:
      here[s.a] = add(here[s.a], here[s.b], s.value);
      break;
    case Step::kMulInPlace:
      mul_(here[s.a], s.value);
      break;
    case Step::kNew:  // frees what other streams may still read
      here[s.a] = mul(here[s.b], add(here[s.a], s.value));
      break;
    case Step::kSum:
      here[s.a] = add(here[s.a], mul(sum(here[s.b]), 0.001));
      break;
    case Step::kPeerCopy:
      copy_(there[s.b], here[s.a]);
      break;
    case Step::kToHost:
      copy_(state.host[s.b], here[s.a], asynchronous);
      break;
    case Step::kFromHost:
      copy_(here[s.a], state.host[s.b], asynchronous);
      break;
    case Step::kHostAdd:
      add_(state.host[s.a], state.host[s.b], s.value);
      break;
    case Step::kFill:
      fill_(here[s.a], s.value);
      break;
    default:
      break;
  }
}

std::vector<float> values(const State& state) {
  std::vector<float> out;
  const auto append = [&](const Tensor& t) {
    const Tensor host = to(t, Device{});
    const auto* data = host_data<float>(host, "test");
    out.insert(out.end(), data, data + host.numel());
  };
  for (const auto& tensors : state.on)
    for (const Tensor& t : tensors) append(t);
  for (const Tensor& t : state.host) append(t);
  return out;
}

std::vector<float> on_one_stream(const std::vector<Step>& program) {
  State state = start();
  for (const Step& s : program) run(s, state, false);
  return values(state);
}

std::vector<float> on_many(const std::vector<Step>& program, bool pinned) {
  State state = start();
  if (pinned)
    for (Tensor& t : state.host) {
      const Tensor locked =
          make_tensor(make_ref<Storage>(accelerator().pinned_allocator(),
                                        t.storage()->nbytes(), Device{}),
                      t.dtype(), t.sizes(), t.strides(), 0);
      copy_(locked, t);
      t = locked;
    }
  std::vector<Stream> streams[kDevices];
  for (int d = 0; d < kDevices; ++d)
    for (int i = 0; i < 2; ++i)
      streams[d].push_back(accelerator().make_stream(d, 0));
  const Stream queues[] = {Stream::queued(), Stream::queued()};
  for (const Step& s : program) {
    const StreamGuard first(streams[0][size_t(s.stream)]);
    const StreamGuard second(streams[1][size_t((s.stream + s.a) % 2)]);
    const StreamGuard queue(queues[s.stream]);
    run(s, state, true);
  }
  return values(state);
}

std::string text(const std::vector<Step>& program) {
  constexpr const char* kNames[] = {"add",       "mul_",     "new",
                                    "sum",       "peer",     "to_host",
                                    "from_host", "host_add", "fill"};
  std::string out;
  for (const Step& s : program)
    out += concat("\n  ", kNames[s.kind], " device ", s.device, " a ", s.a,
                  " b ", s.b, " stream ", s.stream, " value ", s.value);
  return out;
}

class RandomPrograms : public testing::TestWithParam<bool> {};

TEST_P(RandomPrograms, ManyStreamsGiveTheBitsOfOne) {
  if (device_count(DeviceType::kCUDA) < kDevices)
    GTEST_SKIP() << "needs two CUDA devices";
  std::mt19937 random(GetParam() ? 7 : 11);
  for (int i = 0; i < 500; ++i) {
    const std::vector<Step> program = random_program(random);
    const std::vector<float> one = on_one_stream(program);
    const std::vector<float> many = on_many(program, GetParam());
    ASSERT_EQ(one.size(), many.size());
    for (size_t k = 0; k < one.size(); ++k)
      ASSERT_EQ(std::bit_cast<uint32_t>(one[k]),
                std::bit_cast<uint32_t>(many[k]))
          << "program " << i << ", element " << k % kElements << " of tensor "
          << k / kElements << ":" << text(program);
  }
}

INSTANTIATE_TEST_SUITE_P(Host, RandomPrograms, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "Pinned" : "Pageable";
                         });

}  // namespace
}  // namespace hotaru
