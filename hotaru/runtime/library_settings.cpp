#include "hotaru/runtime/library_settings.h"

#include <atomic>
#include <cstddef>

namespace hotaru {
namespace {

constexpr uint8_t kEnabled = 1, kBenchmark = 2, kDeterministic = 4;
constinit std::atomic<bool> allowed[] = {false, true};
constinit std::atomic<bool> rounding[] = {false, false, false};
constinit std::atomic<uint8_t> cudnn{kEnabled};

}  // namespace

bool allows_tf32(Tf32 where) {
  return allowed[size_t(where)].load(std::memory_order_relaxed);
}

void set_allows_tf32(Tf32 where, bool allows) {
  allowed[size_t(where)].store(allows, std::memory_order_relaxed);
}

bool allows_bf16(Bf16 where) {
  return rounding[size_t(where)].load(std::memory_order_relaxed);
}

void set_allows_bf16(Bf16 where, bool allows) {
  rounding[size_t(where)].store(allows, std::memory_order_relaxed);
}

CudnnSettings cudnn_settings() {
  const uint8_t s = cudnn.load(std::memory_order_relaxed);
  return {bool(s & kEnabled), bool(s & kBenchmark), bool(s & kDeterministic)};
}

void set_cudnn_settings(CudnnSettings wanted) {
  cudnn.store(uint8_t((wanted.enabled ? kEnabled : 0) |
                      (wanted.benchmark ? kBenchmark : 0) |
                      (wanted.deterministic ? kDeterministic : 0)),
              std::memory_order_relaxed);
}

}  // namespace hotaru
