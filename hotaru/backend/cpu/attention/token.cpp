// The kernel "attention_token".
#include <algorithm>
#include <limits>
#include <type_traits>

#include "hotaru/backend/common/attention/attention.h"
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/activation/softmax_simd.h"
#include "hotaru/backend/cpu/attention/token_rows.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

/// Numbers that are added to the score of each key of one head.
class Mask {
 public:
  Mask(const Tensor& mask, int64_t batch, int64_t head) : mask_(mask) {
    if (!mask.defined()) return;
    offset_ = batch * mask.stride(0) + head * mask.stride(1);
    stride_ = mask.stride(3);
  }
  float at(int64_t key) const {
    if (!mask_.defined()) return 0;
    const int64_t i = offset_ + key * stride_;
    switch (mask_.dtype()) {
      case DType::kBool:
        return mask_.data<uint8_t>()[i] ? 0 : kHidden;
      case DType::kFloat16:
        return float(mask_.data<Half>()[i]);
      case DType::kBFloat16:
        return float(mask_.data<BFloat16>()[i]);
      default:
        return mask_.data<float>()[i];
    }
  }

 private:
  const Tensor& mask_;
  int64_t offset_ = 0, stride_ = 0;
};

/// f(begin, end) for runs of keys that take part.
template <class F>
void by_runs(const float* added, int64_t count, const F& f) {
  for (int64_t t = 0; t < count; ++t) {
    if (added[t] == kHidden) continue;
    const int64_t begin = t;
    while (t < count && added[t] != kHidden) ++t;
    f(begin, t);
  }
}

template <class T>
void one_head(const KernelCall& call, int64_t batch, int64_t head) {
  const auto& g = call.attributes<AttentionAttributes>();
  const Tensor &out = call.tensor(0), &query = call.tensor(1),
               &key = call.tensor(2), &value = call.tensor(3);
  const auto row = [&](const Tensor& t, int64_t h) {
    return t.data<T>() + batch * t.stride(0) + h * t.stride(1);
  };
  const int64_t shared = head / (query.size(1) / key.size(1));
  const int64_t count = key.size(2), n = query.size(3), width = value.size(3);
  const T *q = row(query, head), *keys = row(key, shared),
          *values = row(value, shared);
  float scaled[kMostAttentionWidth], sums[kMostAttentionWidth] = {};
  for (int64_t i = 0; i < n; ++i) scaled[i] = float(q[i]) * g.scale;
  float* added = scratch<float>(ScratchUse::kAttention, 2 * count);
  float* scores = added + count;
  const Mask mask(call.tensor(4), batch, head);
  for (int64_t t = 0; t < count; ++t) added[t] = mask.at(t);
  std::fill_n(scores, count, kHidden);
  bool any = false;
  by_runs(added, count, [&](int64_t begin, int64_t end) {
    token_scores(scaled, keys + begin * key.stride(2), key.stride(2),
                 end - begin, n, scores + begin);
    for (int64_t t = begin; t < end; ++t) {
      scores[t] += added[t];
      any |= scores[t] != kHidden;
    }
  });
  if (any) {
    softmax_rows(scores, scores, 1, count);
    by_runs(added, count, [&](int64_t begin, int64_t end) {
      token_values(scores + begin, values + begin * value.stride(2),
                   value.stride(2), end - begin, width, sums);
    });
  }
  T* to = out.data<T>() + batch * out.stride(0) + head * out.stride(1);
  for (int64_t i = 0; i < width; ++i) to[i] = T(sums[i]);
}

constexpr KernelTypes<TypeList<float, Half, BFloat16>> kTypes{0};

void attention_token(const KernelCall& call) {
  const Tensor& query = call.tensor(1);
  const int64_t heads = query.size(1), all = query.size(0) * heads;
  const int64_t each = call.tensor(2).size(2) * query.size(3);
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(each, 1));
  kTypes.visit(call, [&]<class T>() {
    parallel_for(0, all, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        one_head<T>(call, i / heads, i % heads);
    });
  });
}

HOTARU_KERNEL(kCPU, "attention_token", attention_token, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
