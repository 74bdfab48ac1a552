#include "hotaru/ops/out.h"

#include <algorithm>
#include <string_view>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/graph/capture/capture.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

/// PyTorch warns of a resized `out=`, but for what only sizes or chance make.
void warn_of_resize(const Operator& op, const Tensor& out,
                    const Tensor& result) {
  const Schema& schema = op.schema();
  static constexpr std::string_view kRanges[] = {"arange", "fft_fftfreq",
                                                 "fft_rfftfreq"};
  const bool range = std::find(std::begin(kRanges), std::end(kRanges),
                               schema.name) != std::end(kRanges);
  if (range && out.numel() > 0 && out.numel() != result.numel())
    return warn(concat(
        "The number of elements in the out tensor of shape ",
        shape_text(out.sizes()), " is ", out.numel(),
        " which does not match the computed number of elements ",
        result.numel(),
        ". Note that this may occur as a result of rounding error. The out "
        "tensor will be resized to a tensor of shape (",
        result.numel(), ",)."));
  if (out.numel() == 0 || out.sizes() == result.sizes() ||
      schema.arguments.front().type.kind != ArgKind::kTensor ||
      schema.find("generator") >= 0)
    return;
  warn(
      concat("An output with one or more elements was resized since it had "
             "shape ",
             shape_text(out.sizes()),
             ", which does not match the required output shape ",
             shape_text(result.sizes()),
             ". This behavior is deprecated, and in a future PyTorch release "
             "outputs will not be resized unless they have zero elements. You "
             "can explicitly reuse an out tensor t by resizing it, inplace, "
             "to zero elements with t.resize_(0)."));
}

/// Operators that PyTorch's kernels write the result of into `out` itself,
/// which is of its dtype then; others cast what they have computed.
bool writes_exactly(std::string_view name) {
  static constexpr std::string_view kNames =
      " abs absolute addbmm addmm addmv alias_copy amax amin aminmax argmax"
      " argmin as_strided_copy avg_pool2d avg_pool3d baddbmm bmm bucketize"
      " cross detach_copy diag diagonal_copy dot expand_copy float_power"
      " frexp frobenius_norm gather gelu hardshrink heaviside histc index_add"
      " index_copy index_select inner inverse isin isneginf isposinf kthvalue"
      " lerp linalg_cholesky linalg_det linalg_eigvalsh linalg_inv"
      " linalg_matmul linalg_matrix_norm linalg_multi_dot linalg_norm"
      " linalg_solve linalg_svdvals linalg_vecdot linalg_vector_norm linear"
      " log_sigmoid log_softmax lu_solve lu_unpack masked_select matmul median"
      " mm mode msort multinomial mv nan_to_num nanmedian nanquantile"
      " narrow_copy native_batch_norm nuclear_norm ormqr permute_copy qr"
      " quantile renorm scatter scatter_add searchsorted select_copy signbit"
      " slice_copy slice_scatter softmax softplus softshrink sort squeeze_copy"
      " svd t_copy tensordot topk transpose_copy triangular_solve tril triu"
      " unsqueeze_copy vdot view_as_complex_copy view_copy where ";
  return kNames.find(concat(" ", name, " ")) != std::string_view::npos;
}

/// Some operators write into nothing but their result's dtype.
void check_out_dtype(const Operator& op, DType out, DType result) {
  static constexpr std::string_view kSame[] = {
      "neg",           "negative",    "floor",        "ceil", "round",
      "special_round", "trunc",       "fix",          "sign", "sgn",
      "frac",          "bitwise_not", "conj_physical"};
  const std::string_view name = op.schema().name;
  if (std::find(std::begin(kSame), std::end(kSame), name) != std::end(kSame))
    check_found(out, result);
  HOTARU_CHECK(name != "nonzero",
               "nonzero: Expected out tensor to have scalar type Long but got "
               "scalar type",
               scalar_type_name(out));
  HOTARU_CHECK(name != "cummax" && name != "cummin" && name != "logcumsumexp",
               "expected scalar_type ", scalar_type_name(result), " but found ",
               scalar_type_name(out));
  HOTARU_CHECK(name != "hash_tensor",
               "Expected result to be of dtype uint64, but got ",
               scalar_type_name(out));
  HOTARU_CHECK(name != "_int_mm",
               "int_mm_out_cpu: Expected result dtype to be of type kInt but "
               "got ",
               cpp_type_name(out));
  HOTARU_CHECK(
      (name != "any" && name != "all") || out == DType::kUInt8, name,
      " only supports bool tensor for result, got: ", scalar_type_name(out));
  // Operators of two tensors of these names are pointwise.
  const bool of_dimension =
      (name == "max" || name == "min") && op.schema().results.size() == 2;
  HOTARU_CHECK(!of_dimension && !writes_exactly(name),
               "Expected out tensor to have dtype ", cpp_type_name(result),
               ", but got ", cpp_type_name(out), " instead");
  // Results that are 0 or 1 fit into every dtype.
  if (name != "bernoulli") check_can_cast(result, out);
}

/// True if the operator wrote its result there itself (ResultPlace).
bool is_there(const Tensor& out, const Tensor& result) {
  return result.storage() == out.storage() && !result.is_same(out) &&
         result.dtype() == out.dtype() &&
         result.storage_offset() == out.storage_offset() &&
         same(result.sizes(), out.sizes()) &&
         same(result.strides(), out.strides());
}

/// Meaning of an argument for `out`: nothing, that it is read element by
/// element where it is written, or that it is read elsewhere, or that its call
/// is an error that comes behind the computation.
enum class Meets { kNowhere, kElements, kElsewhere };

Meets meets(const Value& argument, const Tensor& out) {
  if (argument.is_list()) {
    const auto& items = argument.as_list().items;
    const bool apart = std::ranges::all_of(items, [&](const Value& item) {
      return meets(item, out) == Meets::kNowhere;
    });
    return apart ? Meets::kNowhere : Meets::kElsewhere;
  }
  if (!argument.is_tensor() || argument.is_none()) return Meets::kNowhere;
  const Tensor& t = argument.tensor_ref();
  if (autograd::needs_grad(t)) return Meets::kElsewhere;
  if (t.storage() != out.storage()) return Meets::kNowhere;
  const bool equal =
      t.dtype() == out.dtype() && t.storage_offset() == out.storage_offset() &&
      same(t.sizes(), out.sizes()) && same(t.strides(), out.strides());
  return equal ? Meets::kElements : Meets::kElsewhere;
}

/// True if what it gives fills any shape of as many elements.
bool is_range(std::string_view name) {
  static constexpr std::string_view kNames[] = {"arange", "linspace",
                                                "logspace"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

/// The result is written into a tensor of the caller's, resized to fit.
void put(const Operator& op, const Tensor& out, const Tensor& result) {
  if (is_there(out, result)) return out.bump_version();
  HOTARU_CHECK(out.device() == result.device(),
               "Attempting to copy from device ", result.device().str(),
               " to device ", out.device().str(),
               ", but cross-device copies are not allowed!");
  if (result.storage() == out.storage() && !result.is_same(out))
    return put(op, out, clone(result));
  if (out.dtype() != result.dtype())
    check_out_dtype(op, out.dtype(), result.dtype());
  if (is_range(op.schema().name) && out.numel() == result.numel())
    return void(copy_(out, view(result, out.sizes())));
  warn_of_resize(op, out, result);
  // Beside a view's own elements, and those of what is no value of the graph,
  // lies what a graph knows nothing of.
  const bool alone = out.numel() == 0 || out.storage()->pending();
  HOTARU_CHECK(!graph::capturing() || (alone && !out.impl()->base) ||
                   same(out.sizes(), result.sizes()),
               "operation not permitted when stream is capturing: out=, a view "
               "of shape ",
               shape_text(out.sizes()), ", would become one of shape ",
               shape_text(result.sizes()));
  const bool resized = !same(out.sizes(), result.sizes());
  resize_(out, result.sizes());
  // A tensor that is made anew has the strides of the operator's own result.
  if (resized && is_dense(result.sizes(), result.strides()))
    out.impl()->set_geometry(Dims(result.sizes()), Dims(result.strides()),
                             out.storage_offset());
  copy_(out, result);
}

/// Checks that what is written through out= has no history.
void check_plain(const Operator& op, const Tensor& t) {
  HOTARU_CHECK(!autograd::needs_grad(t), op.name(),
               "(): functions with out=... arguments don't support automatic "
               "differentiation, but one of the arguments requires grad.");
}

/// True if it adds or multiplies up in the dtype of its result.
bool accumulates(const Schema& schema, const Value& input, DType out) {
  static constexpr std::string_view kNames[] = {
      "sum", "nansum", "mean", "nanmean", "prod", "cumsum", "cumprod"};
  if (std::ranges::find(kNames, schema.name) == std::end(kNames)) return false;
  const bool floating = schema.name == "mean" || schema.name.starts_with("nan");
  return !floating || !is_integral(out, true) ||
         is_integral(input.as_tensor().dtype(), true);
}

/// Widens the input where there is no argument for that dtype: it is brought to
/// that of `out` where it is the more precise one.
void widen_input(const Schema& schema, const Tensor& out, Value& input) {
  static constexpr std::string_view kNames[] = {"std", "var", "logsumexp",
                                                "special_logsumexp"};
  if (std::ranges::find(kNames, schema.name) == std::end(kNames)) return;
  const Tensor x = input.as_tensor();
  if (x.is_floating_point() && out.is_floating_point() &&
      itemsize(out.dtype()) > itemsize(x.dtype()))
    input = to(x, out.dtype());
}

}  // namespace

void follow_out(const Schema& schema, const Tensor& out, bool dtype_given,
                Value* arguments) {
  const int at = schema.find("dtype");
  if (at < 0) return widen_input(schema, out, arguments[0]);
  const int device = schema.find("device");
  if (device >= 0 && arguments[device].is_none())
    arguments[device] = out.device();
  const bool of_tensor = schema.arguments.front().type.kind == ArgKind::kTensor;
  const bool sums = accumulates(schema, arguments[0], out.dtype());
  if (!sums && of_tensor) return;
  const DType wanted = out.dtype();
  const bool same =
      !dtype_given || dtype_from_int(arguments[at].as_int()) == wanted;
  HOTARU_CHECK(
      same || !sums, "Expected out tensor to have dtype ",
      dtype_name(same ? wanted : dtype_from_int(arguments[at].as_int())),
      ", but got ", dtype_name(wanted), " instead");
  HOTARU_CHECK(
      same, "dtype ",
      scalar_type_name(same ? wanted : dtype_from_int(arguments[at].as_int())),
      " does not match dtype of out parameter (", scalar_type_name(wanted),
      ")");
  arguments[at] = wanted;
}

std::optional<ResultPlace::For> result_place(const Operator& op,
                                             const Value* arguments,
                                             const Tensor& out) {
  // Kernels write whole vectors: at addresses as of fresh memory. Those of
  // elements write anywhere, also where no address is known yet.
  constexpr uintptr_t kAlignment = 64;
  const Schema& schema = op.schema();
  if (schema.results.size() != 1) return {};
  if (out.numel() == 0 || autograd::needs_grad(out) || repeats(out)) return {};
  bool elements = out.storage()->pending() ||
                  reinterpret_cast<uintptr_t>(out.address()) % kAlignment != 0;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Meets how = meets(arguments[i], out);
    if (how == Meets::kElsewhere) return {};
    elements |= how == Meets::kElements;
  }
  autograd::check_inplace(out);
  using enum ResultPlace::For;
  return elements ? kElements : kAny;
}

void check_out_apart(const Operator& op, const Value* arguments,
                     const Tensor& out) {
  static constexpr std::string_view kNames[] = {
      "cat",           "concat",         "concatenate",   "cross",
      "gather",        "index_add",      "index_copy",    "index_reduce",
      "index_select",  "linalg_cross",   "masked_select", "scatter",
      "scatter_add",   "scatter_reduce", "stack",         "take",
      "take_along_dim"};
  const Schema& schema = op.schema();
  if (std::ranges::find(kNames, schema.name) == std::end(kNames)) return;
  // These write into a copy of the first one, which `out` may be.
  static constexpr std::string_view kOfCopies[] = {
      "index_add", "index_copy",  "index_reduce",
      "scatter",   "scatter_add", "scatter_reduce"};
  const bool copied =
      std::ranges::find(kOfCopies, schema.name) != std::end(kOfCopies);
  for (size_t i = copied; i < schema.arguments.size(); ++i) {
    const Value& value = arguments[i];
    if (value.is_list())
      for (const Value& item : value.as_list().items)
        if (item.is_tensor()) check_apart(out, item.tensor_ref());
    if (value.is_tensor()) check_apart(out, value.tensor_ref());
  }
}

void check_without_tangents(const Operator& op, const Value* arguments,
                            std::span<const Tensor> out) {
  const auto dual = [](const Value& value) {
    return value.is_tensor() && autograd::passes_tangent(value.tensor_ref());
  };
  HOTARU_CHECK_AS(
      NotImplementedError,
      !std::any_of(arguments, arguments + op.schema().arguments.size(), dual) &&
          std::ranges::none_of(out, autograd::passes_tangent),
      "Trying to use forward AD with ", op.name(),
      "_out that does not support it because it is an out= function");
}

void write_out(const Operator& op, const Tensor& out, const Tensor& result) {
  check_plain(op, out);
  check_plain(op, result);
  put(op, out, result);
}

}  // namespace hotaru
