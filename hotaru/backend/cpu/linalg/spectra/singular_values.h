// Singular values and vectors of one matrix.
#pragma once

#include <string>

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {

enum class SvdOutcome : int64_t { kDone, kNotFinite, kNotConverged };

/// The values [min(m, n)], falling, of a [m, n]; u [m, of_u] and vh [of_v, n],
/// or null both.
template <class T>
SvdOutcome singular_values(int64_t m, int64_t n, const T* a, Real<T>* values,
                           T* u, int64_t of_u, T* vh, int64_t of_v);

/// Message for the other outcomes.
std::string singular_values_failed(SvdOutcome outcome);

}  // namespace hotaru::cpu
