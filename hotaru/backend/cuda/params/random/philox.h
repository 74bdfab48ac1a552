// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011), numbered as PyTorch numbers its draws on CUDA. For the host and the
// device.
#pragma once

#include <cstdint>

namespace hotaru::cuda {

/// Four words: a counter, or what is drawn for it.
struct Words4 {
  uint32_t x = 0, y = 0, z = 0, w = 0;
};

/// Ten rounds with the key (low, high).
constexpr Words4 philox(Words4 c, uint32_t low, uint32_t high) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c.x;
    const uint64_t b = uint64_t{0xCD9E8D57} * c.z;
    c = {uint32_t(b >> 32) ^ c.y ^ low, uint32_t(b),
         uint32_t(a >> 32) ^ c.w ^ high, uint32_t(a)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return c;
}

/// A seed, and the generator's offset / 4.
struct PhiloxStart {
  uint64_t seed = 0;
  uint64_t first = 0;
};

/// Where a kernel's draws begin: each thread is a sequence of its own, of four
/// words at a time.
struct PhiloxState : PhiloxStart {
  /// Start that `first` counts from in the device's memory, for a graph's
  /// calls; null for others.
  const PhiloxStart* graph = nullptr;

  /// To be asked once by each thread of a kernel.
  constexpr PhiloxState here() const {
    if (!graph) return *this;
    return {{graph->seed, graph->first + first}, nullptr};
  }

  /// The n-th four words of a sequence.
  constexpr Words4 words(uint64_t sequence, uint64_t n) const {
    const uint64_t at = first + n;
    return philox({uint32_t(at), uint32_t(at >> 32), uint32_t(sequence),
                   uint32_t(sequence >> 32)},
                  uint32_t(seed), uint32_t(seed >> 32));
  }
};

/// SetPhilox: the first node of a graph that draws.
struct SetPhiloxParams {
  PhiloxStart* out = nullptr;
  PhiloxStart value;
};

}  // namespace hotaru::cuda
