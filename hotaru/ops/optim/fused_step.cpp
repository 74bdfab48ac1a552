// Steps of optimizers over lists of parameters, a call or a few for all of
// them: what `fused=True` takes.
#include "hotaru/backend/common/optim/fused_step.h"

#include <array>
#include <utility>
#include <vector>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/memory_order.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

/// A list of states, where the rule has them.
using States = std::array<const Tensors*, kStepStates>;

/// A number's tensor as kernels read it: on `device`, of that dtype; undefined
/// stays.
Tensor number_on(const char* op, const Tensor& t, Device device,
                 DType dtype = DType::kFloat32) {
  if (!t.defined() ||
      (t.dtype() == dtype && t.numel() == 1 && t.device() == device))
    return t;
  HOTARU_CHECK(t.numel() == 1, op, ": a number's tensor must have 1 element");
  return to(to(detach(t), dtype), device);
}

/// The rate's as kernels read it: float32 or, not to lose any of it, float64.
Tensor rate_on(const char* op, const Tensor& t, Device device) {
  const bool narrow = t.dtype() == DType::kFloat32;
  return number_on(op, t, device, narrow ? t.dtype() : DType::kFloat64);
}

/// True if a rate's tensor stands for all of StepOptions, as captured steps
/// give them.
bool holds_options(const Tensor& rate) {
  return rate.defined() && rate.dtype() == DType::kFloat64 &&
         rate.numel() == kStepNumbers && rate.is_contiguous();
}

/// Collects parameters of one call and enqueues it.
class Batch {
 public:
  Batch(const char* op, const FusedStep& attributes, const Tensor& scale,
        const Tensor& found, const Tensor& rate, const Tensor& numbers)
      : op_(op),
        attributes_(attributes),
        extras_{scale, found, rate, numbers} {}

  void add(const Tensor& param, const Tensor& grad, const States& states,
           size_t i, const Tensor& count) {
    std::array<Tensor, 2 + kStepStates> row{param, grad};
    for (int k = 0; k < kStepStates; ++k)
      if (states[size_t(k)]) row[size_t(2 + k)] = (*states[size_t(k)])[i];
    check(row);
    Tensor step = count;
    if (count.defined() && count.device() != param.device()) {
      const double value = host_value(count, op_).to<double>();
      if (value != attributes_.step) flush();
      attributes_.step = value;
      step = {};
    }
    bool plain = true;
    for (const Tensor& t : row) plain &= !t.defined() || t.is_contiguous();
    const Dims order = plain ? Dims() : memory_order(param);
    for (const Tensor& t : row) {
      tensors_.push_back(plain || !t.defined() ? t : lying(t, order));
      if (t.defined()) written_.push_back(t);
    }
    tensors_.push_back(number_on(op_, step, param.device()));
  }

  void flush() {
    if (tensors_.empty()) return;
    static const Kernel& kStep = kernel("fused_step");
    std::vector<Operand> operands;
    for (size_t i = 0; i < tensors_.size(); ++i)
      operands.push_back((i + 1) % kStepOperands ? update(tensors_[i])
                                                 : read(tensors_[i]));
    for (const Tensor& t : extras_) operands.push_back(read(t));
    enqueue_list(kStep, operands, attributes_);
    for (const auto& [own, copy] : copies_) enqueue_copy(own, copy);
    for (const Tensor& t : written_) t.bump_version();
    tensors_.clear();
    copies_.clear();
    written_.clear();
  }

 private:
  /// The elements in that order of dimensions, side by side.
  Tensor lying(const Tensor& t, const Dims& order) {
    const Tensor own = permute(detach(t), order);
    if (own.is_contiguous()) return own;
    copies_.push_back({own, contiguous(own)});
    return copies_.back().second;
  }

  void check(std::span<const Tensor> row) const {
    const Tensor& param = row[0];
    HOTARU_CHECK(param.is_floating_point(), op_,
                 ": parameters must be real floating tensors, not ",
                 scalar_type_name(param.dtype()));
    for (const Tensor& t : row) {
      if (!t.defined()) continue;
      HOTARU_CHECK(
          t.dtype() == param.dtype() && t.device() == param.device() &&
              same(t.sizes(), param.sizes()),
          op_,
          ": params, grads and states must have the same dtype, device and "
          "sizes");
    }
  }

  const char* op_;
  FusedStep attributes_;
  std::array<Tensor, kStepExtras> extras_;
  // Where they are, operands point to.
  std::vector<Tensor> tensors_;
  std::vector<std::pair<Tensor, Tensor>> copies_;
  std::vector<Tensor> written_;
};

/// One call for parameters in a row that have dtype and device in common.
void run_steps(const char* op, FusedStep attributes, const Tensors& params,
               const Tensors& grads, const States& states, const Tensors* steps,
               const Tensor& rate, const Tensor& scale, const Tensor& found) {
  for (const Tensors* list : {&grads, states[0], states[1], states[2], steps})
    HOTARU_CHECK(!list || list->size() == params.size(), op,
                 ": lists must have the same number of tensors, got ",
                 params.size(), " and ", list ? list->size() : 0);
  const autograd::NoGrad no_grad;
  for (size_t i = 0; i < params.size();) {
    const Device device = params[i].device();
    const DType dtype = params[i].dtype();
    Tensor on_device, numbers;
    if (holds_options(rate))
      numbers = to(rate, device);
    else if (rate.defined() && rate.device() == device)
      on_device = rate_on(op, rate, device);
    else if (rate.defined())
      attributes.options.rate = host_value(rate, op).to<double>();
    Batch batch(op, attributes, number_on(op, scale, device),
                number_on(op, found, device), on_device, numbers);
    for (; i < params.size() && params[i].device() == device &&
           params[i].dtype() == dtype;
         ++i)
      if (params[i].numel() > 0)
        batch.add(params[i], grads[i], states, i,
                  steps ? (*steps)[i] : Tensor());
    batch.flush();
  }
}

void sgd(const Tensors& params, const Tensors& grads, const Tensors& velocities,
         const Tensor& rate, FusedStep a, double momentum, double dampening,
         const Tensor& scale, const Tensor& found) {
  a.rule = momentum != 0 ? StepRule::kMomentum : StepRule::kPlain;
  a.options.beta1 = momentum;
  a.options.beta2 = 1 - dampening;
  run_steps("_fused_sgd_", a, params, grads,
            {momentum != 0 ? &velocities : nullptr, nullptr, nullptr}, nullptr,
            rate, scale, found);
}

void fused_sgd(const Tensors& params, const Tensors& grads,
               const Tensors& velocities, double weight_decay, double momentum,
               double lr, double dampening, bool nesterov, bool maximize,
               bool is_first_step, const Tensor& grad_scale,
               const Tensor& found_inf) {
  sgd(params, grads, velocities, {},
      {.maximize = maximize,
       .nesterov = nesterov,
       .begins = is_first_step,
       .options = {.rate = lr, .weight_decay = weight_decay}},
      momentum, dampening, grad_scale, found_inf);
}

void fused_sgd_tensor(const Tensors& params, const Tensors& grads,
                      const Tensors& velocities, double weight_decay,
                      double momentum, const Tensor& lr, double dampening,
                      bool nesterov, bool maximize, bool is_first_step,
                      const Tensor& grad_scale, const Tensor& found_inf) {
  sgd(params, grads, velocities, lr,
      {.maximize = maximize,
       .nesterov = nesterov,
       .begins = is_first_step,
       .options = {.weight_decay = weight_decay}},
      momentum, dampening, grad_scale, found_inf);
}

/// Adam with the rate as a number or a tensor, and with either decay.
template <bool kDecoupled>
struct FusedAdam {
  static constexpr const char* kName =
      kDecoupled ? "_fused_adamw_" : "_fused_adam_";

  static void run(const Tensors& params, const Tensors& grads,
                  const Tensors& means, const Tensors& squares,
                  const Tensors& largest, const Tensors& steps,
                  const Tensor& rate, FusedStep a, bool amsgrad,
                  const Tensor& scale, const Tensor& found) {
    a.rule = amsgrad ? StepRule::kAmsgrad : StepRule::kAdam;
    a.decoupled = kDecoupled;
    run_steps(kName, a, params, grads,
              {&means, &squares, amsgrad ? &largest : nullptr}, &steps, rate,
              scale, found);
  }

  static void with_number(const Tensors& params, const Tensors& grads,
                          const Tensors& means, const Tensors& squares,
                          const Tensors& largest, const Tensors& steps,
                          double lr, double beta1, double beta2,
                          double weight_decay, double eps, bool amsgrad,
                          bool maximize, const Tensor& grad_scale,
                          const Tensor& found_inf) {
    run(params, grads, means, squares, largest, steps, {},
        {.maximize = maximize,
         .options = {.rate = lr,
                     .weight_decay = weight_decay,
                     .eps = eps,
                     .beta1 = beta1,
                     .beta2 = beta2}},
        amsgrad, grad_scale, found_inf);
  }

  static void with_tensor(const Tensors& params, const Tensors& grads,
                          const Tensors& means, const Tensors& squares,
                          const Tensors& largest, const Tensors& steps,
                          const Tensor& lr, double beta1, double beta2,
                          double weight_decay, double eps, bool amsgrad,
                          bool maximize, const Tensor& grad_scale,
                          const Tensor& found_inf) {
    run(params, grads, means, squares, largest, steps, lr,
        {.maximize = maximize,
         .options = {.weight_decay = weight_decay,
                     .eps = eps,
                     .beta1 = beta1,
                     .beta2 = beta2}},
        amsgrad, grad_scale, found_inf);
  }
};

void adagrad(const Tensors& params, const Tensors& grads, const Tensors& sums,
             const Tensors& steps, const Tensor& rate, FusedStep a,
             const Tensor& scale, const Tensor& found) {
  a.rule = StepRule::kAdagrad;
  run_steps("_fused_adagrad_", a, params, grads, {&sums, nullptr, nullptr},
            &steps, rate, scale, found);
}

void fused_adagrad(const Tensors& params, const Tensors& grads,
                   const Tensors& sums, const Tensors& steps, double lr,
                   double lr_decay, double weight_decay, double eps,
                   bool maximize, const Tensor& grad_scale,
                   const Tensor& found_inf) {
  adagrad(params, grads, sums, steps, {},
          {.maximize = maximize,
           .options = {.rate = lr,
                       .rate_decay = lr_decay,
                       .weight_decay = weight_decay,
                       .eps = eps}},
          grad_scale, found_inf);
}

void fused_adagrad_tensor(const Tensors& params, const Tensors& grads,
                          const Tensors& sums, const Tensors& steps,
                          const Tensor& lr, double lr_decay,
                          double weight_decay, double eps, bool maximize,
                          const Tensor& grad_scale, const Tensor& found_inf) {
  adagrad(params, grads, sums, steps, lr,
          {.maximize = maximize,
           .options = {.rate_decay = lr_decay,
                       .weight_decay = weight_decay,
                       .eps = eps}},
          grad_scale, found_inf);
}

#define HOTARU_SGD(overload, lr) \
  "_fused_sgd_" overload \
  "(Tensor(a!)[] self, Tensor(b!)[] grads, " \
  "Tensor(c!)[] momentum_buffer_list, *, float weight_decay, float " \
  "momentum, " lr \
  " lr, float dampening, bool nesterov, bool maximize, bool is_first_step, " \
  "Tensor? grad_scale=None, Tensor? found_inf=None) -> ()"
HOTARU_OP(HOTARU_SGD(".tensor_lr", "Tensor"), fused_sgd_tensor);
HOTARU_OP(HOTARU_SGD("", "float"), fused_sgd);

#define HOTARU_ADAM(name, lr) \
  name "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, " \
       "Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, " \
       "Tensor[] state_steps, *, " lr \
       " lr, float beta1, float beta2, float weight_decay, float eps, " \
       "bool amsgrad, bool maximize, Tensor? grad_scale=None, " \
       "Tensor? found_inf=None) -> ()"
// Overloads with a tensor come first: one of a number is a number, too.
HOTARU_OP(HOTARU_ADAM("_fused_adam_.tensor_lr", "Tensor"),
          FusedAdam<false>::with_tensor);
HOTARU_OP(HOTARU_ADAM("_fused_adam_", "float"), FusedAdam<false>::with_number);
HOTARU_OP(HOTARU_ADAM("_fused_adamw_.tensor_lr", "Tensor"),
          FusedAdam<true>::with_tensor);
HOTARU_OP(HOTARU_ADAM("_fused_adamw_", "float"), FusedAdam<true>::with_number);

#define HOTARU_ADAGRAD(overload, lr) \
  "_fused_adagrad_" overload \
  "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, " \
  "Tensor(d!)[] state_steps, *, " lr \
  " lr, float lr_decay, float weight_decay, float eps, bool maximize, " \
  "Tensor? grad_scale=None, Tensor? found_inf=None) -> ()"
HOTARU_OP(HOTARU_ADAGRAD(".tensor_lr", "Tensor"), fused_adagrad_tensor);
HOTARU_OP(HOTARU_ADAGRAD("", "float"), fused_adagrad);

}  // namespace
}  // namespace hotaru
