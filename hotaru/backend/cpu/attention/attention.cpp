// The kernels "attention" and "attention_grad": some rows of scores at a time,
// which the gradient computes anew (T. Dao et al., FlashAttention: fast and
// memory-efficient exact attention with IO-awareness, 2022).
#include "hotaru/backend/common/attention/attention.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/attention/exp_rows.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/wide_product.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();
// Scores that are in memory at once, about, and rows of them.
constexpr int64_t kScores = int64_t{1} << 16;
constexpr int64_t kLeastRows = 64, kMostRows = 256;

/// Rows of a matrix of one head.
template <class T>
struct Rows {
  T* data;
  int64_t step;

  Rows(const Tensor& t, int64_t batch, int64_t head)
      : data(t.data<std::remove_const_t<T>>() + batch * t.stride(0) +
             head * t.stride(1)),
        step(t.stride(2)) {}
  T* row(int64_t i) const { return data + i * step; }
  MatrixRef<std::remove_const_t<T>> from(int64_t i) const {
    return {row(i), step, 1};
  }
  MatrixRef<std::remove_const_t<T>> turned(int64_t i) const {
    return {row(i), 1, step};
  }
};

/// Facts of a call that both kernels need, and one head's scores.
template <class T>
class Heads {
 public:
  Heads(const KernelCall& call, size_t first)
      : a_(call.attributes<AttentionAttributes>()),
        query_(call.tensor(first)),
        key_(call.tensor(first + 1)),
        value_(call.tensor(first + 2)),
        mask_(call.tensor(first + 3)),
        batch_(query_.size(0)),
        heads_(query_.size(1)),
        shared_(key_.size(1)),
        rows_(query_.size(2)),
        keys_(key_.size(2)),
        width_(query_.size(3)),
        out_width_(value_.size(3)) {}

  int64_t batch() const { return batch_; }
  int64_t heads() const { return heads_; }
  int64_t shared() const { return shared_; }
  int64_t rows() const { return rows_; }
  int64_t keys() const { return keys_; }
  int64_t width() const { return width_; }
  int64_t out_width() const { return out_width_; }
  float scale() const { return a_.scale; }
  bool causal() const { return a_.causal; }
  int64_t rows_at_once() const {
    return std::clamp(kScores / std::max<int64_t>(keys_, 1), kLeastRows,
                      kMostRows);
  }
  /// The head of keys and values that a head of queries has.
  int64_t shared_by(int64_t h) const { return h / (heads_ / shared_); }
  Rows<const T> query(int64_t b, int64_t h) const { return {query_, b, h}; }
  Rows<const T> key(int64_t b, int64_t h) const {
    return {key_, b, shared_by(h)};
  }
  Rows<const T> value(int64_t b, int64_t h) const {
    return {value_, b, shared_by(h)};
  }

  /// Keys that the rows up to `end` see.
  int64_t seen(int64_t end) const {
    return a_.causal ? std::min(keys_, end) : keys_;
  }

  /// exp(scores - the largest of a row) of rows [begin, end) and n keys, one
  /// row behind the other; factors: one over their sums. Without any key that
  /// takes part: zeros, and a factor of 0.
  void exponents(int64_t b, int64_t h, int64_t begin, int64_t end, int64_t n,
                 float* scores, float* factors,
                 const PackedRef<T>* keys = nullptr) const {
    const MatrixRef<T> rows = query(b, h).from(begin);
    if (keys)
      multiply(end - begin, a_.scale, rows, *keys, 0, scores);
    else
      multiply(end - begin, n, width_, a_.scale, rows, key(b, h).turned(0), 0,
               scores, n);
    std::vector<int64_t> empty;
    for (int64_t i = 0; i < end - begin; ++i) {
      hide(b, h, begin + i, n, scores + i * n);
      if (mask_.defined() && is_hidden(scores + i * n, n)) empty.push_back(i);
    }
    exp_rows(scores, n, end - begin, n, factors);
    for (const int64_t i : empty) {
      std::fill_n(scores + i * n, n, 0.0f);
      factors[i] = 0;
    }
  }

 private:
  /// The mask's part of a row, and what causality hides.
  void hide(int64_t b, int64_t h, int64_t i, int64_t n, float* row) const {
    if (a_.causal && i + 1 < n) std::fill(row + i + 1, row + n, kHidden);
    if (!mask_.defined()) return;
    const int64_t at =
        b * mask_.stride(0) + h * mask_.stride(1) + i * mask_.stride(2);
    const int64_t step = mask_.stride(3);
    const auto add = [&](const auto* from) {
      for (int64_t j = 0; j < n; ++j) row[j] += float(from[j * step]);
    };
    if (mask_.dtype() == DType::kBool) {
      const uint8_t* from = mask_.data<uint8_t>() + at;
      for (int64_t j = 0; j < n; ++j)
        if (!from[j * step]) row[j] = kHidden;
    } else if (mask_.dtype() == DType::kFloat32) {
      add(mask_.data<float>() + at);
    } else if (mask_.dtype() == DType::kBFloat16) {
      add(mask_.data<BFloat16>() + at);
    } else {
      add(mask_.data<Half>() + at);
    }
  }

  static bool is_hidden(const float* row, int64_t n) {
    return std::all_of(row, row + n, [](float x) { return x == kHidden; });
  }

  const AttentionAttributes& a_;
  const Tensor &query_, &key_, &value_, &mask_;
  int64_t batch_, heads_, shared_, rows_, keys_, width_, out_width_;
};

/// A head's keys and values in the order in which products read them: made
/// once for all blocks of its rows.
template <class T>
class Packs {
 public:
  explicit Packs(const Heads<T>& heads) : heads_(heads) {}

  void make(int64_t b, int64_t h) {
    const int64_t at = b * heads_.shared() + heads_.shared_by(h);
    if (at == made_) return;
    made_ = at;
    const int64_t n = heads_.keys(), width = heads_.width();
    const int64_t size = packed_size(width, n, sizeof(T));
    T* const room =
        scratch<T>(ScratchUse::kAttentionPacks,
                   size + packed_size(n, heads_.out_width(), sizeof(T)));
    keys = pack_factor(width, n, heads_.key(b, h).turned(0), room);
    values = pack_factor(n, heads_.out_width(), heads_.value(b, h).from(0),
                         room + size);
  }
  PackedRef<T> keys{}, values{};

 private:
  const Heads<T>& heads_;
  int64_t made_ = -1;
};

/// A call of "attention".
template <class T>
struct Forward {
  const Heads<T>& heads;
  const Tensor& out;
};

/// The heads by blocks of rows; packs: by matrices that are packed.
template <class T>
void by_blocks(const Forward<T>& call, bool packs) {
  const Heads<T>& g = call.heads;
  const Tensor& out = call.out;
  const int64_t at_once = g.rows_at_once(), width = g.out_width();
  const int64_t blocks = (g.rows() + at_once - 1) / at_once;
  parallel_for(
      0, g.batch() * g.heads() * blocks, 1, [&](int64_t i, int64_t stop) {
        Packs<T> packed(g);
        for (; i < stop; ++i) {
          const int64_t b = i / blocks / g.heads(), h = i / blocks % g.heads();
          const int64_t begin = i % blocks * at_once;
          const int64_t end = std::min(g.rows(), begin + at_once);
          const int64_t count = end - begin, n = g.seen(end);
          float* const scores = scratch<float>(ScratchUse::kAttentionScores,
                                               count * (n + width + 1));
          float *const sums = scores + count * n, *const factors =
                                                      sums + count * width;
          if (packs) packed.make(b, h);
          g.exponents(b, h, begin, end, n, scores, factors,
                      packs ? &packed.keys : nullptr);
          const MatrixRef<T> weights{
              rounded(scores, count * n,
                      room_for<T>(ScratchUse::kAttentionValues, count * n)),
              n, 1};
          if (packs)
            multiply(count, 1, weights, packed.values, 0, sums);
          else
            multiply(count, width, n, 1, weights, g.value(b, h).from(0), 0,
                     sums, width);
          scale_rows(sums, width, count, width, factors);
          const Rows<T> to(out, b, h);
          for (int64_t r = 0; r < count; ++r)
            put(sums + r * width, width, to.row(begin + r));
        }
      });
}

template <class T>
constexpr auto kForwardWays = std::to_array<Way<Forward<T>>>({
    {"packed", "blocks of rows by keys and values that are packed once a head",
     "rows that see all keys: nothing causal",
     [](const Forward<T>& c) { return !c.heads.causal(); },
     "more rows than a block has: 65,536 scores, 64 to 256 rows",
     [](const Forward<T>& c) {
       return c.heads.rows() > c.heads.rows_at_once();
     },
     [](const Forward<T>& c) { by_blocks(c, true); }},
    {"in_place", "blocks of rows by keys and values as they lie", "", nullptr,
     "", nullptr, [](const Forward<T>& c) { by_blocks(c, false); }},
});

/// Row by row sum of products.
template <class T>
float dot(const T* a, const T* b, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += float(a[i]) * float(b[i]);
  return sum;
}

/// Scores' gradients of a row of n: p (d - sum of p d) scale, to d. p are
/// exponents, which become weights.
void score_gradients(int64_t n, float factor, float total, float scale,
                     float* p, float* d) {
  HOTARU_INDEPENDENT
  for (int64_t j = 0; j < n; ++j) {
    const float weight = p[j] * factor;
    p[j] = weight;
    d[j] = weight * (d[j] - total) * scale;
  }
}

/// The gradients of one key's heads.
template <class T>
class Gradient {
 public:
  explicit Gradient(const KernelCall& call)
      : g_(call, 3),
        grad_(call.tensor(0)),
        out_(call.tensor(1)),
        dq_(call.tensor(7)),
        dk_(call.tensor(8)),
        dv_(call.tensor(9)) {}

  void run() const {
    parallel_for(0, g_.batch() * g_.shared(), 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     one(i / g_.shared(), i % g_.shared());
                 });
  }

 private:
  void one(int64_t b, int64_t shared) const {
    const int64_t keys = g_.keys(), width = g_.width(), out = g_.out_width();
    float* const sums =
        scratch<float>(ScratchUse::kAttentionKeys, keys * (width + out));
    std::fill_n(sums, keys * (width + out), 0.0f);
    const int64_t each = g_.heads() / g_.shared();
    for (int64_t h = shared * each; h < (shared + 1) * each; ++h)
      for (int64_t i = 0; i < g_.rows(); i += g_.rows_at_once())
        add(b, h, i, std::min(g_.rows(), i + g_.rows_at_once()), sums,
            sums + keys * width);
    store(dk_, b, shared, width, sums);
    store(dv_, b, shared, out, sums + keys * width);
  }

  void store(const Tensor& t, int64_t b, int64_t shared, int64_t width,
             const float* sums) const {
    if (!t.defined()) return;
    const Rows<T> to(t, b, shared);
    for (int64_t i = 0; i < g_.keys(); ++i)
      put(sums + i * width, width, to.row(i));
  }

  /// Rows [begin, end) of a head.
  void add(int64_t b, int64_t h, int64_t begin, int64_t end, float* dk,
           float* dv) const {
    const int64_t count = end - begin, n = g_.seen(end);
    const int64_t width = g_.width(), out_width = g_.out_width();
    const int64_t size = count * n;
    float* const p = scratch<float>(ScratchUse::kAttentionScores,
                                    2 * size + count * (width + 1));
    float *const d = p + size, *const dq = d + size,
                 *const factors = dq + count * width;
    T* const room = room_for<T>(ScratchUse::kAttentionValues, size);
    const Rows<const T> grad(grad_, b, h), out(out_, b, h);
    g_.exponents(b, h, begin, end, n, p, factors);
    multiply(count, n, out_width, 1, grad.from(begin), g_.value(b, h).turned(0),
             0, d, n);
    for (int64_t r = 0; r < count; ++r)
      score_gradients(n, factors[r],
                      dot(grad.row(begin + r), out.row(begin + r), out_width),
                      g_.scale(), p + r * n, d + r * n);
    if (dv_.defined())
      multiply(n, out_width, count, 1,
               MatrixRef<T>{rounded(p, size, room), 1, n}, grad.from(begin), 1,
               dv, out_width);
    const T* const ds = rounded(d, size, room);
    if (dk_.defined())
      multiply(n, width, count, 1, MatrixRef<T>{ds, 1, n},
               g_.query(b, h).from(begin), 1, dk, width);
    if (!dq_.defined()) return;
    multiply(count, width, n, 1, MatrixRef<T>{ds, n, 1}, g_.key(b, h).from(0),
             0, dq, width);
    const Rows<T> to(dq_, b, h);
    for (int64_t r = 0; r < count; ++r)
      put(dq + r * width, width, to.row(begin + r));
  }

  const Heads<T> g_;
  const Tensor &grad_, &out_, &dq_, &dk_, &dv_;
};

constexpr KernelTypes<TypeList<float, BFloat16>> kTypes{
    0, "scaled_dot_product_attention"};

void attention(const KernelCall& call) {
  kTypes.visit(call, [&]<class T>() {
    const Heads<T> heads(call, 2);
    run_first<kForwardWays<T>>(Forward<T>{heads, call.tensor(0)});
  });
}
/// The questions are the same of every dtype.
[[gnu::cold]] WayAnswers explain_attention(const KernelCall& call) {
  const Heads<float> heads(call, 2);
  return explain<kForwardWays<float>>(Forward<float>{heads, call.tensor(0)});
}
void attention_grad(const KernelCall& call) {
  kTypes.visit(call, [&]<class T>() { Gradient<T>(call).run(); });
}

HOTARU_KERNEL(kCPU, "attention", attention);
HOTARU_KERNEL(kCPU, "attention_grad", attention_grad);
const KernelWays attention_ways(DeviceType::kCPU, "attention",
                                explain_attention);

}  // namespace
}  // namespace hotaru::cpu
