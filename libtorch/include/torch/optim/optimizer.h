// Common parts of all optimizers: parameters in groups, each with options; a
// state for each parameter.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <vector>

#include "c10/macros/Export.h"
#include "torch/arg.h"
#include "torch/serialize/archive.h"
#include "torch/types.h"

namespace torch::optim {

/// The fields of an object by name, as values that archives hold.
using Fields = std::vector<std::pair<std::string, c10::IValue>>;

/// State that an optimizer keeps of a parameter.
class OptimizerParamState {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
  virtual ~OptimizerParamState() = default;
  virtual std::unique_ptr<OptimizerParamState> clone() const = 0;
  virtual void serialize(serialize::InputArchive& archive) = 0;
  /// Leaves out undefined tensors and what is nullopt.
  virtual void serialize(serialize::OutputArchive& archive) const = 0;
};

/// Throws: a class without a list of fields has to override the function.
[[noreturn]] void not_overridden(const char* what, const char* class_name);

/// Options and states that list their fields: Listed::each(self, f) calls
/// f("name", field) for each of them.
template <class Listed>
concept HasFields = requires(Listed& self) {
  Listed::each(self, [](const char*, auto&) {});
};

class OptimizerOptions {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  virtual ~OptimizerOptions() = default;
  /// Throw for a class that has none of its own, as for this one.
  virtual std::unique_ptr<OptimizerOptions> clone() const { none("clone"); }
  virtual void serialize(serialize::InputArchive&) { none("serialize"); }
  virtual void serialize(serialize::OutputArchive&) const { none("serialize"); }
  virtual double get_lr() const { none("get_lr"); }
  virtual void set_lr(double) { none("set_lr"); }
  /// Options of this class: `given` where they differ from what the class
  /// starts with, these elsewhere.
  virtual std::unique_ptr<OptimizerOptions> completed(
      const OptimizerOptions& given) const {
    return given.clone();
  }

 private:
  [[noreturn]] static void none(const char* what) {
    throw c10::NotImplementedError(
        std::string(what) + "() has to be overridden in OptimizerOptions");
  }
};

/// Reads what the archive has of the fields that an object lists; classes that
/// list none override what they need.
template <class Listed>
void read_fields(Listed& self, serialize::InputArchive& archive) {
  if constexpr (HasFields<Listed>)
    Listed::each(self, [&]<class T>(const char* name, T& field) {
      c10::IValue value;
      if (archive.try_read(name, value)) field = value.to<T>();
    });
  else
    not_overridden("void serialize(torch::serialize::InputArchive&)",
                   typeid(Listed).name());
}

template <class Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  void serialize(serialize::InputArchive& archive) override {
    read_fields(static_cast<Derived&>(*this), archive);
  }
  void serialize(serialize::OutputArchive& archive) const override {
    if constexpr (HasFields<Derived>)
      Derived::each(static_cast<const Derived&>(*this),
                    [&](const char* name, const auto& field) {
                      const c10::IValue value(field);
                      if (!value.isNone()) archive.write(name, value);
                    });
    else
      not_overridden("void serialize(torch::serialize::OutputArchive&)",
                     "torch::optim::OptimizerParamState");
  }
  friend bool operator==(const Derived& a,
                         const Derived& b) requires HasFields<Derived> {
    bool same = true;
    const auto fields = [](const Derived& self) {
      std::vector<c10::IValue> out;
      Derived::each(self, [&](const char*, const auto& field) {
        out.emplace_back(field);
      });
      return out;
    };
    const auto of_a = fields(a), of_b = fields(b);
    for (size_t i = 0; i < of_a.size(); ++i) same = same && of_a[i] == of_b[i];
    return same;
  }
};

template <class Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(self());
  }
  void serialize(serialize::InputArchive& archive) override {
    read_fields(static_cast<Derived&>(*this), archive);
  }
  void serialize(serialize::OutputArchive& archive) const override {
    if constexpr (HasFields<Derived>)
      Derived::each(self(), [&](const char* name, const auto& field) {
        archive.write(name, c10::IValue(field));
      });
    else
      not_overridden("void serialize(torch::serialize::OutputArchive&)",
                     typeid(Derived).name());
  }
  double get_lr() const override {
    if constexpr (requires { self().lr(); })
      return self().lr();
    else
      not_overridden("double get_lr()", typeid(Derived).name());
  }
  void set_lr(double lr) override {
    if constexpr (requires { static_cast<Derived&>(*this).lr(lr); })
      static_cast<Derived&>(*this).lr(lr);
    else
      not_overridden("void set_lr(double)", typeid(Derived).name());
  }
  std::unique_ptr<OptimizerOptions> completed(
      const OptimizerOptions& given) const override {
    if constexpr (HasFields<Derived>) {
      const auto* mine = dynamic_cast<const Derived*>(&given);
      return mine ? merged(*mine) : given.clone();
    } else {
      return given.clone();
    }
  }
  friend bool operator==(const Derived& a,
                         const Derived& b) requires HasFields<Derived> {
    const Fields of_a = fields(a), of_b = fields(b);
    for (size_t i = 0; i < of_a.size(); ++i)
      if (!(of_a[i].second == of_b[i].second)) return false;
    return true;
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
  std::unique_ptr<OptimizerOptions> merged(const Derived& given) const {
    const Fields first = fields(Derived::initial()), theirs = fields(given);
    auto out = std::make_unique<Derived>(self());
    size_t i = 0;
    Derived::each(*out, [&]<class T>(const char*, T& field) {
      if (!(theirs[i].second == first[i].second))
        field = theirs[i].second.template to<T>();
      ++i;
    });
    return out;
  }
  static Fields fields(const Derived& options) {
    Fields out;
    Derived::each(options, [&](const char* name, const auto& field) {
      out.emplace_back(name, c10::IValue(field));
    });
    return out;
  }
};

/// Parameters that share options; without some of their own, the optimizer's.
class OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params)
      : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params,
                      std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& other)
      : params_(other.params_),
        options_(other.options_ ? other.options_->clone() : nullptr) {}
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) = default;

  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options() {
    TORCH_CHECK(options_, "this group has no options");
    return *options_;
  }
  const OptimizerOptions& options() const {
    TORCH_CHECK(options_, "this group has no options");
    return *options_;
  }
  void set_options(std::unique_ptr<OptimizerOptions> options) {
    options_ = std::move(options);
  }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

/// Base of optimizers. Not thread-safe.
class Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;
  using States =
      std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;

  Optimizer(const std::vector<OptimizerParamGroup>& groups,
            std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> parameters,
            std::unique_ptr<OptimizerOptions> defaults)
      : Optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(
                      std::move(parameters))},
                  std::move(defaults)) {}
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(Optimizer&&) = default;
  virtual ~Optimizer() = default;

  /// Throws PyTorch's texts for parameters that are no leaves, or in another
  /// group already.
  void add_param_group(const OptimizerParamGroup& group);
  /// PyTorch's older names: of the first group, with a warning.
  void add_parameters(const std::vector<Tensor>& parameters);
  std::vector<Tensor>& parameters();
  const std::vector<Tensor>& parameters() const;
  size_t size() const;
  /// One step by the gradients that there are. The closure, if given, computes
  /// the loss and the gradients first; its loss is the result.
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  void zero_grad(bool set_to_none = true);

  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept {
    return groups_;
  }
  States& state() noexcept { return state_; }
  const States& state() const noexcept { return state_; }

  /// States and groups, in the form of PyTorch's files.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  /// An empty state of the optimizer's class; throws where a class neither
  /// has one nor overrides load().
  virtual std::unique_ptr<OptimizerParamState> make_state() const;
  /// The parameter's, made at need.
  template <class State>
  State& state_of(const Tensor& parameter) {
    auto& state = state_[parameter.unsafeGetTensorImpl()];
    if (!state) state = make_state();
    return static_cast<State&>(*state);
  }
  /// The loss of the closure, with gradients recorded.
  static Tensor loss_of(const LossClosure& closure);
  /// Parameters of a group that have a gradient, and these.
  struct Pairs {
    std::vector<Tensor> params, grads;
  };
  static Pairs with_gradients(const OptimizerParamGroup& group);

 private:
  std::vector<OptimizerParamGroup> groups_;
  States state_;
  std::unique_ptr<OptimizerOptions> defaults_;
};

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const Optimizer& optimizer);
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    Optimizer& optimizer);

}  // namespace torch::optim
