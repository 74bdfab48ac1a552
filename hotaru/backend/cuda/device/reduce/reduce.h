// The walk of every reduction. See params/reduce.h for how threads share it.
//
// A reducer R for elements T says
//   using Acc = ...;  static Acc identity();  static Acc combine(Acc, Acc);
//   using Part = ...; static Part start();    what a thread gathers in
//   static void take(Part&, OpMath<T> x, uint32_t position);
//   static Acc total(Part);
//   static Acc moved(Acc, int64_t by);        its positions count from later on
//   static void store(const ReduceParams&, const int64_t (&at)[3], Acc);
//   static constexpr uint32_t kParts;         of which it can hold so many
#pragma once

#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/params/reduce.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {

/// Where elements come from, by how many bytes they are away from the first.
template <class T>
struct ReduceMemory {
  const char* in;

  template <class V>
  __device__ V vector(int64_t at) const {
    return *reinterpret_cast<const V*>(in + at);
  }
  __device__ OpMath<T> one(int64_t at) const { return load<T>(in + at); }
};

/// Elements [begin, end) of an output, which is `from` bytes away, every
/// lanes-th, from vectors. Where several dimensions go, `end` is a multiple of
/// their length.
template <class R, class T, class Source>
__device__ typename R::Acc reduce_vectors(const Source& source, int64_t from,
                                          const Index<1>& gone, uint32_t begin,
                                          uint32_t end, uint32_t lane,
                                          uint32_t lanes) {
  using Part = typename R::Part;
  constexpr uint32_t kLength = reduce_length(sizeof(T));
  constexpr uint32_t kAhead = 4;  // vectors that are read at once
  constexpr uint32_t kParts = R::kParts < kLength ? R::kParts : kLength;
  using V = Vector<T, kLength>;
  Part part[kParts];
  HOTARU_UNROLL
  for (uint32_t j = 0; j < kParts; ++j) part[j] = R::start();
  const auto take = [&](const V& v, uint32_t i) {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kLength; ++j)
      R::take(part[j % kParts], widen<T>(v.at[j]), i * kLength + j);
  };
  const bool line = gone.dims <= 1;
  const uint32_t whole = end / kLength;
  HOTARU_NO_UNROLL
  for (uint32_t i = begin / kLength + lane; i < whole; i += kAhead * lanes) {
    // Elements past the end are read again, and not taken.
    uint32_t at[kAhead];
    int64_t bytes[kAhead][1];
    HOTARU_UNROLL
    for (uint32_t a = 0; a < kAhead; ++a) {
      at[a] = (i + a * lanes < whole ? i + a * lanes : i) * kLength;
      bytes[a][0] = int64_t(at[a]) * int64_t(sizeof(T));
    }
    if (!line) gone.find(at, bytes);
    V v[kAhead];
    HOTARU_UNROLL
    for (uint32_t a = 0; a < kAhead; ++a)
      v[a] = source.template vector<V>(from + bytes[a][0]);
    HOTARU_UNROLL
    for (uint32_t a = 0; a < kAhead; ++a)
      if (i + a * lanes < whole) take(v[a], i + a * lanes);
  }
  HOTARU_NO_UNROLL
  for (uint32_t r = whole * kLength + lane; r < end; r += lanes)
    R::take(part[0], source.one(from + int64_t(r) * int64_t(sizeof(T))), r);
  auto acc = R::total(part[0]);
  HOTARU_UNROLL
  for (uint32_t j = 1; j < kParts; ++j)
    acc = R::combine(acc, R::total(part[j]));
  return acc;
}

/// The same from any strides.
template <class R, class T, class Source>
__device__ typename R::Acc reduce_strided(const Source& source, int64_t from,
                                          const Index<1>& gone, uint32_t begin,
                                          uint32_t end, uint32_t lane,
                                          uint32_t lanes) {
  using Part = typename R::Part;
  constexpr uint32_t kAhead = 4;
  constexpr uint32_t kParts = R::kParts < kAhead ? R::kParts : kAhead;
  Part part[kParts];
  HOTARU_UNROLL
  for (uint32_t j = 0; j < kParts; ++j) part[j] = R::start();
  const bool line = gone.dims <= 1;
  const int64_t step = gone.dims ? gone.strides[0][0] : 0;
  HOTARU_NO_UNROLL
  for (uint32_t r = begin + lane; r < end; r += kAhead * lanes) {
    // Elements past the end are read again, and not taken.
    uint32_t i[kAhead];
    int64_t at[kAhead][1];
    HOTARU_UNROLL
    for (uint32_t a = 0; a < kAhead; ++a) {
      i[a] = r + a * lanes < end ? r + a * lanes : r;
      at[a][0] = int64_t(i[a]) * step;
    }
    if (!line) gone.find(i, at);
    OpMath<T> x[kAhead];
    HOTARU_UNROLL
    for (uint32_t a = 0; a < kAhead; ++a) x[a] = source.one(from + at[a][0]);
    HOTARU_UNROLL
    for (uint32_t a = 0; a < kAhead; ++a)
      if (r + a * lanes < end) R::take(part[a % kParts], x[a], r + a * lanes);
  }
  auto acc = R::total(part[0]);
  HOTARU_UNROLL
  for (uint32_t j = 1; j < kParts; ++j)
    acc = R::combine(acc, R::total(part[j]));
  return acc;
}

template <class R>
__device__ void store_output(const ReduceParams& p, uint32_t output,
                             const typename R::Acc& acc) {
  uint32_t i[1] = {output};
  int64_t at[1][3];
  p.kept.find(i, at);
  R::store(p, at[0], acc);
}

template <class R, class T, class Source>
__device__ void reduce_from(const ReduceParams& p, const Source& source) {
  using Acc = typename R::Acc;
  static_assert(sizeof(Acc) <= kLargestAccumulator);
  alignas(16) __shared__ unsigned char memory[kBlock * sizeof(Acc)];
  auto* shared = reinterpret_cast<Acc*>(memory);
  const ReducePlan plan = p.plan;
  const uint32_t outputs = outputs_of_block(plan);
  const uint32_t lane =
      plan.across ? threadIdx.x / outputs : threadIdx.x % plan.lanes;
  const uint32_t output =
      blockIdx.x * outputs +
      (plan.across ? threadIdx.x % outputs : threadIdx.x / plan.lanes);
  Acc acc = R::identity();
  if (output < p.outputs) {
    uint32_t i[1] = {output};
    int64_t at[1][3];
    p.kept.find(i, at);
    const uint32_t begin = blockIdx.y * plan.chunk;
    const uint32_t rest = p.reduced - begin;
    const uint32_t end = begin + (rest < plan.chunk ? rest : plan.chunk);
    acc = plan.vectors ? reduce_vectors<R, T>(source, at[0][0], p.gone, begin,
                                              end, lane, plan.lanes)
                       : reduce_strided<R, T>(source, at[0][0], p.gone, begin,
                                              end, lane, plan.lanes);
  }
  acc = plan.across ? combine_column<R>(acc, plan.lanes, shared)
                    : combine_group<R>(acc, plan.lanes, shared);
  if (lane != 0 || output >= p.outputs) return;
  if (!p.workspace) return store_output<R>(p, output, acc);
  const int64_t split = p.first_split + blockIdx.y;
  static_cast<Acc*>(p.workspace)[split * p.outputs + output] =
      R::moved(acc, p.first);
}

template <class R, class T>
__device__ void reduce(const ReduceParams& p) {
  reduce_from<R, T>(p, ReduceMemory<T>{static_cast<const char*>(p.in)});
}

/// From the partial results.
template <class R>
__device__ void reduce_second(const ReduceParams& p) {
  using Acc = typename R::Acc;
  alignas(16) __shared__ unsigned char memory[kBlock / kWarp * sizeof(Acc)];
  const uint32_t lanes = second_lanes(p.plan);
  const uint32_t lane = threadIdx.x % lanes;
  const uint32_t output = blockIdx.x * (kBlock / lanes) + threadIdx.x / lanes;
  Acc acc = R::identity();
  if (output < p.outputs)
    for (uint32_t s = lane; s < p.plan.splits; s += lanes)
      acc = R::combine(acc, static_cast<const Acc*>(
                                p.workspace)[int64_t{s} * p.outputs + output]);
  acc = combine_group<R>(acc, lanes, reinterpret_cast<Acc*>(memory));
  if (lane == 0 && output < p.outputs) store_output<R>(p, output, acc);
}

}  // namespace hotaru::cuda

/// Both kernels of a reducer (the last argument, which may hold commas) for
/// elements T.
#define HOTARU_REDUCTION(symbol, T, ...) \
  HOTARU_CUDA_BLOCK_KERNEL(symbol, ::hotaru::cuda::ReduceParams, \
                           ::hotaru::cuda::reduce<__VA_ARGS__, T>) \
  HOTARU_CUDA_BLOCK_KERNEL(symbol##_2, ::hotaru::cuda::ReduceParams, \
                           ::hotaru::cuda::reduce_second<__VA_ARGS__>)
