#include "hotaru/backend/cpu/create/repeat_copy.h"

#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/words.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kFewElements = 1024;
constexpr int64_t kLeastLine = 8;
// Most times; of more, filling each run is as fast.
constexpr int64_t kMostTimes = 16;

/// n elements of x, each `times` times.
template <class Word>
void repeat_line(const Word* x, int64_t n, int64_t times, Word* to) {
  if (times == 2) {  // by vectors
    HOTARU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[2 * i] = to[2 * i + 1] = x[i];
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < times; ++k) *to++ = x[i];
}

}  // namespace

std::optional<RepeatCopy> RepeatCopy::of(const Tensor& out, const Tensor& x) {
  const int64_t dims = out.dim();
  if (dims < 2 || x.dim() != dims || out.numel() < kFewElements ||
      !out.impl()->contiguous || !same(out.sizes(), x.sizes()))
    return {};
  const int64_t times = out.size(-1);
  if (times < 2 || times > kMostTimes || x.stride(-1) != 0 ||
      x.stride(-2) != 1 || x.size(-2) < kLeastLine)
    return {};
  return RepeatCopy(times);
}

void RepeatCopy::run(const Tensor& out, const Tensor& x) const {
  const size_t outer = x.sizes().size() - 2;
  const IntSpan sizes = x.sizes().first(outer);
  const int64_t n = x.size(-2);
  visit_word(x.dtype(), [&]<class Word>() {
    const Word* from = x.data<Word>();
    Word* to = out.data<Word>();
    parallel_for(0, numel_of(sizes), row_grain(n * times_),
                 [&](int64_t begin, int64_t end) {
                   Walk<1> walk(sizes, {x.strides().first(outer)}, begin);
                   for (int64_t i = begin; i < end; ++i, walk.next())
                     repeat_line(from + walk.at[0], n, times_,
                                 to + i * n * times_);
                 });
  });
}

}  // namespace hotaru::cpu
