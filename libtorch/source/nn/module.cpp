#include "torch/nn/module.h"

#include <algorithm>

#include "c10/util/Type.h"
#include "torch/utils.h"

namespace torch::nn {

namespace {

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + '.' + name;
}

std::string class_name(const Module& module) {
  return c10::demangle(typeid(module).name());
}

void check_name(const char* what, const std::string& name) {
  TORCH_CHECK(!name.empty(), what, " name must not be empty");
  TORCH_CHECK(name.find('.') == std::string::npos, what,
              " name must not contain a dot (got '", name, "')");
}

}  // namespace

Module::Module()
    : parameters_("Parameter"), buffers_("Buffer"), children_("Submodule") {}
Module::Module(std::string name) : Module() {
  name_ = std::move(name);
}

const std::string& Module::name() const noexcept {
  if (!name_) name_ = class_name(*this);
  return *name_;
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  TORCH_CHECK(
      false, "clone() has not been implemented for ", name(),
      ". Subclass torch::nn::Cloneable<", name(),
      "> instead of torch::nn::Module to inherit the ability to clone.");
}
void Module::clone_(Module&, const std::optional<Device>&) {}

std::shared_ptr<Module> Module::shared() const {
  std::shared_ptr<const Module> self = weak_from_this().lock();
  TORCH_CHECK(self,
              "It looks like you attempted to retrieve your top-level module "
              "as a shared_ptr, but it is not stored in a shared_ptr. Use "
              "std::make_shared<",
              name(), "> instead of creating your module on the stack.");
  return std::const_pointer_cast<Module>(self);
}

void Module::each_child(const NamedModulePointerApplyFunction& f,
                        const std::string& prefix) const {
  for (const auto& child : children_) {
    const std::string name = joined(prefix, child.key());
    f(name, child.value());
    child.value()->each_child(f, name);
  }
}

void Module::apply(const ModuleApplyFunction& f) {
  f(*this);
  each_child([&](const std::string&, const auto& m) { f(*m); }, {});
}
void Module::apply(const ConstModuleApplyFunction& f) const {
  f(*this);
  each_child([&](const std::string&, const auto& m) { f(*m); }, {});
}
void Module::apply(const NamedModuleApplyFunction& f,
                   const std::string& name_prefix) {
  f(name_prefix, *this);
  each_child([&](const std::string& name, const auto& m) { f(name, *m); },
             name_prefix);
}
void Module::apply(const ConstNamedModuleApplyFunction& f,
                   const std::string& name_prefix) const {
  f(name_prefix, *this);
  each_child([&](const std::string& name, const auto& m) { f(name, *m); },
             name_prefix);
}
void Module::apply(const ModulePointerApplyFunction& f) const {
  f(shared());
  each_child([&](const std::string&, const auto& m) { f(m); }, {});
}
void Module::apply(const NamedModulePointerApplyFunction& f,
                   const std::string& name_prefix) const {
  f(name_prefix, shared());
  each_child(f, name_prefix);
}

namespace {

void take_defined(const std::string& prefix, const Module::Tensors& from,
                  Module::Tensors& to) {
  for (const auto& item : from)
    if (item.value().defined()) to.insert(joined(prefix, item.key()), *item);
}

}  // namespace

Module::Tensors Module::named_parameters(bool recurse) const {
  Tensors out;
  take_defined({}, parameters_, out);
  if (recurse)
    each_child([&](const std::string& name,
                   const auto& m) { take_defined(name, m->parameters_, out); },
               {});
  return out;
}
Module::Tensors Module::named_buffers(bool recurse) const {
  Tensors out;
  take_defined({}, buffers_, out);
  if (recurse)
    each_child([&](const std::string& name,
                   const auto& m) { take_defined(name, m->buffers_, out); },
               {});
  return out;
}
std::vector<Tensor> Module::parameters(bool recurse) const {
  return named_parameters(recurse).values();
}
std::vector<Tensor> Module::buffers(bool recurse) const {
  return named_buffers(recurse).values();
}

Module::Modules Module::named_modules(const std::string& name_prefix,
                                      bool include_self) const {
  Modules out;
  if (include_self) out.insert(name_prefix, shared());
  each_child(
      [&](const std::string& name, const auto& m) { out.insert(name, m); },
      name_prefix);
  return out;
}
std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  std::vector<std::shared_ptr<Module>> out;
  if (include_self) out.push_back(shared());
  each_child([&](const std::string&, const auto& m) { out.push_back(m); }, {});
  return out;
}
std::vector<std::shared_ptr<Module>> Module::children() const {
  return children_.values();
}
Module::Modules Module::named_children() const {
  return children_;
}

void Module::train(bool on) {
  for (auto& child : children_) child.value()->train(on);
  is_training_ = on;
}

template <class F>
void Module::change(const F& f) {
  for (auto& child : children_) child.value()->change(f);
  for (auto& item : parameters_)
    if (item->defined()) item->set_data(f(*item));
  for (auto& item : buffers_)
    if (item->defined()) item->set_data(f(*item));
}
void Module::to(Device device, Dtype dtype, bool non_blocking) {
  change([&](const Tensor& t) {
    return t.data().to(
        device,
        t.is_floating_point() || t.is_complex() ? dtype : t.scalar_type(),
        non_blocking);
  });
}
void Module::to(Dtype dtype, bool non_blocking) {
  change([&](const Tensor& t) {
    return t.data().to(
        t.is_floating_point() || t.is_complex() ? dtype : t.scalar_type(),
        non_blocking);
  });
}
void Module::to(Device device, bool non_blocking) {
  change([&](const Tensor& t) {
    return t.data().to(TensorOptions(device), non_blocking);
  });
}

void Module::zero_grad(bool set_to_none) {
  for (auto& child : children_) child.value()->zero_grad(set_to_none);
  for (auto& item : named_parameters(false)) {
    Tensor& grad = item->mutable_grad();
    if (!grad.defined()) continue;
    if (set_to_none) {
      grad.reset();
    } else {
      grad = grad.detach();
      grad.zero_();
    }
  }
}

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& item : named_parameters(false))
    archive.write(item.key(), *item);
  for (const auto& item : named_buffers(false))
    archive.write(item.key(), *item, /*is_buffer=*/true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive nested;
    child.value()->save(nested);
    archive.write(child.key(), nested);
  }
}
void Module::load(serialize::InputArchive& archive) {
  for (auto& item : parameters_)
    if (item->defined()) archive.read(item.key(), *item);
  for (auto& item : buffers_)
    if (item->defined()) archive.read(item.key(), *item, /*is_buffer=*/true);
  for (auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::InputArchive nested;
    archive.read(child.key(), nested);
    child.value()->load(nested);
  }
}

Tensor& Module::register_parameter(std::string name, Tensor tensor,
                                   bool requires_grad) {
  check_name("Parameter", name);
  if (tensor.defined()) {
    if (requires_grad && !(tensor.is_floating_point() || tensor.is_complex()))
      TORCH_WARN(
          "Ignoring the `requires_grad=true` function parameter of a "
          "non-floating-point and non-complex tensor");
    else
      tensor.set_requires_grad(requires_grad);
  } else if (requires_grad) {
    TORCH_WARN(
        "An undefined tensor cannot require grad. Ignoring the "
        "`requires_grad=true` function parameter.");
  }
  return parameters_.insert(std::move(name), std::move(tensor));
}
Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_name("Buffer", name);
  return buffers_.insert(std::move(name), std::move(tensor));
}
void Module::add_module(std::string name, std::shared_ptr<Module> module) {
  check_name("Submodule", name);
  children_.insert(std::move(name), std::move(module));
}
void Module::unregister_module(const std::string& name) {
  TORCH_CHECK(children_.contains(name), "No Module with name `", name,
              "` is registered");
  children_.erase(name);
}

namespace {
constexpr char kDefaults[] =
    "torch::nn::Module subclass that has default arguments in `forward` method "
    "must override `_forward_num_required_args` and "
    "`_forward_populate_default_args`. Please use `FORWARD_HAS_DEFAULT_ARGS` "
    "macro to do so.";
}  // namespace
unsigned Module::_forward_num_required_args() {
  TORCH_CHECK(false, kDefaults);
}
std::vector<AnyValue> Module::_forward_populate_default_args(
    std::vector<AnyValue>&&) {
  TORCH_CHECK(false, kDefaults);
}

void Module::print(std::ostream& out, const std::string& indentation) const {
  pretty_print(out);
  if (children_.is_empty()) return;
  out << "(\n";
  const std::string next = indentation + "  ";
  for (const auto& child : children_) {
    out << next << '(' << child.key() << "): ";
    child.value()->print(out, next);
    out << '\n';
  }
  out << indentation << ')';
}
std::ostream& operator<<(std::ostream& out, const Module& module) {
  module.print(out, {});
  return out;
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const std::shared_ptr<Module>& module) {
  TORCH_CHECK(module != nullptr, "Cannot serialize empty module");
  module->save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    const std::shared_ptr<Module>& module) {
  TORCH_CHECK(module != nullptr, "Cannot deserialize empty module");
  module->load(archive);
  return archive;
}

}  // namespace torch::nn
