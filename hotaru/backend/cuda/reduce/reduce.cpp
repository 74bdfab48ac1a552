// Launching reductions: sums and their relatives, moments, and extremes with
// their positions; see params/reduce.h.
#include "hotaru/backend/cuda/params/reduce.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/formulas.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/reduce/formula.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

/// Operands of a reduction: what it reads and where its one or two results go.
struct Operands {
  const Tensor* in;
  const Tensor* out;     // null: not wanted
  const Tensor* second;  // null: not wanted
};

/// Throws unless there are kernels for the dtype.
template <class Types>
void check_supported(const KernelCall& call, DType dtype) {
  if (!visit_if_listed(Types{}, dtype, []<class>() {}))
    fail<NotImplementedError>("\"", call.kernel().name(),
                              "_cuda\" not implemented for '",
                              scalar_type_name(dtype), "'");
}

/// Strides of a result that has size 1 where the input is reduced: 0 there.
int64_t stride_of(const Tensor* t, size_t dim) {
  if (!t || t->dim() == 0) return 0;
  return t->sizes()[dim] == 1
             ? 0
             : t->strides()[dim] * int64_t(itemsize(t->dtype()));
}

/// A formula's kernels; the second one joins the results of splits.
struct ReduceFunctions {
  Functions first, second;
  constexpr explicit ReduceFunctions(std::string_view formula)
      : first(formula), second(formula, "_2") {}
};

/// Stretches of what goes, one after another, and what they come to together.
void reduce_part(const ReduceFunctions& functions, DType dtype,
                 const Geometry<3>& kept, const Geometry<1>& gone,
                 ReduceParams p, const FirstReduce* first) {
  p.out = kept.address[1];
  p.second = kept.address[2];
  p.outputs = uint32_t(kept.numel());
  p.kept = kept.index();
  const int sms = properties(launching_timeline().device()).processors;
  std::vector<ReduceParams> parts;
  uint32_t splits = 0;
  gone.for_stretches([&](const Geometry<1>& stretch, int64_t before) {
    p.in = kept.address[0] + (stretch.address[0] - gone.address[0]);
    p.reduced = uint32_t(std::min(p.count, stretch.numel()));
    p.gone = stretch.index();
    p.first = before;
    p.first_split = splits;
    plan_reduce(p, itemsize(dtype), sms);
    splits += p.plan.splits;
    parts.push_back(p);
  });
  const auto bytes = size_t(workspace_bytes(p, splits));
  const Workspace workspace{bytes};
  for (ReduceParams& part : parts) {
    if (bytes) part.workspace = workspace.data();
    const Grid grid{reduce_blocks(part), part.plan.splits};
    if (first)
      (*first)(part, grid);
    else
      launch(functions.first.of(dtype), grid, kBlock, part);
  }
  if (!bytes) return;
  parts.back().plan.splits = splits;
  launch(functions.second.of(dtype), {second_blocks(parts.back())}, kBlock,
         parts.back());
}

/// Over the dimensions that the mask names.
void reduce(const ReduceFunctions& functions, const Operands& o,
            const std::vector<bool>& mask, ReduceParams& p,
            const FirstReduce* first = nullptr) {
  const Tensor& in = *o.in;
  const Tensor& any = o.out ? *o.out : *o.second;
  if (any.numel() == 0) return;
  const auto address = [](const Tensor* t) {
    return t && t->numel() > 0 ? static_cast<char*>(device_address(*t))
                               : nullptr;
  };
  Geometry<3> kept;
  Geometry<1> gone;
  kept.address = {address(&in), address(o.out), address(o.second)};
  gone.address = {address(&in)};
  p.count = in.numel() / any.numel();
  // By the input's strides, the smallest first; those of one size class keep
  // the order of dimensions, in which positions count.
  std::vector<size_t> order;
  for (size_t d = Geometry<3>::checked_dims(in.sizes()); d-- > 0;)
    order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return in.strides()[a] < in.strides()[b];
  });
  const auto item = int64_t(itemsize(in.dtype()));
  for (const size_t d : order) {
    const int64_t size = in.sizes()[d], step = in.strides()[d] * item;
    if (size == 0) continue;
    if (mask[d])
      gone.add(size, {step});
    else
      kept.add(size, {step, stride_of(o.out, d), stride_of(o.second, d)});
  }
  kept.for_parts([&](const Geometry<3>& part) {
    reduce_part(functions, in.dtype(), part, gone, p, first);
  });
}

/// Dimensions in which the result has size 1 and the input has not.
std::vector<bool> reduced_dims(const Tensor& in, const Tensor& out) {
  std::vector<bool> gone(size_t(in.dim()));
  for (size_t d = 0; d < gone.size(); ++d)
    gone[d] = out.dim() == 0 || (out.sizes()[d] == 1 && in.sizes()[d] != 1);
  return gone;
}

template <class A>
A attributes_of(const KernelCall& call) {
  if constexpr (std::is_same_v<A, formulas::NoAttributes>)
    return {};
  else
    return call.attributes<A>();
}

/// How many names a list "A, B, C" has, and which one is the n-th.
constexpr size_t count_of(std::string_view names) {
  return size_t(std::count(names.begin(), names.end(), ',')) + 1;
}
constexpr std::string_view name_at(std::string_view names, size_t n) {
  while (n-- > 0) names.remove_prefix(names.find(',') + 2);
  return names.substr(0, names.find(','));
}

/// Functions for all formulas of such a list.
template <size_t... I>
constexpr auto functions_of(std::string_view names, std::index_sequence<I...>) {
  return std::array<ReduceFunctions, sizeof...(I)>{
      ReduceFunctions(name_at(names, I))...};
}

template <template <class> class... R>
using AttributesOf =
    typename std::tuple_element_t<0, std::tuple<R<float>...>>::Attributes;

/// The first formula that serves.
template <template <class> class... R>
size_t which_of(const AttributesOf<R...>& a) {
  size_t which = 0;
  (void)((R<float>::serves(a) || (++which, false)) || ...);
  return which;
}

/// Operands: result, input.
template <class Types, template <class> class... R>
void reduce_by(const KernelCall& call, const ReduceFunctions* functions,
               const FirstReduce* first) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  check_supported<Types>(call, in.dtype());
  const auto a = attributes_of<AttributesOf<R...>>(call);
  const size_t which = which_of<R...>(a);
  ReduceParams p;
  p.set_attributes(a);
  reduce(functions[which], {&in, &out, nullptr}, reduced_dims(in, out), p,
         first);
}

using namespace formulas;  // the list names them as they are

#define HOTARU_REDUCE_BY(call, first, Types, ...) \
  { \
    static constinit const auto functions = functions_of( \
        #__VA_ARGS__, std::make_index_sequence<count_of(#__VA_ARGS__)>()); \
    reduce_by<Types, __VA_ARGS__>(call, functions.data(), first); \
  }
#define HOTARU_REGISTER(kernel, name, ...) \
  HOTARU_KERNEL(kCUDA, kernel, \
                +[](const KernelCall& call) \
                    HOTARU_REDUCE_BY(call, nullptr, __VA_ARGS__));
HOTARU_REDUCTIONS(HOTARU_REGISTER)
#undef HOTARU_REGISTER

template <template <class> class... R>
ReduceFormula formula_among(const KernelCall& call, std::string_view names) {
  using A = AttributesOf<R...>;
  const size_t which = which_of<R...>(attributes_of<A>(call));
  return {name_at(names, which), [](const KernelCall& c, std::byte* to) {
            const A a = attributes_of<A>(c);
            if constexpr (!std::is_empty_v<A>) std::memcpy(to, &a, sizeof(a));
          }};
}

/// Operands: variance, input; or variance, mean, input.
void var(const KernelCall& call) {
  const size_t operands = call.operands().size();
  const Tensor &out = call.tensor(0), &in = call.tensor(operands - 1);
  check_supported<FloatingAndComplexTypes>(call, in.dtype());
  ReduceParams p;
  p.set_attributes(call.attributes<VarAttributes>());
  static constinit const ReduceFunctions functions("Var");
  reduce(functions, {&in, &out, operands == 3 ? &call.tensor(1) : nullptr},
         reduced_dims(in, out), p);
}

/// Positions count along one dimension.
void extreme(const KernelCall& call, const ReduceFunctions& functions,
             const Operands& o) {
  check_supported<RealAndBoolTypes>(call, o.in->dtype());
  const int64_t dim = call.attributes<LineAttributes>().dim;
  std::vector<bool> gone(size_t(o.in->dim()));
  if (!gone.empty()) gone[size_t(dim)] = true;
  ReduceParams p;
  reduce(functions, o, gone, p);
}
constinit const ReduceFunctions largest("LargestAt"), smallest("SmallestAt");

/// Operands: values, indices, input; or indices, input.
template <bool kLargest>
void max_dim(const KernelCall& call) {
  extreme(call, kLargest ? largest : smallest,
          {&call.tensor(2), &call.tensor(0), &call.tensor(1)});
}
template <bool kLargest>
void argmax(const KernelCall& call) {
  extreme(call, kLargest ? largest : smallest,
          {&call.tensor(1), nullptr, &call.tensor(0)});
}

HOTARU_KERNEL(kCUDA, "var", var);
HOTARU_KERNEL(kCUDA, "max_dim", max_dim<true>);
HOTARU_KERNEL(kCUDA, "min_dim", max_dim<false>);
HOTARU_KERNEL(kCUDA, "argmax", argmax<true>);
HOTARU_KERNEL(kCUDA, "argmin", argmax<false>);

}  // namespace

ReduceFormula reduce_formula(const KernelCall& call) {
  const std::string_view name = call.kernel().name();
#define HOTARU_FORMULA(kernel, unused, Types, ...) \
  if (name == kernel) return formula_among<__VA_ARGS__>(call, #__VA_ARGS__);
  HOTARU_REDUCTIONS(HOTARU_FORMULA)
#undef HOTARU_FORMULA
  return {};
}

void reduce_with(const KernelCall& call, const FirstReduce& first) {
  const std::string_view name = call.kernel().name();
#define HOTARU_WITH(kernel, unused, ...) \
  if (name == kernel) HOTARU_REDUCE_BY(call, &first, __VA_ARGS__)
  HOTARU_REDUCTIONS(HOTARU_WITH)
#undef HOTARU_WITH
}

}  // namespace hotaru::cuda
