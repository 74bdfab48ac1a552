#include "torch/optim/optimizer.h"

#include <set>

#include "torch/utils.h"

namespace torch::optim {

namespace {
void warn_of_old(const char* name) {
  TORCH_WARN("Optimizer::", name, "() will be removed in PyTorch 1.6");
}
}  // namespace

void not_overridden(const char* what, const char* class_name) {
  TORCH_CHECK(false, what, " has not been overridden and implemented in ",
              "subclass of ", class_name,
              ", you must override it in your subclass.");
}

std::unique_ptr<OptimizerParamState> Optimizer::make_state() const {
  not_overridden("std::unique_ptr<OptimizerParamState> make_state() const",
                 "torch::optim::Optimizer");
}

Optimizer::Optimizer(const std::vector<OptimizerParamGroup>& groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  for (const OptimizerParamGroup& group : groups) add_param_group(group);
}

void Optimizer::add_param_group(const OptimizerParamGroup& group) {
  for (const Tensor& param : group.params()) {
    TORCH_CHECK(param.is_leaf(), "can't optimize a non-leaf Tensor");
    for (const OptimizerParamGroup& other : groups_)
      for (const Tensor& p : other.params())
        TORCH_CHECK(!p.is_same(param),
                    "some parameters appear in more than one parameter group");
  }
  OptimizerParamGroup added(group.params());
  added.set_options(group.has_options() ? defaults_->completed(group.options())
                                        : defaults_->clone());
  groups_.push_back(std::move(added));
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  warn_of_old("add_parameters");
  auto& params = groups_.at(0).params();
  params.insert(params.end(), parameters.begin(), parameters.end());
}
std::vector<Tensor>& Optimizer::parameters() {
  warn_of_old("parameters");
  return groups_.at(0).params();
}
const std::vector<Tensor>& Optimizer::parameters() const {
  warn_of_old("parameters");
  return groups_.at(0).params();
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const OptimizerParamGroup& group : groups_) {
    for (const Tensor& p : group.params()) {
      Tensor& grad = p.mutable_grad();
      if (!grad.defined()) continue;
      if (set_to_none) {
        grad.reset();
      } else {
        grad = grad.detach();
        grad.zero_();
      }
    }
  }
}

size_t Optimizer::size() const {
  warn_of_old("size");
  size_t n = 0;
  for (const OptimizerParamGroup& group : groups_) n += group.params().size();
  return n;
}

Tensor Optimizer::loss_of(const LossClosure& closure) {
  if (!closure) return {};
  const AutoGradMode on(true);
  return closure();
}

Optimizer::Pairs Optimizer::with_gradients(const OptimizerParamGroup& group) {
  Pairs out;
  for (const Tensor& p : group.params()) {
    const Tensor& grad = p.grad();
    if (!grad.defined()) continue;
    TORCH_CHECK(!grad.is_sparse(),
                "this optimizer does not support sparse gradients");
    out.params.push_back(p);
    out.grads.push_back(grad);
  }
  return out;
}

namespace {

Tensor number(size_t n) {
  return torch::tensor(int64_t(n), kLong);
}
size_t read_number(serialize::InputArchive& archive, const std::string& key) {
  Tensor out;
  archive.read(key, out);
  return size_t(out.item<int64_t>());
}

}  // namespace

void Optimizer::save(serialize::OutputArchive& archive) const {
  archive.write("pytorch_version", c10::IValue("1.5.0"));
  // Parameters are known by their position.
  std::unordered_map<const void*, std::string> keys;
  serialize::OutputArchive groups;
  groups.write("param_groups/size", number(groups_.size()));
  for (size_t g = 0; g < groups_.size(); ++g) {
    serialize::OutputArchive one;
    const auto& params = groups_[g].params();
    one.write("params/size", number(params.size()));
    for (size_t i = 0; i < params.size(); ++i) {
      const std::string key = std::to_string(keys.size());
      keys[params[i].unsafeGetTensorImpl()] = key;
      one.write("params/" + std::to_string(i), c10::IValue(key));
    }
    serialize::OutputArchive options;
    groups_[g].options().serialize(options);
    one.write("options", options);
    groups.write("param_groups/" + std::to_string(g), one);
  }
  serialize::OutputArchive states;
  for (const OptimizerParamGroup& group : groups_) {
    for (const Tensor& p : group.params()) {
      const auto found = state_.find(p.unsafeGetTensorImpl());
      if (found == state_.end()) continue;
      serialize::OutputArchive state;
      found->second->serialize(state);
      states.write(keys[p.unsafeGetTensorImpl()], state);
    }
  }
  archive.write("state", states);
  archive.write("param_groups", groups);
}

void Optimizer::load(serialize::InputArchive& archive) {
  c10::IValue version;
  TORCH_CHECK(archive.try_read("pytorch_version", version),
              "this file holds no optimizer of PyTorch 1.5 or later");
  serialize::InputArchive groups, states;
  archive.read("param_groups", groups);
  archive.read("state", states);
  const size_t count = read_number(groups, "param_groups/size");
  TORCH_CHECK(count == groups_.size(),
              "loaded state dict has a different number of parameter groups");
  States loaded;
  for (size_t g = 0; g < count; ++g) {
    serialize::InputArchive one, options;
    groups.read("param_groups/" + std::to_string(g), one);
    const auto& params = groups_[g].params();
    TORCH_CHECK(read_number(one, "params/size") == params.size(),
                "loaded state dict contains a parameter group that doesn't "
                "match the size of optimizer's group");
    for (size_t i = 0; i < params.size(); ++i) {
      c10::IValue key;
      one.read("params/" + std::to_string(i), key);
      serialize::InputArchive state;
      if (!states.try_read(key.toStringRef(), state)) continue;
      auto& made = loaded[params[i].unsafeGetTensorImpl()];
      made = make_state();
      made->serialize(state);
    }
    one.read("options", options);
    groups_[g].options().serialize(options);
  }
  state_ = std::move(loaded);
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

}  // namespace torch::optim
