// Launching running sums, products and extremes; see params/scan.h.
#include "hotaru/backend/cuda/params/scan.h"

#include "hotaru/backend/common/reduce/formulas.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

int64_t bytes(const Tensor* t, size_t dim) {
  return t ? t->strides()[dim] * int64_t(itemsize(t->dtype())) : 0;
}

/// Functions for chunks' totals, and for the scan.
struct ScanFunctions {
  Functions totals, all;
  constexpr explicit ScanFunctions(std::string_view formula)
      : totals(formula, "_t"), all(formula) {}
};

template <class Types>
void scan(const KernelCall& call, const ScanFunctions& functions,
          const Tensor& out, const Tensor* positions, const Tensor& in) {
  if (!visit_if_listed(Types{}, in.dtype(), []<class>() {}))
    fail<NotImplementedError>("\"", call.kernel().name(),
                              "_cuda\" not implemented for '",
                              scalar_type_name(in.dtype()), "'");
  if (in.numel() == 0) return;
  ScanParams p;
  const auto dim = size_t(call.attributes<LineAttributes>().dim);
  if (in.dim() > 0) {
    p.length = in.sizes()[dim];
    p.in_step = bytes(&in, dim);
    p.out_step = bytes(&out, dim);
    p.position_step = bytes(positions, dim);
  }
  Geometry<3> others;
  others.address = {
      static_cast<char*>(device_address(in)),
      static_cast<char*>(device_address(out)),
      positions ? static_cast<char*>(device_address(*positions)) : nullptr};
  for (size_t d = Geometry<3>::checked_dims(in.sizes()); d-- > 0;)
    if (d != dim)
      others.add(in.sizes()[d],
                 {bytes(&in, d), bytes(&out, d), bytes(positions, d)});
  others.for_parts([&](const Geometry<3>& part) {
    p.in = part.address[0];
    p.out = part.address[1];
    p.positions = part.address[2];
    p.lines = uint32_t(part.numel());
    p.others = part.index();
    p.plan = plan_of(p, properties(launching_timeline().device()).processors);
    const Workspace workspace{size_t(workspace_bytes(p))};
    p.workspace = workspace.data();
    const Grid grid{scan_blocks(p), p.plan.splits};
    if (p.plan.splits > 1)
      launch(functions.totals.of(in.dtype()), grid, kBlock, p);
    launch(functions.all.of(in.dtype()), grid, kBlock, p);
  });
}

/// Operands: result, input.
#define HOTARU_REGISTER(kernel, name, Types, S) \
  HOTARU_KERNEL( \
      kCUDA, kernel, +[](const KernelCall& call) { \
        static constinit const ScanFunctions functions(#S); \
        scan<Types>(call, functions, call.tensor(0), nullptr, call.tensor(1)); \
      });
HOTARU_SCANS(HOTARU_REGISTER)
#undef HOTARU_REGISTER

/// Operands: values, indices, input.
HOTARU_KERNEL(
    kCUDA, "cummax", +[](const KernelCall& call) {
      static constinit const ScanFunctions functions("RunningMax");
      scan<RealAndBoolTypes>(call, functions, call.tensor(0), &call.tensor(1),
                             call.tensor(2));
    });
HOTARU_KERNEL(
    kCUDA, "cummin", +[](const KernelCall& call) {
      static constinit const ScanFunctions functions("RunningMin");
      scan<RealAndBoolTypes>(call, functions, call.tensor(0), &call.tensor(1),
                             call.tensor(2));
    });

}  // namespace
}  // namespace hotaru::cuda
