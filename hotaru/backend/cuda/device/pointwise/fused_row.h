// Code that texts of kernels that keep rows are written with; see
// fused/row_text.h.
#pragma once

#include "hotaru/backend/cuda/device/activation/softmax.h"
#include "hotaru/backend/cuda/device/norm/moments.h"
#include "hotaru/backend/cuda/device/pieces.h"
#include "hotaru/backend/cuda/device/pointwise/fused.h"
#include "hotaru/backend/cuda/device/reduce/reducer.h"

namespace hotaru::cuda {

/// Memory that the threads of a block share in between.
struct RowMemory {
  alignas(16) unsigned char bytes[kBlock * kLargestAccumulator];

  template <class A>
  __device__ A* as() {
    static_assert(sizeof(A) <= kLargestAccumulator);
    return reinterpret_cast<A*>(bytes);
  }
};

/// The row of a thread. Of each value it keeps kPieces pieces of kLength
/// elements in an array: slot i kLength + j is number j of piece i. Methods
/// that say so are for all threads of a block at once.
template <uint32_t kLength, uint32_t kPieces>
struct FusedRow : Pieces {
  static constexpr uint32_t kSlots = kLength * kPieces;

  const FusedRowParams& p;
  RowMemory& memory;
  Team team;
  bool real;
  int64_t at[1][FusedRowParams::kMostOperands];

  __device__ FusedRow(const FusedRowParams& params, RowMemory& shared)
      : Pieces{0, params.lanes, params.columns, params.vectors},
        p(params),
        memory(shared),
        team{params.lanes, false} {
    lane = team.lane();
    const uint32_t number = blockIdx.x * team.rows() + team.row();
    real = number < p.rows;
    uint32_t i[1] = {real ? number : 0};
    p.index.find(i, at);
  }

  __device__ char* line(int k) const {
    return static_cast<char*>(p.address[k]) + at[0][k];
  }
  __device__ bool whole(int k) const { return (p.whole >> k & 1) != 0; }
  __device__ uint32_t column(uint32_t slot) const {
    const uint32_t from = slot / kLength * kLength * lanes;
    return this->template begin<float, kLength>(from) +
           slot % kLength * apart();
  }
  /// f(slot, column) for the elements that there are.
  template <class F>
  __device__ void each(const F& f) const {
    HOTARU_UNROLL
    for (uint32_t s = 0; s < kSlots; ++s)
      if (column(s) < length) f(s, column(s));
  }

  template <class T>
  __device__ void read(int k, OpMath<T>* x) const {
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kPieces; ++i)
      Pieces::read<T, kLength>(x + i * kLength, line(k), p.step[k],
                               i * kLength * lanes, OpMath<T>(0), whole(k));
  }
  template <class T>
  __device__ void write(int k, const OpMath<T>* x) const {
    if (!real) return;
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kPieces; ++i)
      Pieces::write<T, kLength>(x + i * kLength, line(k), p.step[k],
                                i * kLength * lanes, whole(k));
  }
  /// Element of which a row has one.
  template <class T>
  __device__ OpMath<T> one(int k) const {
    return load<T>(line(k));
  }
  template <class T>
  __device__ void put(int k, OpMath<T> x) const {
    if (real && lane == 0) store<T>(line(k), x);
  }

  /// All threads. y may be x.
  template <class T, bool kLog>
  __device__ void softmax(const OpMath<T>* x, OpMath<T>* y) const {
    HOTARU_UNROLL
    for (uint32_t s = 0; s < kSlots; ++s)
      y[s] = column(s) < length ? x[s]
                                : -std::numeric_limits<OpMath<T>>::infinity();
    held_softmax<kLog, kSlots>(team, y, memory.template as<OpMath<T>>());
  }

  /// All threads.
  template <class T>
  __device__ RowMoments<OpMath<T>> moments(const OpMath<T>* x,
                                           double eps) const {
    using A = OpMath<T>;
    A sum = 0;
    each([&](uint32_t s, uint32_t) { sum += x[s]; });
    return row_moments(team, sum, A(length), A(eps), memory.template as<A>(),
                       memory.template as<Pair<A>>(), [&](const auto& take) {
                         each([&](uint32_t s, uint32_t) { take(x[s]); });
                       });
  }

  /// All threads. What reduce() of device/reduce/reduce.h gives for the row.
  template <class R, class T>
  __device__ auto reduce(const OpMath<T>* x,
                         const typename R::Attributes& a) const {
    using Acc = typename R::Acc;
    Acc* const accs = memory.template as<Acc>();
    Acc acc = vectors ? gathered<R, T, kLength>(x) : gathered<R, T, 4>(x);
    acc = combine_group<R>(acc, lanes, accs);
    __syncthreads();
    if (lane == 0) accs[team.row()] = acc;
    __syncthreads();
    acc = accs[team.row()];
    __syncthreads();
    return R::result(acc, double(length), a);
  }

 private:
  /// From this thread's elements, every kEach-th in a part.
  template <class R, class T, uint32_t kEach>
  __device__ typename R::Acc gathered(const OpMath<T>* x) const {
    constexpr uint32_t kParts = R::kParts < kEach ? R::kParts : kEach;
    typename R::Part part[kParts];
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kParts; ++j) part[j] = R::start();
    each([&](uint32_t s, uint32_t at) { R::take(part[s % kParts], x[s], at); });
    auto acc = R::total(part[0]);
    HOTARU_UNROLL
    for (uint32_t j = 1; j < kParts; ++j)
      acc = R::combine(acc, R::total(part[j]));
    return acc;
  }
};

}  // namespace hotaru::cuda
