// Tensor cores: products of small matrices of 16-bit floats that the 32 threads
// of a warp hold together, and copies to shared memory that nobody waits for.
// Which thread holds what is the PTX manual's ("Matrix Fragments for
// mma.m16n8k16", "ldmatrix"): thread 4 g + t has rows g and g + 8 and columns
// 2 t and 2 t + 1 of results.
#pragma once

#include "hotaru/backend/cuda/device/block.h"

#ifndef __CUDACC__
#include <vector>
#endif

namespace hotaru::cuda {

/// Four numbers of a 16 x 8 result: (g, 2t), (g, 2t + 1), (g + 8, 2t),
/// (g + 8, 2t + 1).
using Quad = float[4];

#ifdef __CUDACC__

__device__ inline uint32_t shared_address(const void* p) {
  return uint32_t(__cvta_generic_to_shared(p));
}

/// Four matrices of 8 x 8 halves; thread i gives the address of row i % 8 of
/// matrix i / 8, and gets of each the pair (g, 2t), (g, 2t + 1), or, with
/// kTransposed, (2t, g), (2t + 1, g). Addresses are multiples of 16 bytes.
template <bool kTransposed>
__device__ inline void load_matrices(uint32_t (&to)[4], const void* row) {
  const uint32_t at = shared_address(row);
  if constexpr (kTransposed)
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, "
        "[%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(at));
  else
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(at));
}

/// c += a b, 16 x 16 times 16 x 8, of Half or BFloat16. a holds the matrices
/// (rows 0-7, k 0-7), (8-15, 0-7), (0-7, 8-15), (8-15, 8-15); b those of k 0-7
/// and 8-15, each as its columns.
template <class T>
__device__ inline void multiply_add(Quad& c, const uint32_t (&a)[4],
                                    const uint32_t (&b)[2]) {
  if constexpr (std::is_same_v<T, Half>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, "
        "%3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Copies `bytes`, at most 16, to shared memory and fills the rest of 16 with
/// zeros. Both addresses are multiples of 16 bytes; nothing is read of 0.
__device__ inline void copy_async(void* to, const void* from, uint32_t bytes) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes));
}
/// Makes a group of what was copied so far.
__device__ inline void end_copies() {
  asm volatile("cp.async.commit_group;");
}
/// Waits until all groups but the last kLeft are there, for this thread.
template <int kLeft>
__device__ inline void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

#else

namespace detail {

/// Board that the threads of a warp show each other: eight words each.
struct Board {
  uint32_t words[kWarp][8];
};
inline Board& show(const uint32_t* words, uint32_t count) {
  static Board boards[32];
  Board& board = boards[threadIdx.x / kWarp];
  __syncwarp();  // nobody reads what was shown before
  std::memcpy(board.words[threadIdx.x % kWarp], words, count * 4);
  __syncwarp();
  return board;
}
inline uint16_t half_of(const uint32_t* words, uint32_t i) {
  return uint16_t(words[i / 2] >> i % 2 * 16);
}

}  // namespace detail

template <bool kTransposed>
inline void load_matrices(uint32_t (&to)[4], const void* row) {
  uint32_t words[4];
  std::memcpy(words, row, sizeof(words));
  const detail::Board& board = detail::show(words, 4);
  const uint32_t lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
  for (uint32_t i = 0; i < 4; ++i)
    if constexpr (kTransposed)
      to[i] = detail::half_of(board.words[8 * i + 2 * t], g) |
              uint32_t(detail::half_of(board.words[8 * i + 2 * t + 1], g))
                  << 16;
    else
      to[i] = board.words[8 * i + g][t];
}

template <class T>
inline void multiply_add(Quad& c, const uint32_t (&a)[4],
                         const uint32_t (&b)[2]) {
  const uint32_t words[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  const detail::Board& board = detail::show(words, 6);
  const uint32_t lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t low = i / 2;  // rows g or g + 8
    const uint32_t column = 2 * t + i % 2;
    for (uint32_t k = 0; k < 16; ++k) {
      const uint32_t high = k / 8, at = k % 8 / 2, half = k % 2;
      const uint32_t x = board.words[4 * g + at][low + 2 * high];
      const uint32_t y = board.words[4 * column + at][4 + high];
      c[i] += widen<T>(uint16_t(x >> half * 16)) *
              widen<T>(uint16_t(y >> half * 16));
    }
  }
}

// Copies come as late as they may: who does not wait for them reads what was
// there before.
namespace detail {

struct Copy {
  void* to;
  const void* from;
  uint32_t bytes, group;
};
struct Copies {
  std::vector<Copy> pending;
  uint32_t groups = 0;
};
inline Copies& my_copies() {
  static Copies all[1024];
  return all[threadIdx.x];
}

}  // namespace detail

inline void copy_async(void* to, const void* from, uint32_t bytes) {
  detail::Copies& mine = detail::my_copies();
  mine.pending.push_back({to, from, bytes, mine.groups});
}
inline void end_copies() {
  ++detail::my_copies().groups;
}
template <int kLeft>
inline void await_copies() {
  detail::Copies& mine = detail::my_copies();
  std::erase_if(mine.pending, [&](const detail::Copy& copy) {
    if (copy.group + kLeft >= mine.groups) return false;
    std::memset(copy.to, 0, 16);
    std::memcpy(copy.to, copy.from, copy.bytes);
    return true;
  });
}

#endif

}  // namespace hotaru::cuda
