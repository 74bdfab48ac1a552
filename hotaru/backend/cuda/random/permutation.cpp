// Random permutations: PyTorch's for the same generator state, which sorts
// random keys and shuffles those that are equal. The keys depend on the
// generator's state only, so the host draws and sorts them and nobody waits for
// the device; a sort there is to come.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/random/random.h"
#include "hotaru/backend/cuda/random/random.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

struct Entry {
  uint64_t key;
  uint32_t value;
};

/// Bits of keys of which all n are different nine times of ten.
int key_bits(int64_t n) {
  const double count = double(n);
  const double bits =
      std::log2(count - (6 * count * count + 1) / (12 * std::log(0.9)));
  return std::min(64, int(std::ceil(bits)));
}

/// The lowest bits of what random_ draws into int32 or int64 over the whole
/// range but its last value, in unsigned order.
std::vector<Entry> drawn_keys(int64_t n, int bits, PhiloxGenerator& generator) {
  const bool wide = bits > 32;
  const uint64_t range = wide ? ~uint64_t{0} : ~uint32_t{0};
  const uint64_t base = uint64_t(wide ? std::numeric_limits<int64_t>::min()
                                      : std::numeric_limits<int32_t>::min());
  // All bits of a key are a signed number.
  const uint64_t sign = bits == 32   ? uint64_t{1} << 31
                        : bits == 64 ? uint64_t{1} << 63
                                     : 0;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint32_t blocks = draw_blocks_here(n);
  const PhiloxState state = take(generator, draws_of(n, blocks, 2));
  const int64_t threads = int64_t{blocks} * kBlock;
  std::vector<Entry> entries(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const Words4 w =
        state.words(uint64_t(i % threads), uint64_t(i / (2 * threads)));
    const uint64_t word =
        i / threads % 2 ? uint64_t{w.z} << 32 | w.w : uint64_t{w.x} << 32 | w.y;
    entries[size_t(i)] = {((word % range + base) & mask) ^ sign, uint32_t(i)};
  }
  return entries;
}

/// Fisher and Yates's shuffle of [first, last), with the draws of a thread.
void shuffle(Entry* first, Entry* last, uint64_t thread,
             const PhiloxState& state) {
  uint64_t drawn = 0;
  for (int64_t i = last - first - 1; i > 0; --i, ++drawn) {
    const Words4 w = state.words(thread, drawn / 4);
    const uint32_t words[] = {w.x, w.y, w.z, w.w};
    std::swap(first[i].value, first[words[drawn % 4] % uint32_t(i + 1)].value);
  }
}

}  // namespace

void draw_permutation(const Tensor& out, PhiloxGenerator& generator) {
  const int64_t n = out.numel();
  HOTARU_CHECK(n < kMostElements && out.is_contiguous(),
               "permutations of 2^31 elements and more are not implemented for "
               "CUDA yet");
  refuse_recording("randperm is drawn on the host");
  std::vector<Entry> entries = drawn_keys(n, key_bits(n), generator);
  std::stable_sort(
      entries.begin(), entries.end(),
      [](const Entry& a, const Entry& b) { return a.key < b.key; });
  const PhiloxState state = take(generator, uint64_t(n));
  Entry* const begin = entries.data();
  Entry* const end = begin + n;
  for (Entry* first = begin; first != end;) {
    Entry* last = first + 1;
    while (last != end && last->key == first->key) ++last;
    if (last - first > 1) shuffle(first, last, uint64_t(first - begin), state);
    first = last;
  }
  const size_t item = itemsize(out.dtype());
  std::vector<char> bytes(size_t(n) * item);
  visit_dtype(RealTypes{}, out.dtype(), "randperm_cuda", [&]<class T>() {
    for (int64_t i = 0; i < n; ++i) {
      T value;
      if constexpr (kIsReduced<T>)
        value = T(float(begin[i].value));
      else
        value = T(begin[i].value);
      std::memcpy(bytes.data() + size_t(i) * item, &value, item);
    }
  });
  // Memory that is not pinned has been copied by the driver.
  HOTARU_CUDA(cuMemcpyHtoDAsync,
              reinterpret_cast<CUdeviceptr>(device_address(out)), bytes.data(),
              bytes.size(), launching_timeline().handle());
}

}  // namespace hotaru::cuda
