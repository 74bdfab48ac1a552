// Launching factorisations of large matrices: by cuSOLVER, or panel by panel.
#include <algorithm>

#include "hotaru/backend/cuda/libraries/cusolver.h"
#include "hotaru/backend/cuda/linalg/linalg.h"

namespace hotaru::cuda {
namespace {

constinit const Functions start("PanelStart"), lu_panel("LuPanel"),
    lu_follow("LuFollow"), lu_update("LuUpdate"),
    cholesky_panel("CholeskyPanel"), cholesky_update("CholeskyUpdate");

unsigned panels(int64_t count) {
  return unsigned(ceil_divide(count, kPanel));
}

}  // namespace

bool has_panels(int64_t rows, int64_t columns) {
  constexpr int64_t kMost = 65535 * kPanel;  // of what a grid has in y and z
  return std::min(rows, columns) >= kPanelLeast &&
         std::max(rows, columns) <= kMost;
}

void factor_by_panels(const LinalgLaunch& l, DType dtype, PanelParams p) {
  const auto batch = unsigned(l.attributes().batch);
  p.info = l.params.info;
  if (!p.lower && lu_by_cusolver(batch, dtype, p)) return;
  launch(start.of(dtype), {batch, panels(p.m)}, kBlock, p);
  if (p.lower && cholesky_by_cusolver(batch, dtype, p)) return;
  const int32_t steps = std::min(p.m, p.n);
  for (p.begin = 0; p.begin < steps; p.begin += kPanel) {
    p.end = std::min(p.begin + kPanel, steps);
    launch((p.lower ? cholesky_panel : lu_panel).of(dtype), {batch}, kBlock, p);
    if (!p.lower) launch(lu_follow.of(dtype), {batch, panels(p.n)}, kBlock, p);
    launch((p.lower ? cholesky_update : lu_update).of(dtype),
           {batch, panels(p.n - p.end), panels(p.m - p.end)}, kBlock, p);
  }
}

}  // namespace hotaru::cuda
