#include "hotaru/ops/autocast.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/graph/capture/capture.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/registry.h"

namespace hotaru {

/// Beside the operator's own way of being called.
struct AutocastRule {
  const Operator* op;
  autocast::Policy policies[2];
  /// Position of the dtype, or -1.
  int dtype;
  /// The overload that kAppendDType calls.
  const Operator* with_dtype = nullptr;
};

namespace autocast {
namespace {

/// A kept cast, with the leaf, whose address names it, kept alive.
struct Kept {
  Tensor leaf, cast;
};
using Cache = std::map<std::pair<const TensorImpl*, DType>, Kept>;

constinit thread_local State current;
constinit thread_local int64_t nesting = 0;
// Apart, as threads end without destroying tensors.
constinit thread_local Cache* kept = nullptr;
constinit thread_local std::vector<Note>* noted = nullptr;

DeviceType device_of(const Tensor& t) {
  const DeviceType type = t.device().type;
  return type == DeviceType::kMeta ? current.meta : type;
}

bool eligible(const Tensor& t, DeviceType type) {
  return t.defined() && device_of(t) == type && t.is_floating_point() &&
         t.dtype() != DType::kFloat64;
}

/// Captured casts belong to their graph, which sees later weights.
bool keeps(const Tensor& t, DType to, const OfDevice& device) {
  return current.cache && to == device.dtype && t.dtype() == DType::kFloat32 &&
         autograd::requires_grad(t) && autograd::is_leaf(t) && !t.is_view() &&
         !autograd::inference_mode() && !graph::capturing();
}

/// `name`: of the operator whose argument that is, if it is one's.
Tensor cast(std::string_view name, const Tensor& t, DType to, DeviceType type,
            const OfDevice& device) {
  if (!eligible(t, type) || t.dtype() == to) return t;
  if (noted) noted->push_back({name, t, to});
  if (!keeps(t, to, device)) return hotaru::to(t, to);
  if (!kept) kept = new Cache;
  Kept& entry = (*kept)[{t.impl(), to}];
  if (!entry.cast.defined()) {
    // With its history, whoever asks first.
    const autograd::GradMode recorded(true);
    entry = {t, hotaru::to(t, to)};
  }
  return entry.cast;
}

/// Calls f with each tensor among the arguments; an undefined one stays.
template <class F>
void for_tensors(const Schema& schema, const Value* arguments, const F& f) {
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Value& v = arguments[i];
    if (v.is_tensor()) {
      f(v.tensor_ref());
    } else if (v.is_list() &&
               schema.arguments[i].type.kind == ArgKind::kTensor) {
      for (const Value& item : v.as_list().items)
        if (item.is_tensor()) f(item.tensor_ref());
    }
  }
}

/// One operator's call, on a device that has autocast on.
class AutocastCall {
 public:
  AutocastCall(const AutocastRule& rule, const Callee& callee, DeviceType type,
               Value* arguments)
      : rule_(rule),
        callee_(callee),
        schema_(rule.op->schema()),
        type_(type),
        device_(current.devices[size_t(type)]),
        arguments_(arguments) {}

  void run(Value* results) {
    // Operators that the operator is made of run as they are.
    struct Inside {
      bool& enabled;
      ~Inside() { enabled = true; }
    };
    prepare();
    const Inside inside{current.devices[size_t(type_)].enabled};
    inside.enabled = false;
    if (policy() != Policy::kAppendDType)
      return callee_.plain(callee_, arguments_, results);
    Value extended[8];
    const size_t n = schema_.arguments.size();
    for (size_t i = 0; i < n; ++i) extended[i] = std::move(arguments_[i]);
    const Tensor& self = extended[0].tensor_ref();
    const DType dtype = eligible(self, type_) ? DType::kFloat32 : self.dtype();
    if (noted) noted->push_back({schema_.name, self, dtype, int(n)});
    extended[n] = dtype;
    rule_.with_dtype->call(extended, results);
  }

 private:
  Policy policy() const { return rule_.policies[size_t(type_)]; }

  void prepare() {
    switch (policy()) {
      case Policy::kLower:
        return cast_all(device_.dtype);
      case Policy::kFloat:
        return cast_all(DType::kFloat32);
      case Policy::kPromote:
        return cast_all(widest());
      case Policy::kSetDType:
        if (arguments_[0].is_tensor() && arguments_[rule_.dtype].is_none() &&
            eligible(arguments_[0].tensor_ref(), type_))
          fill_dtype(DType::kFloat32);
        return;
      case Policy::kBanned:
        fail(
            "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are "
            "unsafe to autocast.\nMany models use a sigmoid layer right before "
            "the binary cross entropy layer.\nIn this case, combine the two "
            "layers using torch.nn.functional.binary_cross_entropy_with_logits"
            "\nor torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits"
            " and BCEWithLogits are\nsafe to autocast.");
      default:
        return;
    }
  }

  void fill_dtype(DType dtype) {
    if (noted)
      noted->push_back(
          {schema_.name, arguments_[0].tensor_ref(), dtype, rule_.dtype});
    arguments_[rule_.dtype] = dtype;
  }

  DType widest() const {
    DType out = device_.dtype;
    for_tensors(schema_, arguments_, [&](const Tensor& t) {
      if (!eligible(t, type_)) return;
      HOTARU_CHECK(
          out == DType::kFloat32 || t.dtype() == DType::kFloat32 ||
              t.dtype() == out,
          "Unexpected floating ScalarType in at::autocast::prioritize");
      if (t.dtype() == DType::kFloat32) out = DType::kFloat32;
    });
    return out;
  }

  void cast_all(DType to) {
    for (size_t i = 0; i < schema_.arguments.size(); ++i) {
      Value& v = arguments_[i];
      if (v.is_tensor()) {
        const Tensor& t = v.tensor_ref();
        if (t.dtype() != to && eligible(t, type_))
          v = cast(schema_.name, t, to, type_, device_);
      } else if (v.is_list() &&
                 schema_.arguments[i].type.kind == ArgKind::kTensor) {
        // The list may be the caller's.
        std::vector<Value> items = v.as_list().items;
        for (Value& item : items)
          if (item.is_tensor())
            item = cast(schema_.name, item.tensor_ref(), to, type_, device_);
        v = Value::list(std::move(items));
      }
    }
  }

  const AutocastRule& rule_;
  const Callee& callee_;
  const Schema& schema_;
  DeviceType type_;
  OfDevice device_;
  Value* arguments_;
};

bool has_tensor_on(const Schema& schema, const Value* arguments,
                   DeviceType type) {
  bool found = false;
  for_tensors(schema, arguments, [&](const Tensor& t) {
    found |= t.defined() && device_of(t) == type;
  });
  return found;
}

void invoke_listed(const Callee& callee, Value* arguments, Value* results) {
  const AutocastRule& rule = *callee.autocast;
  for (const DeviceType type : {DeviceType::kCUDA, DeviceType::kCPU})
    if (current.devices[size_t(type)].enabled &&
        rule.policies[size_t(type)] != Policy::kNone &&
        has_tensor_on(rule.op->schema(), arguments, type))
      return AutocastCall(rule, callee, type, arguments).run(results);
  callee.plain(callee, arguments, results);
}

const Operator* find(std::string_view name) {
  const size_t dot = std::min(name.find('.'), name.size());
  const std::string_view overload = name.substr(std::min(dot + 1, name.size()));
  return Registry::instance().find(name.substr(0, dot), overload);
}

/// Puts autocast before the operators of the lists; once in a process.
void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const Entry& entry : entries()) {
      const Operator* op = find(entry.name);
      HOTARU_CHECK(op, "autocast: there is no operator ", entry.name);
      auto rule = std::make_unique<AutocastRule>(AutocastRule{
          op, {entry.cpu, entry.cuda}, op->schema().find("dtype")});
      if (entry.cuda == Policy::kAppendDType)
        rule->with_dtype =
            find(entry.name == "norm.Scalar" ? "norm.ScalarOpt_dtype"
                                             : "norm.ScalarOpt_dim_dtype");
      // As long as its operator, which is never destroyed.
      op->set_autocast(rule.release(), &invoke_listed);
    }
  });
}

}  // namespace

bool available(DeviceType type) {
  return type == DeviceType::kCPU || type == DeviceType::kCUDA;
}

const State& state() {
  return current;
}

void set_state(const State& state) {
  if (state.devices[0].enabled || state.devices[1].enabled) install();
  current = state;
}

OfDevice of(DeviceType type) {
  HOTARU_CHECK(available(type), "unsupported scalarType");
  return current.devices[size_t(type)];
}

void set_enabled(DeviceType type, bool enabled) {
  if (!available(type)) {
    HOTARU_CHECK(!enabled, "autocast: not implemented for device ",
                 device_type_name(type));
    return;
  }
  if (enabled) install();
  current.devices[size_t(type)].enabled = enabled;
}

void set_dtype(DeviceType type, DType dtype) {
  HOTARU_CHECK(available(type), "autocast: not implemented for device ",
               device_type_name(type));
  current.devices[size_t(type)].dtype = dtype;
}

void set_cache_enabled(bool enabled) {
  current.cache = enabled;
}

int64_t add_nesting(int64_t scopes) {
  return nesting += scopes;
}

void clear_cache() {
  // First off the thread: letting a tensor go may run anything.
  const std::unique_ptr<Cache> gone(std::exchange(kept, nullptr));
}

std::vector<Note>* note_casts(std::vector<Note>* notes) {
  return std::exchange(noted, notes);
}

bool active() {
  return current.devices[0].enabled || current.devices[1].enabled;
}

int64_t key() {
  int64_t out = 0;
  for (const OfDevice& d : current.devices)
    out = out * 256 + (d.enabled ? 1 + int64_t(d.dtype) : 0);
  return out;
}

Tensor by_name(std::string_view name, std::string_view overload,
               std::initializer_list<Value> given) {
  const Operator* op = Registry::instance().find(name, overload);
  HOTARU_CHECK(op && op->schema().arguments.size() == given.size(),
               "autocast: there is no operator ", name, ".", overload, " of ",
               given.size(), " arguments");
  std::vector<Value> arguments(given);
  std::vector<Value> results(op->schema().results.size());
  op->call(arguments.data(), results.data());
  return results[0].as_tensor();
}

Tensor lowered(const Tensor& t) {
  if (!active() || !t.defined() || !available(device_of(t))) return t;
  const DeviceType type = device_of(t);
  const OfDevice device = of(type);
  return device.enabled ? cast({}, t, device.dtype, type, device) : t;
}

}  // namespace autocast

namespace {

bool is_on(const Tensor& t, bool on_cuda, bool on_cpu) {
  return t.device().is_cpu() ? on_cpu
                             : on_cuda && t.device().type == DeviceType::kCUDA;
}

}  // namespace

// Operator that PyTorch writes into frozen programs in place of autocast.
HOTARU_OP(
    "_autocast_to_reduced_precision(Tensor(a) self, bool cuda_enabled, bool "
    "cpu_enabled, ScalarType cuda_dtype, ScalarType cpu_dtype) -> Tensor(a)",
    +[](const Tensor& self, bool on_cuda, bool on_cpu, DType cuda, DType cpu) {
      if (self.dtype() != DType::kFloat32 || !is_on(self, on_cuda, on_cpu))
        return self;
      return to(self, self.device().is_cpu() ? cpu : cuda);
    });
HOTARU_OP(
    "_autocast_to_full_precision(Tensor(a) self, bool cuda_enabled, bool "
    "cpu_enabled) -> Tensor(a)",
    +[](const Tensor& self, bool on_cuda, bool on_cpu) {
      const bool reduced =
          self.dtype() == DType::kFloat16 || self.dtype() == DType::kBFloat16;
      return reduced && is_on(self, on_cuda, on_cpu) ? to(self, DType::kFloat32)
                                                     : self;
    });

}  // namespace hotaru
