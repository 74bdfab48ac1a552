// Matrix products without tensor cores: tiles in shared memory, squares of
// outputs in registers, and splits of long products. See params/matmul.h for
// how they are launched. The scheme is that of Volkov and Demmel,
// "Benchmarking GPUs to tune dense linear algebra" (2008), with two buffers.
#include "hotaru/backend/common/pointwise/activation.h"
#include "hotaru/backend/common/product.h"
#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/device/matmul/finish.h"
#include "hotaru/backend/cuda/params/matmul.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// A thread's part in bringing tiles of one operand to shared memory: four
/// elements of each, by way of registers.
template <class T, uint32_t kSide>
struct Carrier {
  using A = OpMath<T>;
  using Four = Vector<T, kMatmulLoads>;
  static constexpr uint32_t kDepth = tile_depth(kSide);
  static constexpr uint32_t kPitch = kSide + 4;

  const Stored<T>* from;
  int64_t apart;    // of the four
  int64_t advance;  // to the next tile
  uint32_t product, other;
  uint32_t real;  // of the four in the direction that does not move
  bool along, vectors;
  Four held;

  /// Of rows [first, limit) of what starts at `base`.
  __device__ Carrier(Reading reading, const void* base, int64_t along_step,
                     int64_t other_step, uint32_t first, uint32_t limit,
                     uint32_t begin) {
    along = reading == Reading::kAlong || reading == Reading::kAlongVectors;
    vectors =
        reading == Reading::kAlongVectors || reading == Reading::kOtherVectors;
    constexpr uint32_t kAlong = kDepth / kMatmulLoads,
                       kOther = kSide / kMatmulLoads;
    product =
        along ? threadIdx.x % kAlong * kMatmulLoads : threadIdx.x / kOther;
    other = along ? threadIdx.x / kAlong : threadIdx.x % kOther * kMatmulLoads;
    const uint32_t row = first + other;
    const uint32_t rest = row < limit ? limit - row : 0;
    real = along ? (rest ? kMatmulLoads : 0)
                 : (rest < kMatmulLoads ? rest : kMatmulLoads);
    apart = along ? along_step : other_step;
    advance = kDepth * along_step;
    from = static_cast<const Stored<T>*>(base) +
           (int64_t(begin) + product) * along_step + int64_t(row) * other_step;
  }

  /// Reads the part of the tile whose first product is `tile`.
  __device__ void fetch(uint32_t tile, uint32_t end) {
    const uint32_t k = tile + product;
    const uint32_t rest = k < end ? end - k : 0;
    const uint32_t count =
        along ? (rest < real ? rest : real) : (rest ? real : 0);
    if (vectors && count == kMatmulLoads) {
      held = load_vector<Four>(from);
    } else {
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kMatmulLoads; ++j)
        held.at[j] = j < count ? from[int64_t(j) * apart] : Stored<T>(0);
    }
    from += advance;
  }
  __device__ void put(A (&tile)[kDepth][kPitch]) const {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kMatmulLoads; ++j) {
      A* to = along ? &tile[product + j][other] : &tile[product][other + j];
      *to = widen<T>(held.at[j]);
    }
  }
};

template <class T, uint32_t kSide>
__device__ void gemm(const MatmulParams& p) {
  using A = OpMath<T>;
  using Operand = Carrier<T, kSide>;
  constexpr uint32_t kDepth = Operand::kDepth;
  constexpr uint32_t kEach = kSide / kSquare;
  // A thread's rows and columns come in runs of kRun, the runs far apart.
  constexpr uint32_t kRun = kEach < 4 ? kEach : 4;
  constexpr uint32_t kApart = kSide / (kEach / kRun);
  alignas(32) __shared__ A tiles[2][2][kDepth][Operand::kPitch];

  const uint32_t rest = p.tiles_n.divide(blockIdx.x);
  const uint32_t first_column = (blockIdx.x - rest * p.tiles_n.divisor) * kSide;
  const uint32_t batch = p.tiles_m.divide(rest);
  const uint32_t first_row = (rest - batch * p.tiles_m.divisor) * kSide;
  const uint32_t begin = blockIdx.y * p.chunk;
  const uint32_t end = p.k - begin < p.chunk ? p.k : begin + p.chunk;
  const uint32_t mine_row = threadIdx.x / kSquare * kRun,
                 mine_column = threadIdx.x % kSquare * kRun;

  Operand a(p.a_by,
            static_cast<const Stored<T>*>(p.a) + int64_t(batch) * p.a_at.batch,
            p.a_at.column, p.a_at.row, first_row, p.m, begin);
  Operand b(p.b_by,
            static_cast<const Stored<T>*>(p.b) + int64_t(batch) * p.b_at.batch,
            p.b_at.row, p.b_at.column, first_column, p.n, begin);
  A sums[kEach][kEach] = {};
  uint32_t buffer = 0;
  if (begin < end) {
    a.fetch(begin, end);
    b.fetch(begin, end);
    a.put(tiles[0][0]);
    b.put(tiles[0][1]);
    __syncthreads();
  }
  HOTARU_NO_UNROLL
  for (uint32_t k = begin; k < end; k += kDepth) {
    const bool more = end - k > kDepth;
    if (more) {
      a.fetch(k + kDepth, end);
      b.fetch(k + kDepth, end);
    }
    HOTARU_UNROLL
    for (uint32_t kk = 0; kk < kDepth; ++kk) {
      A x[kEach], y[kEach];
      HOTARU_UNROLL
      for (uint32_t i = 0; i < kEach; ++i) {
        const uint32_t at = i / kRun * kApart + i % kRun;
        x[i] = tiles[buffer][0][kk][mine_row + at];
        y[i] = tiles[buffer][1][kk][mine_column + at];
      }
      HOTARU_UNROLL
      for (uint32_t i = 0; i < kEach; ++i) HOTARU_UNROLL
      for (uint32_t j = 0; j < kEach; ++j) sums[i][j] += x[i] * y[j];
    }
    if (more) {
      buffer ^= 1;
      a.put(tiles[buffer][0]);
      b.put(tiles[buffer][1]);
      __syncthreads();
    }
  }

  auto* out = static_cast<Stored<T>*>(p.out) + int64_t(batch) * p.out_batch;
  auto* partial = static_cast<A*>(p.workspace);
  if (partial) partial += (int64_t(blockIdx.y) * p.batch + batch) * p.m * p.n;
  HOTARU_UNROLL
  for (uint32_t i = 0; i < kEach; ++i) {
    const uint32_t r = first_row + mine_row + i / kRun * kApart + i % kRun;
    HOTARU_UNROLL
    for (uint32_t run = 0; run < kEach; run += kRun) {
      const uint32_t c = first_column + mine_column + run / kRun * kApart;
      if (r >= p.m || c >= p.n) continue;
      const uint32_t count = p.n - c < kRun ? p.n - c : kRun;
      if (partial) {
        HOTARU_UNROLL
        for (uint32_t j = 0; j < kRun; ++j)
          if (j < count) partial[int64_t(r) * p.n + c + j] = sums[i][run + j];
        continue;
      }
      Vector<T, kRun> v;
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kRun; ++j)
        if (j < count)
          v.at[j] = narrow<T>(finish<T>(p, sums[i][run + j], batch, r, c + j));
      Stored<T>* to = out + int64_t(r) * p.out_row + c;
      if (p.out_vectors && count == kRun) {
        store_vector(to, v);
      } else {
        HOTARU_UNROLL
        for (uint32_t j = 0; j < kRun; ++j)
          if (j < count) to[j] = v.at[j];
      }
    }
  }
}

/// Blocks of large tiles on a processor. Two would leave 16-bit elements short
/// of a few registers.
template <class T>
constexpr int kCrowd = sizeof(Stored<T>) == 2 ? 1 : 2;

template <class A>
__device__ A activate(Activation activation, A x) {
  switch (activation) {
    case Activation::kRelu:
      return x < A(0) ? A(0) : x;
    case Activation::kSigmoid:
      return vmath::sigmoid(x);
    case Activation::kTanh:
      return vmath::tanh(x);
    case Activation::kSilu:
      return formulas::Silu<A>()(x);
    case Activation::kGelu:
      return formulas::Gelu<A>()(x);
    case Activation::kGeluTanh:
      return formulas::GeluTanh<A>()(x);
    default:
      return x;
  }
}

/// The output that a thread has, of those that are numbered through.
struct Output {
  int64_t batch;
  uint32_t row, column;
  __device__ Output(const MatmulParams& p, uint32_t i) {
    const uint32_t above = p.columns.divide(i);
    column = i - above * p.n;
    const uint32_t matrix = p.rows.divide(above);
    row = above - matrix * p.m;
    batch = matrix;
  }
};

/// From the sums of all splits, in their order.
template <class T>
__device__ void gemm_end(const MatmulParams& p) {
  using A = OpMath<T>;
  const int64_t outputs = matmul_outputs(p);
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= outputs) return;
  const auto* partial = static_cast<const A*>(p.workspace) + i;
  A sum = 0;
  HOTARU_NO_UNROLL
  for (uint32_t s = 0; s < p.splits; ++s, partial += outputs) sum += *partial;
  const Output o(p, i);
  store<T>(static_cast<Stored<T>*>(p.out) + o.batch * p.out_batch +
               int64_t(o.row) * p.out_row + o.column,
           activate(p.activation, finish<T>(p, sum, o.batch, o.row, o.column)));
}

/// What plain products are summed in: integers wrap around, as the CPU's do.
template <class T>
using Sum = std::conditional_t<kIsComplex<T>, T, uint64_t>;

/// A number out of those that the parameters have of each kind.
template <class T>
__device__ Sum<T> factor(double real, double imaginary, int64_t integer) {
  if constexpr (kIsComplex<T>) {
    using R = typename T::value_type;
    return T(R(real), R(imaginary));
  } else {
    return uint64_t(integer);
  }
}
template <class T>
__device__ Sum<T> plain(T x) {
  if constexpr (kIsComplex<T>)
    return x;
  else
    return uint64_t(int64_t(x));
}

/// Integers and complex numbers.
template <class T>
__device__ void plain_matmul(const MatmulParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= matmul_outputs(p)) return;
  const Output o(p, i);
  const auto* a = static_cast<const T*>(p.a) + o.batch * p.a_at.batch +
                  int64_t(o.row) * p.a_at.row;
  const auto* b = static_cast<const T*>(p.b) + o.batch * p.b_at.batch +
                  int64_t(o.column) * p.b_at.column;
  Sum<T> sum = 0;
  for (uint32_t k = 0; k < p.k; ++k, a += p.a_at.column, b += p.b_at.row)
    sum += product(plain(*a), plain(*b));
  sum = product(sum, factor<T>(p.alpha, p.imaginary_alpha, p.integer_alpha));
  if (p.bias)
    sum +=
        product(factor<T>(p.beta, p.imaginary_beta, p.integer_beta),
                plain(static_cast<const T*>(
                    p.bias)[o.batch * p.bias_at.batch + o.row * p.bias_at.row +
                            o.column * p.bias_at.column]));
  static_cast<T*>(p.out)[i] = T(sum);
}

}  // namespace

#define HOTARU_MATMUL(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL(GemmLarge_##suffix, kCrowd<T>, MatmulParams, \
                             gemm<T, large_side(sizeof(Stored<T>))>) \
  HOTARU_CUDA_BLOCK_KERNEL(GemmSmall_##suffix, MatmulParams, \
                           gemm<T, kSmallSide>) \
  HOTARU_CUDA_KERNEL(GemmEnd_##suffix, MatmulParams, gemm_end<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_MATMUL, )

#define HOTARU_PLAIN_MATMUL(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(PlainMatmul_##suffix, MatmulParams, plain_matmul<T>)
    HOTARU_DEVICE_TYPES_IntTypes(HOTARU_PLAIN_MATMUL, )
        HOTARU_DEVICE_TYPES_ComplexTypes(HOTARU_PLAIN_MATMUL, )

}  // namespace hotaru::cuda
