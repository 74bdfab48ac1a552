#include "hotaru/backend/cuda/linalg/linalg.h"

#include <algorithm>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda {
namespace {

const Function linalg_check("LinalgCheck");

}  // namespace

LinalgLaunch::LinalgLaunch(const KernelCall& call)
    : call_(call), attributes_(call.attributes<LinalgAttributes>()) {
  const LinalgAttributes& a = attributes_;
  constexpr int64_t kMost = kMostElements - 1;
  HOTARU_CHECK(std::max({a.batch, a.m, a.n, a.k}) < kMost, call.kernel().name(),
               " of 2^31 matrices, rows or columns and more is not implemented "
               "for CUDA");
  params.m = int32_t(a.m);
  params.n = int32_t(a.n);
  params.k = int32_t(a.k);
  params.upper = a.upper;
  params.unit = a.unit;
  params.hermitian = a.hermitian;
  params.pivot = a.pivot;
  params.rcond = a.rcond;
}

void* LinalgLaunch::operand(size_t i) const {
  const Tensor& t = call_.tensor(i);
  return t.defined() && t.numel() > 0 ? device_address(t) : nullptr;
}

void LinalgLaunch::info(size_t i) {
  if (attributes_.batch == 0) return;
  if (i < call_.operands().size() && call_.tensor(i).defined()) {
    params.info = static_cast<int32_t*>(operand(i));
  } else {
    info_.emplace(size_t(attributes_.batch) * sizeof(int32_t));
    params.info = static_cast<int32_t*>(info_->data());
  }
}

void LinalgLaunch::work(int64_t bytes) {
  if (attributes_.batch == 0) return;
  params.work_bytes = (bytes + 15) / 16 * 16;
  work_.emplace(size_t(attributes_.batch * params.work_bytes));
  params.work = static_cast<char*>(work_->data());
}

void LinalgLaunch::run(const Function& function, unsigned threads,
                       int64_t columns) {
  const int64_t blocks =
      columns > 1 ? ceil_divide(columns, kSolveColumns) : columns;
  launch(function,
         {unsigned(attributes_.batch),
          unsigned(std::min<int64_t>(blocks, kMostAcross))},
         threads, params);
}

void LinalgLaunch::check(void (*raise)(const FailureText&, int64_t,
                                       const int64_t*)) const {
  if (attributes_.batch == 0) return;
  LinalgCheckParams p;
  p.info = params.info;
  p.count = attributes_.batch;
  p.errors = watch_errors(
      call_, {raise, attributes_.batched ? 1 : 0, attributes_.name});
  launch(linalg_check, {1}, kBlock, p);
}

std::string matrix_name(const FailureText& text, const int64_t* numbers) {
  return text.dim ? concat("(Batch element ", numbers[0], "): ")
                  : std::string();
}

}  // namespace hotaru::cuda
