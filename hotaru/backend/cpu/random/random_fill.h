// Fills of contiguous memory with random draws: the values that PyTorch's CPU
// kernels give for the same generator state, in the order of the elements.
// Every function locks the generator; arguments are checked by the operators.
// A non-contiguous tensor is filled through a contiguous buffer, for
// normal_fill with NormalPath::kSerial.
#pragma once

#include <cstdint>

#include "hotaru/backend/cpu/random/cpu_generator.h"

namespace hotaru {

/// Uniform in [from, to). T: float, double, Half, BFloat16.
template <class T>
void uniform_fill(T* out, int64_t n, double from, double to, CpuGenerator& gen);

/// How normal_ draws: kBlocks is PyTorch's for contiguous tensors of at least
/// 16 elements (and falls back to serial for fewer), kSerial for the others.
enum class NormalPath { kBlocks, kSerial };

/// Normal with the given mean and standard deviation. T: float, double, Half,
/// BFloat16.
template <class T>
void normal_fill(T* out, int64_t n, double mean, double std, CpuGenerator& gen,
                 NormalPath path = NormalPath::kBlocks);

/// Exponential with rate lambda, two draws each. T: float, double, Half,
/// BFloat16.
template <class T>
void exponential_fill(T* out, int64_t n, double lambda, CpuGenerator& gen);

/// Cauchy's with that median and scale, two draws each. T: as above.
template <class T>
void cauchy_fill(T* out, int64_t n, double median, double sigma,
                 CpuGenerator& gen);

/// The exponential of a normal number, one by one. T: as above.
template <class T>
void log_normal_fill(T* out, int64_t n, double mean, double std,
                     CpuGenerator& gen);

/// Trials up to the first success, two draws each. T: any type but Bool.
template <class T>
void geometric_fill(T* out, int64_t n, double p, CpuGenerator& gen);

/// 1 with probability p, else 0; two draws each. T: any element type.
template <class T>
void bernoulli_fill(T* out, int64_t n, double p, CpuGenerator& gen);

/// 1 with probability p[i], else 0. P float: one draw each; double: two.
template <class T, class P>
void bernoulli_fill(T* out, int64_t n, const P* p, CpuGenerator& gen);

/// random_(from, to) and randint: from + draw % range, converted to T. range
/// 0 stands for all 64-bit integers (from is not added). T: any element type.
template <class T>
void random_from_to_fill(T* out, int64_t n, uint64_t range, int64_t from,
                         CpuGenerator& gen);

/// random_(): an integer in [0, max] for integers, in [0, 2^digits] for
/// floating types, 0 or 1 for bool.
template <class T>
void random_full_fill(T* out, int64_t n, CpuGenerator& gen);

/// A permutation of 0 .. n-1. T: any element type that holds n - 1.
template <class T>
void randperm_fill(T* out, int64_t n, CpuGenerator& gen);

}  // namespace hotaru
