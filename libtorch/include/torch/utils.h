// Modes, threads and seeds under torch::.
#pragma once

#include "ATen/Parallel.h"
#include "c10/core/GradMode.h"
#include "torch/types.h"

namespace torch {

using NoGradGuard = at::NoGradGuard;
using AutoGradMode = at::AutoGradMode;

inline void set_num_threads(int count) {
  at::set_num_threads(count);
}
using at::get_num_threads;
inline void set_num_interop_threads(int count) {
  at::set_num_interop_threads(count);
}
using at::get_num_interop_threads;

/// Seeds the generators of all devices.
using at::manual_seed;

}  // namespace torch
