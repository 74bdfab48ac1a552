#include "hotaru/backend/cuda/fused/writer.h"

#include <algorithm>

#include "hotaru/backend/common/norm/norm.h"
#include "hotaru/backend/common/same_elements.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"
#include "hotaru/backend/cuda/pointwise/formula.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda::fused {
namespace {

const Kernel& copy_kernel() {
  static const Kernel& copy = kernel("copy_");
  return copy;
}
const Kernel& where_kernel() {
  static const Kernel& where = kernel("where");
  return where;
}

}  // namespace

const char* type_name(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return "Half";
    case DType::kBFloat16:
      return "BFloat16";
    case DType::kUInt8:
      return "uint8_t";
    case DType::kInt8:
      return "int8_t";
    case DType::kInt16:
      return "int16_t";
    case DType::kInt32:
      return "int32_t";
    case DType::kInt64:
      return "int64_t";
    case DType::kBool:
      return "Bool";
    default:
      return nullptr;
  }
}

bool is_number(const Tensor& t) {
  return t.device().is_cpu();
}

bool FusedValues::fit() const {
  return !impossible && operands.size() <= FusedParams::kMostOperands &&
         objects.size() <= FusedParams::kMostFormulas &&
         numbers.size() <= FusedParams::kMostNumbers;
}

bool is_elementwise(const KernelCall& call) {
  const auto operands = call.operands();
  for (const Operand& operand : operands)
    if (!operand.tensor || !operand.tensor->defined() ||
        !type_name(operand.tensor->dtype()))
      return false;
  if (&call.kernel() == &copy_kernel() || &call.kernel() == &where_kernel())
    return !is_number(call.tensor(1));
  const FormulaInfo* info = formula_of(call.kernel());
  if (!info || operands.size() != size_t(info->inputs) + 1) return false;
  const DType as = call.tensor(1).dtype();
  if (!info->has(as)) return false;
  for (size_t i = 1; i < operands.size(); ++i) {
    const Tensor& t = *operands[i].tensor;
    if (!is_number(t) && t.dtype() != as && t.dim() != 0) return false;
  }
  return true;
}

bool is_channel_norm(const KernelCall& call) {
  if (call.kernel().name() != "batch_norm" ||
      call.attributes<BatchNormAttributes>().training)
    return false;
  const Tensor &out = call.tensor(0), &x = call.tensor(5);
  if (!is_floating_point(x.dtype()) || out.dtype() != x.dtype() ||
      x.numel() == 0 || !type_name(x.dtype()))
    return false;
  for (const size_t i : {3, 4, 6, 7}) {
    const Tensor& t = call.tensor(i);
    if (t.defined() && (is_number(t) || !type_name(t.dtype()))) return false;
  }
  return true;
}

size_t FusedWriter::operand(const Tensor& t) {
  auto& all = values_.operands;
  size_t k = 0;
  while (k < all.size() && !same_elements(*all[k], t)) ++k;
  if (k == all.size()) {
    all.push_back(&t);
    values_.read.push_back(false);
    values_.written.push_back(false);
    values_.item = std::max(values_.item, itemsize(t.dtype()));
  }
  return k;
}

size_t FusedWriter::object(const FusedValues::Object& object) {
  values_.objects.push_back(object);
  return values_.objects.size() - 1;
}

std::string FusedWriter::input(const Tensor& t, DType as) {
  if (is_number(t)) {
    values_.numbers.push_back({&t, as});
    return concat("number_at<OpMath<", type_name(as), ">>(p, ",
                  values_.numbers.size() - 1, ")");
  }
  for (size_t i = named_.size(); i-- > 0;)
    if (same_elements(*named_[i].tensor, t)) return named_[i].name;
  const size_t k = operand(t);
  values_.read[k] = true;
  named_.push_back({&t, read(k)});
  return named_.back().name;
}

std::string FusedWriter::channel_norm(const KernelCall& call) {
  const Tensor& x = call.tensor(5);
  const auto A = concat("OpMath<", type_name(x.dtype()), ">");
  const auto channel = [&](size_t i, const char* missing) {
    const Tensor& t = call.tensor(i);
    if (!t.defined()) return concat(A, "(", missing, ")");
    Dims sizes(size_t(x.dim()) - 1, 1), strides(size_t(x.dim()) - 1, 0);
    sizes[0] = t.numel();
    strides[0] = t.strides()[0];
    values_.views.push_back(std::make_shared<const Tensor>(make_tensor(
        t.storage(), t.dtype(), sizes, strides, t.storage_offset())));
    return concat(A, "(", input(*values_.views.back(), t.dtype()), ")");
  };
  // Nobody may want the statistics.
  for (const size_t i : {1, 2})
    if (!inner_.contains(call.tensor(i).storage().get()))
      values_.impossible = true;
  const std::string mean = channel(3, "0"), var = channel(4, "1"),
                    weight = channel(6, "1"), bias = channel(7, "0");
  return concat("ChannelScale<", A, ">(", mean, ", running_rstd(", var, ", ",
                eps<BatchNormAttributes>(call), "), ", weight, ", ", bias, ")(",
                input(x, x.dtype()), ")");
}

std::string FusedWriter::computed(const KernelCall& call) {
  if (is_channel_norm(call)) return channel_norm(call);
  const DType to = call.tensor(0).dtype();
  if (&call.kernel() == &copy_kernel())
    return concat("formulas::convert<OpMath<", type_name(to), ">>(",
                  input(call.tensor(1), call.tensor(1).dtype()), ")");
  if (&call.kernel() == &where_kernel()) {
    const std::string mask = input(call.tensor(1), DType::kBool),
                      x = input(call.tensor(2), to);
    return concat(mask, " ? ", x, " : ", input(call.tensor(3), to));
  }
  const FormulaInfo& info = *formula_of(call.kernel());
  const DType as = call.tensor(1).dtype();
  std::string inputs;
  for (int i = 0; i < info.inputs; ++i)
    inputs += (i ? ", " : "") + input(call.tensor(size_t(i) + 1), as);
  return concat("formula_at<formulas::", info.name, "<OpMath<", type_name(as),
                ">>>(p, ", object({&call, info.object}), ")(", inputs, ")");
}

void FusedWriter::add(const KernelCall& call) {
  const std::string value = computed(call);
  name(call.tensor(0), define(call.tensor(0), value));
}

void FusedWriter::name(const Tensor& t, const std::string& name) {
  named_.push_back({&t, name});
  if (inner_.contains(t.storage().get())) return;
  const size_t k = operand(t);
  values_.written[k] = true;
  write(k, name);
}

}  // namespace hotaru::cuda::fused
