// Every function of cuSOLVER that hotaru calls and the numbers that it calls
// them with, declared by ourselves: no header of NVIDIA is needed to build.
// They are those of cuSOLVER 11 and 12 (CUDA 12 and 13); tests compare them
// with cusolverDn.h where it lies. All return a status, 0 where it went well.
// Those of one element type are named by LAPACK's letter and declared alike.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hotaru/backend/cuda/driver_types.h"

namespace hotaru::cuda::solver {

using Handle = struct Context*;
using Params = struct ParamsOpaque*;
/// Parameters of Jacobi's rotations.
using Jacobi = struct JacobiOpaque*;

/// cudaDataType.
enum Type : int { kR32F = 0, kR64F = 1, kC32F = 4, kC64F = 5 };
enum Triangle : int { kUpper = 1 };
enum Vectors : int { kNoVectors = 0, kVectors = 1 };
inline constexpr int kSuccess = 0;

// clang-format off
#define HOTARU_CUSOLVER_ENTRIES(X) \
  X(create, cusolverDnCreate, (::hotaru::cuda::solver::Handle* handle)) \
  X(set_stream, cusolverDnSetStream, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::CUstream stream)) \
  X(create_params, cusolverDnCreateParams, (::hotaru::cuda::solver::Params* params)) \
  X(create_jacobi, cusolverDnCreateGesvdjInfo, (::hotaru::cuda::solver::Jacobi* jacobi)) \
  X(set_tolerance, cusolverDnXgesvdjSetTolerance, (::hotaru::cuda::solver::Jacobi jacobi, double tolerance)) \
  X(cholesky_room, cusolverDnXpotrf_bufferSize, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::solver::Params params, int triangle, int64_t n, int type, const void* a, int64_t lda, int compute, size_t* bytes, size_t* host_bytes)) \
  X(cholesky, cusolverDnXpotrf, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::solver::Params params, int triangle, int64_t n, int type, void* a, int64_t lda, int compute, void* room, size_t bytes, void* host, size_t host_bytes, int* info)) \
  X(lu_room, cusolverDnXgetrf_bufferSize, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::solver::Params params, int64_t m, int64_t n, int type, const void* a, int64_t lda, int compute, size_t* bytes, size_t* host_bytes)) \
  X(lu, cusolverDnXgetrf, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::solver::Params params, int64_t m, int64_t n, int type, void* a, int64_t lda, int64_t* pivots, int compute, void* room, size_t bytes, void* host, size_t host_bytes, int* info)) \
  X(qr_room, cusolverDnXgeqrf_bufferSize, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::solver::Params params, int64_t m, int64_t n, int type, const void* a, int64_t lda, int tau_type, const void* tau, int compute, size_t* bytes, size_t* host_bytes)) \
  X(qr, cusolverDnXgeqrf, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::solver::Params params, int64_t m, int64_t n, int type, void* a, int64_t lda, int tau_type, void* tau, int compute, void* room, size_t bytes, void* host, size_t host_bytes, int* info)) \
  X(eigh_room, cusolverDnXsyevd_bufferSize, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::solver::Params params, int vectors, int triangle, int64_t n, int type, const void* a, int64_t lda, int value_type, const void* values, int compute, size_t* bytes, size_t* host_bytes)) \
  X(eigh, cusolverDnXsyevd, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::solver::Params params, int vectors, int triangle, int64_t n, int type, void* a, int64_t lda, int value_type, void* values, int compute, void* room, size_t bytes, void* host, size_t host_bytes, int* info)) \
  X(sq_room, cusolverDnSorgqr_bufferSize, (::hotaru::cuda::solver::Handle handle, int m, int n, int k, const void* a, int lda, const void* tau, int* count)) \
  X(sq, cusolverDnSorgqr, (::hotaru::cuda::solver::Handle handle, int m, int n, int k, void* a, int lda, const void* tau, void* room, int count, int* info)) \
  X(dq_room, cusolverDnDorgqr_bufferSize, (::hotaru::cuda::solver::Handle handle, int m, int n, int k, const void* a, int lda, const void* tau, int* count)) \
  X(dq, cusolverDnDorgqr, (::hotaru::cuda::solver::Handle handle, int m, int n, int k, void* a, int lda, const void* tau, void* room, int count, int* info)) \
  X(cq_room, cusolverDnCungqr_bufferSize, (::hotaru::cuda::solver::Handle handle, int m, int n, int k, const void* a, int lda, const void* tau, int* count)) \
  X(cq, cusolverDnCungqr, (::hotaru::cuda::solver::Handle handle, int m, int n, int k, void* a, int lda, const void* tau, void* room, int count, int* info)) \
  X(zq_room, cusolverDnZungqr_bufferSize, (::hotaru::cuda::solver::Handle handle, int m, int n, int k, const void* a, int lda, const void* tau, int* count)) \
  X(zq, cusolverDnZungqr, (::hotaru::cuda::solver::Handle handle, int m, int n, int k, void* a, int lda, const void* tau, void* room, int count, int* info)) \
  X(ssvd_room, cusolverDnSgesvdj_bufferSize, (::hotaru::cuda::solver::Handle handle, int vectors, int thin, int m, int n, const void* a, int lda, const void* s, const void* u, int ldu, const void* v, int ldv, int* count, ::hotaru::cuda::solver::Jacobi jacobi)) \
  X(ssvd, cusolverDnSgesvdj, (::hotaru::cuda::solver::Handle handle, int vectors, int thin, int m, int n, void* a, int lda, void* s, void* u, int ldu, void* v, int ldv, void* room, int count, int* info, ::hotaru::cuda::solver::Jacobi jacobi)) \
  X(dsvd_room, cusolverDnDgesvdj_bufferSize, (::hotaru::cuda::solver::Handle handle, int vectors, int thin, int m, int n, const void* a, int lda, const void* s, const void* u, int ldu, const void* v, int ldv, int* count, ::hotaru::cuda::solver::Jacobi jacobi)) \
  X(dsvd, cusolverDnDgesvdj, (::hotaru::cuda::solver::Handle handle, int vectors, int thin, int m, int n, void* a, int lda, void* s, void* u, int ldu, void* v, int ldv, void* room, int count, int* info, ::hotaru::cuda::solver::Jacobi jacobi)) \
  X(csvd_room, cusolverDnCgesvdj_bufferSize, (::hotaru::cuda::solver::Handle handle, int vectors, int thin, int m, int n, const void* a, int lda, const void* s, const void* u, int ldu, const void* v, int ldv, int* count, ::hotaru::cuda::solver::Jacobi jacobi)) \
  X(csvd, cusolverDnCgesvdj, (::hotaru::cuda::solver::Handle handle, int vectors, int thin, int m, int n, void* a, int lda, void* s, void* u, int ldu, void* v, int ldv, void* room, int count, int* info, ::hotaru::cuda::solver::Jacobi jacobi)) \
  X(zsvd_room, cusolverDnZgesvdj_bufferSize, (::hotaru::cuda::solver::Handle handle, int vectors, int thin, int m, int n, const void* a, int lda, const void* s, const void* u, int ldu, const void* v, int ldv, int* count, ::hotaru::cuda::solver::Jacobi jacobi)) \
  X(zsvd, cusolverDnZgesvdj, (::hotaru::cuda::solver::Handle handle, int vectors, int thin, int m, int n, void* a, int lda, void* s, void* u, int ldu, void* v, int ldv, void* room, int count, int* info, ::hotaru::cuda::solver::Jacobi jacobi))
/// Entries that only newer ones have, from 11.7.1 on.
#define HOTARU_CUSOLVER_LATER_ENTRIES(X) \
  X(eig_room, cusolverDnXgeev_bufferSize, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::solver::Params params, int left, int right, int64_t n, int type, const void* a, int64_t lda, int value_type, const void* values, int left_type, const void* vl, int64_t ldvl, int right_type, const void* vr, int64_t ldvr, int compute, size_t* bytes, size_t* host_bytes)) \
  X(eig, cusolverDnXgeev, (::hotaru::cuda::solver::Handle handle, ::hotaru::cuda::solver::Params params, int left, int right, int64_t n, int type, void* a, int64_t lda, int value_type, void* values, int left_type, void* vl, int64_t ldvl, int right_type, void* vr, int64_t ldvr, int compute, void* room, size_t bytes, void* host, size_t host_bytes, int* info))
// clang-format on

}  // namespace hotaru::cuda::solver
