// A stand-in for cuSOLVER. Like the real one it works in place, by columns, and
// says how much room it needs; it insists on that and on sizes. Matrices that
// begin with kStubborn fail to converge.
#include <cstring>

#include "hotaru/backend/cuda/libraries/cusolver_entries.h"
#include "hotaru/backend/soft_gpu/libraries/dense.h"

namespace hotaru::cuda::solver {

struct Context {
  CUstream stream = nullptr;
};
struct ParamsOpaque {};
struct JacobiOpaque {
  double tolerance = 0;
};

}  // namespace hotaru::cuda::solver

#define HOTARU_DECLARE(name, symbol, params) \
  __attribute__((visibility("default"))) int symbol params;
extern "C" {
HOTARU_CUSOLVER_ENTRIES(HOTARU_DECLARE)
HOTARU_CUSOLVER_LATER_ENTRIES(HOTARU_DECLARE)
__attribute__((visibility("default"))) int cusolverGetVersion(int* version);
}
#undef HOTARU_DECLARE

using namespace hotaru::cuda::solver;
using namespace hotaru::soft_gpu;

namespace {

constexpr int kInvalidValue = 3, kExecutionFailed = 6;
constexpr size_t kBytes = 3000, kHostBytes = 200;
constexpr int kElements = 700;
constexpr double kStubborn = 12345;

bool is_real(int type) {
  return type == kR32F || type == kR64F;
}
int real_of(int type) {
  return type == kC32F ? kR32F : type == kC64F ? kR64F : type;
}
int complex_of(int type) {
  return type == kR32F ? kC32F : type == kR64F ? kC64F : type;
}
template <class F>
void visit(int type, const F& f) {
  if (type == kR32F) return f(float());
  if (type == kR64F) return f(double());
  if (type == kC32F) return f(std::complex<float>());
  f(std::complex<double>());
}

/// A matrix or, of one column, numbers on the device.
struct Operand {
  int type;
  const void* data;
  int64_t rows, columns, ld;

  bool sound() const { return data && rows > 0 && columns > 0 && ld >= rows; }
  Dense read() const {
    Dense out(rows, columns);
    visit(type, [&]<class T>(T) {
      const T* from = static_cast<const T*>(data);
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i)
          out(i, j) = number_of(from[j * ld + i]);
    });
    return out;
  }
  /// The whole; or of a matrix that `keeps` says.
  template <class F>
  void write(const Dense& x, const F& keeps) const {
    visit(type, [&]<class T>(T) {
      T* to = static_cast<T*>(const_cast<void*>(data));
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i)
          if (keeps(i, j)) to[j * ld + i] = element_of<T>(x(i, j));
    });
  }
  void write(const Dense& x) const {
    write(x, [](int64_t, int64_t) { return true; });
  }
  template <class V>
  void write(const std::vector<V>& x) const {
    Dense all(rows, 1);
    std::copy_n(x.begin(), rows, all.data.begin());
    write(all);
  }
};

int says_room(const Operand& a, size_t* bytes, size_t* host_bytes) {
  if (!a.sound()) return kInvalidValue;
  *bytes = kBytes;
  *host_bytes = kHostBytes;
  return kSuccess;
}
int says_room(const Operand& a, int* count) {
  if (!a.sound()) return kInvalidValue;
  *count = kElements;
  return kSuccess;
}

/// Place in which the library computes, and where it says what became of it.
struct Place {
  void* room;
  size_t bytes;
  void* host;
  size_t host_bytes;
  int* info;

  bool sound() const {
    return room && info && bytes >= kBytes && host && host_bytes >= kHostBytes;
  }
};
Place place_of(int type, void* room, int count, int* info) {
  static char host[kHostBytes];
  size_t item = 0;
  visit(type, [&]<class T>(T) { item = sizeof(T); });
  // Functions of one type count elements, all of which may be needed.
  if (count < kElements) return {};
  static_assert(kElements * sizeof(float) < kBytes);
  return {room, std::max(kBytes, size_t(count) * item), host, kHostBytes, info};
}

/// Queues f, whose number becomes the info.
template <class F>
int queue(Handle handle, const Operand& a, const Place& place, size_t spoiled,
          const F& f) {
  if (!handle || !a.sound() || !place.sound()) return kInvalidValue;
  spoil(place.host, place.host_bytes);
  const bool queued = enqueue_on(handle->stream, [=] {
    spoil(place.room, spoiled);
    Dense x = a.read();
    *place.info = x(0, 0) == Number(kStubborn) ? 1 : f(x);
  });
  return queued ? kSuccess : kExecutionFailed;
}
template <class F>
int queue(Handle handle, Params params, const Operand& a, const Place& place,
          int compute, const F& f) {
  if (!params || compute != a.type) return kInvalidValue;
  return queue(handle, a, place, place.bytes, f);
}

int reflect(int type, Handle handle, int m, int n, int k, void* a, int lda,
            const void* tau, void* room, int count, int* info) {
  const Operand at{type, a, m, n, lda}, factors{type, tau, k, 1, k};
  if (m < n || n < k || !factors.sound()) return kInvalidValue;
  const Place place = place_of(type, room, count, info);
  size_t item = 0;
  visit(type, [&]<class T>(T) { item = sizeof(T); });
  return queue(handle, at, place, size_t(count) * item, [=](Dense& x) {
    at.write(product(x, factors.read().data, n));
    return 0;
  });
}
int reflect_room(int type, int m, int n, int k, const void* a, int lda,
                 int* count) {
  if (m < n || n < k) return kInvalidValue;
  return says_room({type, a, m, n, lda}, count);
}

struct Singular {
  Operand a, s, u, v;
  int vectors;

  Singular(int type, int with_vectors, int thin, int m, int n, const void* a_,
           int lda, const void* s_, const void* u_, int ldu, const void* v_,
           int ldv)
      : a{type, a_, m, n, lda},
        s{real_of(type), s_, std::min(m, n), 1, std::min(m, n)},
        u{type, u_, m, thin ? s.rows : m, ldu},
        v{type, v_, n, thin ? s.rows : n, ldv},
        vectors(with_vectors) {}
  bool sound() const {
    return a.sound() && s.sound() && (!vectors || (u.sound() && v.sound()));
  }
  int run(Handle handle, void* room, int count, int* info,
          Jacobi jacobi) const {
    // As if a program that did not say how exact had forgotten to.
    if (!sound() || !jacobi || !(jacobi->tolerance > 0)) return kInvalidValue;
    size_t item = 0;
    visit(a.type, [&]<class T>(T) { item = sizeof(T); });
    return queue(handle, a, place_of(a.type, room, count, info),
                 size_t(count) * item, [copy = *this](Dense& x) {
                   Dense left(0, 0), right(0, 0);
                   const auto values = singular(x, left, right);
                   copy.s.write(values);
                   if (copy.vectors) {
                     copy.u.write(left);
                     copy.v.write(right);
                   }
                   // Nothing is promised of what was read.
                   copy.a.write(Dense(x.rows, x.columns));
                   return 0;
                 });
  }
};

/// Real matrices' values in pairs, their vectors as real and imaginary parts.
void write_real(const std::vector<Number>& values, const Dense& vectors,
                const Operand& w, const Operand& vr) {
  const int64_t n = vectors.rows;
  std::vector<Number> out;
  Dense parts(n, n);
  double size = 0;
  for (const Number x : values) size = std::max(size, std::abs(x));
  for (int64_t c = 0; c < n; ++c) {
    const Number x = values[size_t(c)];
    const bool real = std::abs(x.imag()) < 1e-9 * size;
    if (!real && x.imag() < 0) continue;
    const int64_t at = int64_t(out.size());
    for (int64_t i = 0; i < n; ++i) {
      parts(i, at) = vectors(i, c).real();
      if (!real && at + 1 < n) parts(i, at + 1) = vectors(i, c).imag();
    }
    out.push_back(real ? Number(x.real()) : x);
    if (!real) out.push_back(std::conj(x));
  }
  out.resize(size_t(n));
  w.write(out);
  if (vr.data) vr.write(parts);
}

}  // namespace

int cusolverGetVersion(int* version) {
  *version = 12004;
  return kSuccess;
}
int cusolverDnCreate(Handle* handle) {
  *handle = new Context;
  return kSuccess;
}
int cusolverDnSetStream(Handle handle, hotaru::cuda::CUstream stream) {
  handle->stream = stream;
  return kSuccess;
}
int cusolverDnCreateParams(Params* params) {
  *params = new ParamsOpaque;
  return kSuccess;
}
int cusolverDnCreateGesvdjInfo(Jacobi* jacobi) {
  *jacobi = new JacobiOpaque;
  return kSuccess;
}
int cusolverDnXgesvdjSetTolerance(Jacobi jacobi, double tolerance) {
  jacobi->tolerance = tolerance;
  return kSuccess;
}

int cusolverDnXpotrf_bufferSize(Handle, Params, int, int64_t n, int type,
                                const void* a, int64_t lda, int, size_t* bytes,
                                size_t* host_bytes) {
  return says_room({type, a, n, n, lda}, bytes, host_bytes);
}
int cusolverDnXpotrf(Handle handle, Params params, int triangle, int64_t n,
                     int type, void* a, int64_t lda, int compute, void* room,
                     size_t bytes, void* host, size_t host_bytes, int* info) {
  const Operand at{type, a, n, n, lda};
  if (triangle != kUpper)
    return kInvalidValue;  // the other was never asked for
  return queue(handle, params, at, {room, bytes, host, host_bytes, info},
               compute, [=](Dense& x) {
                 const int failed = cholesky(x);
                 at.write(x, [](int64_t i, int64_t j) { return i <= j; });
                 return failed;
               });
}
int cusolverDnXgetrf_bufferSize(Handle, Params, int64_t m, int64_t n, int type,
                                const void* a, int64_t lda, int, size_t* bytes,
                                size_t* host_bytes) {
  return says_room({type, a, m, n, lda}, bytes, host_bytes);
}
int cusolverDnXgetrf(Handle handle, Params params, int64_t m, int64_t n,
                     int type, void* a, int64_t lda, int64_t* pivots,
                     int compute, void* room, size_t bytes, void* host,
                     size_t host_bytes, int* info) {
  const Operand at{type, a, m, n, lda};
  return queue(handle, params, at, {room, bytes, host, host_bytes, info},
               compute, [=](Dense& x) {
                 std::vector<int64_t> exchanged;
                 const int zero = lu(x, exchanged);
                 std::copy(exchanged.begin(), exchanged.end(), pivots);
                 at.write(x);
                 return zero;
               });
}
int cusolverDnXgeqrf_bufferSize(Handle, Params, int64_t m, int64_t n, int type,
                                const void* a, int64_t lda, int, const void*,
                                int, size_t* bytes, size_t* host_bytes) {
  return says_room({type, a, m, n, lda}, bytes, host_bytes);
}
int cusolverDnXgeqrf(Handle handle, Params params, int64_t m, int64_t n,
                     int type, void* a, int64_t lda, int tau_type, void* tau,
                     int compute, void* room, size_t bytes, void* host,
                     size_t host_bytes, int* info) {
  const int64_t k = std::min(m, n);
  const Operand at{type, a, m, n, lda}, factors{tau_type, tau, k, 1, k};
  if (tau_type != type || !factors.sound()) return kInvalidValue;
  return queue(handle, params, at, {room, bytes, host, host_bytes, info},
               compute, [=](Dense& x) {
                 factors.write(householder(x));
                 at.write(x);
                 return 0;
               });
}
int cusolverDnXsyevd_bufferSize(Handle, Params, int, int, int64_t n, int type,
                                const void* a, int64_t lda, int, const void*,
                                int, size_t* bytes, size_t* host_bytes) {
  return says_room({type, a, n, n, lda}, bytes, host_bytes);
}
int cusolverDnXsyevd(Handle handle, Params params, int vectors, int triangle,
                     int64_t n, int type, void* a, int64_t lda, int value_type,
                     void* values, int compute, void* room, size_t bytes,
                     void* host, size_t host_bytes, int* info) {
  const Operand at{type, a, n, n, lda}, w{value_type, values, n, 1, n};
  if (triangle != kUpper || value_type != real_of(type) || !w.sound())
    return kInvalidValue;
  return queue(handle, params, at, {room, bytes, host, host_bytes, info},
               compute, [=](Dense& x) {
                 for (int64_t j = 0; j < n; ++j) {
                   x(j, j) = x(j, j).real();
                   for (int64_t i = j + 1; i < n; ++i)
                     x(i, j) = std::conj(x(j, i));
                 }
                 w.write(hermitian(x));
                 if (!vectors) x = Dense(n, n);  // nothing is promised of it
                 at.write(x);
                 return 0;
               });
}
int cusolverDnXgeev_bufferSize(Handle, Params, int left, int, int64_t n,
                               int type, const void* a, int64_t lda, int,
                               const void*, int, const void*, int64_t, int,
                               const void*, int64_t, int, size_t* bytes,
                               size_t* host_bytes) {
  if (left != kNoVectors) return kInvalidValue;
  return says_room({type, a, n, n, lda}, bytes, host_bytes);
}
int cusolverDnXgeev(Handle handle, Params params, int left, int right,
                    int64_t n, int type, void* a, int64_t lda, int value_type,
                    void* values, int left_type, void*, int64_t ldvl,
                    int right_type, void* vr, int64_t ldvr, int compute,
                    void* room, size_t bytes, void* host, size_t host_bytes,
                    int* info) {
  const Operand at{type, a, n, n, lda}, w{value_type, values, n, 1, n};
  const Operand to{right_type, right ? vr : nullptr, n, n, ldvr};
  if (left != kNoVectors || left_type != type || right_type != type ||
      ldvl < 1 || value_type != complex_of(type) || !w.sound() ||
      (right && !to.sound()))
    return kInvalidValue;
  return queue(handle, params, at, {room, bytes, host, host_bytes, info},
               compute, [=](Dense& x) {
                 Dense vectors(0, 0);
                 const auto found = general(x, vectors);
                 if (is_real(type)) {
                   write_real(found, vectors, w, to);
                 } else {
                   w.write(found);
                   if (right) to.write(vectors);
                 }
                 return 0;
               });
}

#define HOTARU_TYPED(S, q, type) \
  int cusolverDn##S##q##_bufferSize(Handle, int m, int n, int k, \
                                    const void* a, int lda, const void*, \
                                    int* count) { \
    return reflect_room(type, m, n, k, a, lda, count); \
  } \
  int cusolverDn##S##q(Handle handle, int m, int n, int k, void* a, int lda, \
                       const void* tau, void* room, int count, int* info) { \
    return reflect(type, handle, m, n, k, a, lda, tau, room, count, info); \
  } \
  int cusolverDn##S##gesvdj_bufferSize( \
      Handle, int vectors, int thin, int m, int n, const void* a, int lda, \
      const void* s, const void* u, int ldu, const void* v, int ldv, \
      int* count, Jacobi) { \
    const Singular all(type, vectors, thin, m, n, a, lda, s, u, ldu, v, ldv); \
    return all.sound() ? says_room(all.a, count) : kInvalidValue; \
  } \
  int cusolverDn##S##gesvdj(Handle handle, int vectors, int thin, int m, \
                            int n, void* a, int lda, void* s, void* u, \
                            int ldu, void* v, int ldv, void* room, int count, \
                            int* info, Jacobi jacobi) { \
    const Singular all(type, vectors, thin, m, n, a, lda, s, u, ldu, v, ldv); \
    return all.run(handle, room, count, info, jacobi); \
  }
HOTARU_TYPED(S, orgqr, kR32F)
HOTARU_TYPED(D, orgqr, kR64F)
HOTARU_TYPED(C, ungqr, kC32F)
HOTARU_TYPED(Z, ungqr, kC64F)
#undef HOTARU_TYPED
