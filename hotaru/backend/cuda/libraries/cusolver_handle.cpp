#include "hotaru/backend/cuda/libraries/cusolver_handle.h"

#include <algorithm>
#include <array>

#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/params/linalg.h"
#include "hotaru/backend/cuda/params/turn.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::cuda::solver {
namespace {

// Our own kernels have a block for each matrix, the library goes through them
// one after another. One block is enough up to what LU by panels begins with
// (kPanelLeast), and several blocks are as long as there are several matrices.
// Unmeasured. PyTorch takes the library for one matrix of any size, and for
// batches of LU from 512 rows on.
constexpr int64_t kLeast = kPanelLeast, kFew = 8, kLeastOfMany = 512;

/// Objects of a device, made when it is first used.
struct Owned {
  std::mutex mutex;
  Handle handle = nullptr;
  Params params = nullptr;
  Jacobi jacobi = nullptr;
};

Owned& owned_here() {
  static auto* const all = new std::array<Owned, kMostDevices>;
  return (*all)[size_t(launching_timeline().device())];
}

}  // namespace

Cusolver::Cusolver() {
  library.find(version, "cusolverGetVersion");
#define HOTARU_FIND(name, symbol, params) library.find(name, #symbol);
  HOTARU_CUSOLVER_ENTRIES(HOTARU_FIND)
  const std::string why_not = library.why_not;
  HOTARU_CUSOLVER_LATER_ENTRIES(HOTARU_FIND)
  library.why_not = why_not;
#undef HOTARU_FIND
}

std::string Cusolver::version_text() const {
  int v = 0;
  return version(&v) == kSuccess ? version_text_of(v, 1000) : "";
}

void check_solver(int status, const char* what) {
  check_library(Cusolver::kName, status, what);
}

Type type_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return kR64F;
    case DType::kComplex64:
      return kC32F;
    case DType::kComplex128:
      return kC64F;
    default:
      return kR32F;
  }
}
Type real_type_of(DType dtype) {
  return type_of(to_real(dtype));
}

bool is_for_library(int64_t batch, int64_t rows, int64_t columns) {
  constexpr int64_t kMost = 65535 * kTurnTile;  // of what a grid has in y and z
  const int64_t least = std::min(rows, columns);
  return batch > 0 && least >= (batch <= kFew ? kLeast : kLeastOfMany) &&
         std::max(rows, columns) <= kMost;
}

Session::Session(const Cusolver& found) : library(found) {
  refuse_recording("cuSOLVER may wait for the device");
  Owned& owned = owned_here();
  lock_ = blocking_lock(owned.mutex);
  if (!owned.handle) {
    use(launching_timeline().device());
    check_solver(found.create_params(&owned.params), "cusolverDnCreateParams");
    check_solver(found.create_jacobi(&owned.jacobi),
                 "cusolverDnCreateGesvdjInfo");
    check_solver(found.create(&owned.handle), "cusolverDnCreate");
  }
  handle = owned.handle;
  params = owned.params;
  jacobi = owned.jacobi;
  check_solver(found.set_stream(handle, launching_timeline().handle()),
               "cusolverDnSetStream");
}

}  // namespace hotaru::cuda::solver
