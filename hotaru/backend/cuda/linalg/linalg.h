// Common parts of launchers of dense linear algebra.
#pragma once

#include <algorithm>
#include <optional>

#include "hotaru/backend/common/linalg/linalg.h"
#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/linalg.h"

namespace hotaru::cuda {

/// A call as it is being launched: parameters, an info for each matrix and
/// workspace.
class LinalgLaunch {
 public:
  LinalgParams params;

  /// Throws for matrices that are too large to be counted.
  explicit LinalgLaunch(const KernelCall& call);

  const LinalgAttributes& attributes() const { return attributes_; }
  /// The operand's address; null if it is undefined or has no elements.
  void* operand(size_t i) const;
  /// Each matrix's info is written to operand i, if that is defined.
  void info(size_t i);
  /// So many bytes of workspace for each matrix.
  void work(int64_t bytes);
  /// A block for each matrix, or several where `columns` are solved for.
  void run(const Function& function, unsigned threads, int64_t columns = 1);
  /// Raises, when the host next waits, for the first matrix whose info is not
  /// 0; the reported numbers are that matrix and its info.
  void check(void (*raise)(const FailureText&, int64_t, const int64_t*)) const;

 private:
  const KernelCall& call_;
  const LinalgAttributes& attributes_;
  std::optional<Workspace> work_, info_;
};

/// Threads of a block that solves for columns of right-hand sides.
inline unsigned solve_threads(const LinalgAttributes& s) {
  return linalg_threads(s.m, std::min<int64_t>(s.n, kSolveColumns));
}

/// Tells whether a matrix is so large that its factors are made by more than
/// one block: panel by panel, or by a library.
bool has_panels(int64_t rows, int64_t columns);
/// LU of p.from in p.a, or if p.lower Cholesky's factor; the launch's info is
/// written.
void factor_by_panels(const LinalgLaunch& l, DType dtype, PanelParams p);

/// "(Batch element 3): " in messages about one of several matrices.
std::string matrix_name(const FailureText& text, const int64_t* numbers);

}  // namespace hotaru::cuda
