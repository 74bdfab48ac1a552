// The base of all modules: parameters, buffers and modules by name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "torch/nn/modules/container/any_value.h"
#include "torch/nn/pimpl.h"
#include "torch/ordered_dict.h"
#include "torch/serialize/archive.h"
#include "torch/types.h"

namespace torch::nn {

/// Derive and register members in the constructor; not thread-safe while it is
/// changed. Handles of modules are shared pointers, or holders (TORCH_MODULE).
class Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction =
      std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction =
      std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction =
      std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction =
      std::function<void(const std::string&, const std::shared_ptr<Module>&)>;
  using Tensors = OrderedDict<std::string, Tensor>;
  using Modules = OrderedDict<std::string, std::shared_ptr<Module>>;

  Module();
  explicit Module(std::string name);
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;
  virtual ~Module() = default;

  /// As it was given, or the class's.
  const std::string& name() const noexcept;
  /// A copy with parameters, buffers and modules of its own, where the class
  /// is a Cloneable; throws otherwise.
  virtual std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const;

  /// f(module) for this one and all below it, depth first; with names, this
  /// one's is the prefix.
  void apply(const ModuleApplyFunction& f);
  void apply(const ConstModuleApplyFunction& f) const;
  void apply(const NamedModuleApplyFunction& f,
             const std::string& name_prefix = {});
  void apply(const ConstNamedModuleApplyFunction& f,
             const std::string& name_prefix = {}) const;
  void apply(const ModulePointerApplyFunction& f) const;
  void apply(const NamedModulePointerApplyFunction& f,
             const std::string& name_prefix = {}) const;

  /// Defined ones; names with dots.
  std::vector<Tensor> parameters(bool recurse = true) const;
  Tensors named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  Tensors named_buffers(bool recurse = true) const;
  /// With this one only where a shared pointer owns it.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  Modules named_modules(const std::string& name_prefix = {},
                        bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  Modules named_children() const;

  virtual void train(bool on = true);
  void eval() { train(false); }
  virtual bool is_training() const noexcept { return is_training_; }
  /// A dtype changes floating-point tensors only.
  virtual void to(Device device, Dtype dtype, bool non_blocking = false);
  virtual void to(Dtype dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual void zero_grad(bool set_to_none = true);

  /// This module as one of that class, or null.
  template <class M>
  auto* as() noexcept {
    if constexpr (kIsHolder<M>)
      return dynamic_cast<typename M::ContainedType*>(this);
    else
      return dynamic_cast<M*>(this);
  }
  template <class M>
  const auto* as() const noexcept {
    if constexpr (kIsHolder<M>)
      return dynamic_cast<const typename M::ContainedType*>(this);
    else
      return dynamic_cast<const M*>(this);
  }

  /// Parameters, buffers and modules as records of those names.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  virtual bool is_serializable() const { return true; }
  /// The name, in printing.
  virtual void pretty_print(std::ostream& out) const { out << name(); }

  /// Throw PyTorch's texts for empty names, names with dots, and names that
  /// are taken.
  Tensor& register_parameter(std::string name, Tensor tensor,
                             bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <class M>
  std::shared_ptr<M> register_module(std::string name,
                                     std::shared_ptr<M> module) {
    add_module(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, ModuleHolder<M> holder) {
    return register_module(std::move(name), holder.ptr());
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name,
                                    std::shared_ptr<M> module) {
    children_[name] = module;
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name,
                                    ModuleHolder<M> holder) {
    return replace_module(name, holder.ptr());
  }
  void unregister_module(const std::string& name);

 protected:
  /// For AnyModule; see FORWARD_HAS_DEFAULT_ARGS.
  virtual bool _forward_has_default_args() { return false; }
  virtual unsigned _forward_num_required_args();
  virtual std::vector<AnyValue> _forward_populate_default_args(
      std::vector<AnyValue>&& arguments);

  Tensors parameters_;

 private:
  template <class Derived>
  friend class Cloneable;
  template <class M, class... Args>
  friend struct AnyModuleHolder;
  friend std::ostream& operator<<(std::ostream& out, const Module& module);

  virtual void clone_(Module& other, const std::optional<Device>& device);
  void add_module(std::string name, std::shared_ptr<Module> module);
  void print(std::ostream& out, const std::string& indentation) const;
  void each_child(const NamedModulePointerApplyFunction& f,
                  const std::string& prefix) const;
  std::shared_ptr<Module> shared() const;
  template <class F>
  void change(const F& f);

  Tensors buffers_;
  Modules children_;
  mutable std::optional<std::string> name_;
  bool is_training_ = true;
};

/// The module and those below it, indented.
std::ostream& operator<<(std::ostream& out, const Module& module);

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const std::shared_ptr<Module>& module);
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    const std::shared_ptr<Module>& module);
template <class M>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const ModuleHolder<M>& module) {
  return archive << std::static_pointer_cast<Module>(module.ptr());
}
template <class M>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    const ModuleHolder<M>& module) {
  return archive >> std::static_pointer_cast<Module>(module.ptr());
}

}  // namespace torch::nn
