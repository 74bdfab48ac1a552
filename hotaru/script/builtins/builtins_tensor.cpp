// Requests of the language to tensors: their properties, and numbers from them.
#include <algorithm>
#include <utility>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/inference/inference.h"
#include "hotaru/core/memory_format.h"
#include "hotaru/core/sparse/opaque.h"
#include "hotaru/core/sparse/sparse.h"
#include "hotaru/engine/engine.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/runtime/generator.h"
#include "hotaru/runtime/warning.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/run/foreign.h"
#include "hotaru/script/run/interpreter.h"

namespace hotaru::script {

namespace {

Scalar number_of(const Tensor& tensor) {
  HOTARU_CHECK(tensor.numel() == 1, "a Tensor with ", tensor.numel(),
               " elements cannot be converted to Scalar");
  return item(tensor);
}

// Conversions that Python would not notice refuse what would lose something.
void check_implicit(const Tensor& tensor, bool integral) {
  HOTARU_CHECK(!autograd::requires_grad(tensor),
               "Cannot input a tensor that requires grad as a scalar "
               "argument");
  HOTARU_CHECK(tensor.dim() == 0,
               "Cannot input a tensor of dimension other than 0 as a scalar "
               "argument");
  HOTARU_CHECK(!integral || is_integral(tensor.dtype()),
               "Cannot input a tensor of type ",
               scalar_type_name(tensor.dtype()), " as an integral argument");
}

void add_numbers(BuiltinTable& table) {
  table.add(
      "Int.Tensor(Tensor a) -> int",
      +[](const Tensor& a) { return number_of(a).to_int(); });
  table.add(
      "Float.Tensor(Tensor a) -> float",
      +[](const Tensor& a) { return number_of(a).to_double(); });
  table.add(
      "Complex.Tensor(Tensor a) -> complex",
      +[](const Tensor& a) { return number_of(a).to_complex(); });
  table.add("Bool.Tensor(Tensor a) -> bool", &truth_of);
  table.add(
      "IntImplicit(Tensor a) -> int", +[](const Tensor& a) {
        check_implicit(a, true);
        return number_of(a).to_int();
      });
  table.add(
      "FloatImplicit(Tensor a) -> float", +[](const Tensor& a) {
        check_implicit(a, false);
        return number_of(a).to_double();
      });
  table.add(
      "ComplexImplicit(Tensor a) -> complex", +[](const Tensor& a) {
        check_implicit(a, false);
        return number_of(a).to_complex();
      });
  table.add(
      "ScalarImplicit(Tensor a) -> Scalar", +[](const Tensor& a) {
        check_implicit(a, false);
        return number_of(a);
      });
  table.add(
      "scalar_to_tensor(Scalar a) -> Tensor",
      +[](const Scalar& a) { return wrapped_scalar(a); });
  table.add(
      "NumToTensor(Scalar a) -> Tensor", +[](const Scalar& a) {
        return scalar_tensor(a, TensorOptions(a.dtype()));
      });
  table.add(
      "NumToTensor.bool(bool a) -> Tensor",
      +[](bool a) { return scalar_tensor(a, TensorOptions(DType::kBool)); });
}

Dims dims_of(const Value& list) {
  Dims out;
  for (const Value& item : list.as_list().items) out.push_back(item.as_int());
  return out;
}

void add_geometry(BuiltinTable& table) {
  table.add(
      "len.Tensor(Tensor t) -> int", +[](const Tensor& t) {
        HOTARU_CHECK_AS(TypeError, t.dim() > 0, "len() of a 0-d tensor");
        return t.sizes()[0];
      });
  table.add(
      "size(Tensor self) -> int[]",
      +[](const Tensor& t) { return Value::int_list(t.sizes()); });
  table.add(
      "size.int(Tensor self, int dim) -> int",
      +[](const Tensor& t, int64_t dim) { return t.size(dim); });
  table.add(
      "stride(Tensor self) -> int[]",
      +[](const Tensor& t) { return Value::int_list(t.strides()); });
  table.add(
      "stride.int(Tensor self, int dim) -> int",
      +[](const Tensor& t, int64_t dim) { return t.stride(dim); });
  auto dim = +[](const Tensor& t) { return t.dim(); };
  table.add("dim(Tensor self) -> int", dim);
  table.add("ndimension(Tensor self) -> int", dim);
  auto numel = +[](const Tensor& t) { return t.numel(); };
  table.add("numel(Tensor self) -> int", numel);
  table.add("nelement(Tensor self) -> int", numel);
  table.add(
      "storage_offset(Tensor self) -> int",
      +[](const Tensor& t) { return t.storage_offset(); });
  table.add(
      "is_contiguous(Tensor self) -> bool",
      +[](const Tensor& t) { return t.is_contiguous(); });
  table.add(
      "is_contiguous.memory_format(Tensor self, *, MemoryFormat memory_format) "
      "-> bool",
      +[](const Tensor& t, int64_t format) {
        return has_format(t.sizes(), t.strides(), MemoryFormat(format));
      });
  for (const char* name : {"broadcast_shapes", "_infer_size"}) {
    table.add(
        concat(name, "(int[] a, int[] b) -> int[]"),
        +[](const Value& a, const Value& b) {
          return Value::int_list(broadcast_shapes(dims_of(a), dims_of(b)));
        });
  }
  table.add(
      "element_size(Tensor self) -> int",
      +[](const Tensor& t) { return int64_t(itemsize(t.dtype())); });
  table.add(
      "itemsize(Tensor self) -> int",
      +[](const Tensor& t) { return int64_t(itemsize(t.dtype())); });
  table.add(
      "nbytes(Tensor self) -> int", +[](const Tensor& t) {
        return t.numel() * int64_t(itemsize(t.dtype()));
      });
}

// The layout by PyTorch's number, which archives hold.
/// Tells of a tensor that another language keeps what that says it is.
bool kept_is(const Value& tensor, const char* question) {
  return is_opaque(tensor.tensor_ref()) &&
         call_foreign(question, {{"", tensor}}).as_bool();
}

int64_t layout_number(const Tensor& tensor) {
  const SparseStorage* sparse = sparse_storage(tensor);
  if (!sparse) return kept_is(tensor, "is_mkldnn") ? 3 : 0;
  const auto layout = int64_t(sparse->layout());
  return layout < 3 ? layout : layout + 1;  // 3 is MKL-DNN's
}

void add_properties(BuiltinTable& table) {
  table.add(
      "item(Tensor self) -> Scalar", +[](const Tensor& t) { return item(t); });
  table.add(
      "dtype(Tensor a) -> int",
      +[](const Tensor& t) { return int64_t(t.dtype()); });
  table.add(
      "device(Tensor a) -> Device",
      +[](const Tensor& t) { return t.device(); });
  table.add(
      "device.with_index(str type, int index) -> Device",
      +[](const std::string& type, int64_t index) {
        return Device::parse(concat(type, ":", index));
      });
  table.add(
      "device.str(str a) -> Device",
      +[](const std::string& a) { return Device::parse(a); });
  table.add(
      "device.type(str type) -> Device",
      +[](const std::string& type) { return Device::parse(type); });
  table.add(
      "type(Device self) -> str", +[](Device device) {
        return std::string(device_type_name(device.type));
      });
  table.add(
      "index.device(Device self) -> int?", +[](Device device) {
        return device.index < 0 ? Value() : Value(int64_t{device.index});
      });
  table.add(
      "layout(Tensor a) -> int",
      +[](const Tensor& t) { return layout_number(t); });
  table.add(
      "is_sparse(Tensor a) -> bool",
      +[](const Tensor& t) { return layout_number(t) == 1; });
  table.add(
      "is_sparse_csr(Tensor a) -> bool",
      +[](const Tensor& t) { return layout_number(t) == 2; });
  table.add(
      "is_floating_point(Tensor self) -> bool",
      +[](const Tensor& t) { return t.is_floating_point(); });
  table.add(
      "is_complex(Tensor self) -> bool",
      +[](const Tensor& t) { return t.is_complex(); });
  table.add(
      "requires_grad(Tensor a) -> bool",
      +[](const Tensor& t) { return autograd::requires_grad(t); });
  table.add(
      "is_leaf(Tensor a) -> bool",
      +[](const Tensor& t) { return autograd::is_leaf(t); });
  table.add(
      "is_cuda(Tensor a) -> bool",
      +[](const Tensor& t) { return t.device().is_cuda(); });
  table.add(
      "is_cpu(Tensor a) -> bool",
      +[](const Tensor& t) { return t.device().is_cpu(); });
  table.add(
      "is_meta(Tensor a) -> bool",
      +[](const Tensor& t) { return t.device().type == DeviceType::kMeta; });
  table.add(
      "is_quantized(Tensor a) -> bool",
      +[](Value t) { return kept_is(t, "is_quantized"); });
  table.add(
      "is_mkldnn(Tensor a) -> bool",
      +[](Value t) { return kept_is(t, "is_mkldnn"); });
  table.add(
      "is_nested(Tensor a) -> bool",
      +[](Value t) { return kept_is(t, "is_nested"); });
  for (const char* name : {"is_mps", "is_xpu", "is_xla", "is_ipu", "is_vulkan",
                           "is_mtia", "is_maia"}) {
    table.add(
        concat(name, "(Tensor a) -> bool"),
        +[](const Tensor&) { return false; });
  }
  table.add(
      "is_signed(Tensor self) -> bool",
      +[](const Tensor& t) { return checked_signed(t.dtype()); });
  table.add(
      "promote_types(ScalarType type1, ScalarType type2) -> ScalarType",
      +[](DType a, DType b) { return int64_t(promote_types(a, b)); });
  table.add("can_cast(ScalarType from_, ScalarType to) -> bool", &can_cast);
  table.add(
      "result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType",
      +[](const Tensor& a, const Tensor& b) {
        return int64_t(result_type({a, b}));
      });
  table.add(
      "result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType",
      +[](const Tensor& a, const Scalar& b) {
        return int64_t(result_type({a, wrapped_scalar(b)}));
      });
  table.add(
      "result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType",
      +[](const Scalar& a, const Tensor& b) {
        return int64_t(result_type({wrapped_scalar(a), b}));
      });
  table.add(
      "result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType",
      +[](const Scalar& a, const Scalar& b) {
        return int64_t(result_type({wrapped_scalar(a), wrapped_scalar(b)}));
      });
  table.add(
      "data(Tensor a) -> Tensor", +[](const Tensor& t) {
        Tensor out = make_alias(t);
        out.impl()->tracks_version = false;
        return out;
      });
}

void add_modes(BuiltinTable& table) {
  table.add(
      "is_grad_enabled() -> bool", +[]() { return autograd::grad_enabled(); });
  table.add(
      "set_grad_enabled(bool val) -> ()",
      +[](bool on) { autograd::set_grad_enabled(on); });
  table.add(
      "is_scripting() -> bool", +[]() { return true; });
  // Nothing is traced in compiled code.
  table.add(
      "is_tracing() -> bool", +[]() { return false; });
  table.add(
      "is_autocast_enabled() -> bool",
      +[]() { return autocast::of(DeviceType::kCUDA).enabled; });
  table.add(
      "is_autocast_enabled.device(str device_type) -> bool",
      +[](const std::string& device) {
        const DeviceType type = Device::parse(device).type;
        return autocast::available(type) && autocast::of(type).enabled;
      });
  table.add(
      "get_autocast_dtype(str device_type) -> int",
      +[](const std::string& device) {
        return int64_t(autocast::of(Device::parse(device).type).dtype);
      });
  // Begins (scopes 1) or ends (-1) a scope. Tasks keep no casts.
  table.add(
      "_set_autocast(str device, bool enabled, int dtype, int scopes) -> ()",
      +[](const std::string& device, bool enabled, int64_t dtype,
          int64_t scopes) {
        const DeviceType type = Device::parse(device).type;
        if (autocast::state().cache && autocast::add_nesting(scopes) == 0)
          autocast::clear_cache();
        autocast::set_enabled(type, enabled);
        autocast::set_dtype(type, dtype_from_int(dtype));
      });
  table.add(
      "is_autocast_cpu_enabled() -> bool",
      +[]() { return autocast::of(DeviceType::kCPU).enabled; });
  table.add(
      "warn(str message, int stacklevel=2) -> ()",
      +[](const std::string& message, int64_t) { warn(message); });
  table.add(
      "_unwrap_optional(t? optional) -> t", +[](Value value) {
        HOTARU_CHECK(!value.is_none(), "Unwrapping null optional");
        return value;
      });
  table.add(
      "manual_seed(int seed) -> ()",
      +[](int64_t seed) { default_generator().manual_seed(uint64_t(seed)); });
  table.add(
      "backward(Tensor self, Tensor? gradient=None, bool? retain_graph=None, "
      "bool create_graph=False) -> ()",
      +[](const Tensor& self, const Tensor& gradient,
          std::optional<bool> retain, bool create) {
        autograd::backward(
            {self}, {gradient}, {},
            {.retain_graph = retain.value_or(create), .create_graph = create});
      });
  table.add(
      "grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None, "
      "bool? retain_graph=None, bool create_graph=False, bool "
      "allow_unused=False) -> Tensor?[]",
      +[](const Tensors& outputs, const Tensors& inputs, const Value& grads,
          std::optional<bool> retain, bool create, bool unused) {
        Tensors given(outputs.size());
        if (!grads.is_none()) given = grads.to_tensor_vector();
        return Value::tensor_list(autograd::grad(
            outputs, inputs, given,
            {.retain_graph = retain.value_or(create), .create_graph = create},
            unused));
      });
  table.add(
      "retains_grad(Tensor a) -> bool", +[](const Tensor& t) {
        const autograd::Meta* known = autograd::meta(t);
        return known && known->retains_grad;
      });
  table.add("retain_grad(Tensor self) -> ()", &autograd::retain_grad);
  table.add(
      "is_inference(Tensor self) -> bool",
      +[](const Tensor& t) { return is_inference(t); });
  table.add(
      "is_set_to(Tensor self, Tensor tensor) -> bool",
      +[](const Tensor& a, const Tensor& b) {
        return a.storage() == b.storage() &&
               a.storage_offset() == b.storage_offset() &&
               std::ranges::equal(a.sizes(), b.sizes()) &&
               std::ranges::equal(a.strides(), b.strides());
      });
  table.add(
      "grad.attribute(Tensor a) -> Tensor?", +[](const Tensor& t) {
        const autograd::Meta* known = autograd::meta(t);
        return known && known->grad.defined() ? Value(known->grad) : Value();
      });
  // For its schema: the interpreter has an instruction for it.
  table.add(
      "wait(Future(t) self) -> t",
      +[](const Value& value) { return Value(future_of(value).wait()); });
}

}  // namespace

bool truth_of(const Tensor& tensor) {
  HOTARU_CHECK(tensor.numel() == 1, "Boolean value of Tensor with ",
               tensor.numel() == 0 ? "no values" : "more than one value",
               " is ambiguous");
  return item(tensor).to_complex() != std::complex<double>(0, 0);
}

void add_tensor_builtins(BuiltinTable& table) {
  add_numbers(table);
  add_geometry(table);
  add_properties(table);
  add_modes(table);
}

}  // namespace hotaru::script
