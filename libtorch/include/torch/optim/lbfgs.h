// L-BFGS: quasi-Newton steps from the last gradients (Liu and Nocedal 1989).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torch/optim/optimizer.h"

namespace torch::optim {

struct LBFGSOptions : OptimizerCloneableOptions<LBFGSOptions> {
  LBFGSOptions(double lr = 1) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(int64_t, max_iter) = 20;
  /// Most evaluations of the closure; 1.25 max_iter without.
  TORCH_ARG(std::optional<int64_t>, max_eval) = std::nullopt;
  TORCH_ARG(double, tolerance_grad) = 1e-7;
  TORCH_ARG(double, tolerance_change) = 1e-9;
  TORCH_ARG(int64_t, history_size) = 100;
  /// "strong_wolfe" or nothing.
  TORCH_ARG(std::optional<std::string>, line_search_fn) = std::nullopt;

 public:
  static LBFGSOptions initial() { return {}; }
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("lr", self.lr());
    f("max_iter", self.max_iter());
    f("max_eval", self.max_eval());
    f("tolerance_grad", self.tolerance_grad());
    f("tolerance_change", self.tolerance_change());
    f("history_size", self.history_size());
    f("line_search_fn", self.line_search_fn());
  }
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableOptions<LBFGSOptions>;

/// State of all parameters together, as one vector; kept at the first
/// parameter.
struct LBFGSParamState : OptimizerCloneableParamState<LBFGSParamState> {
  TORCH_ARG(int64_t, func_evals) = 0;
  TORCH_ARG(int64_t, n_iter) = 0;
  TORCH_ARG(double, t) = 0;
  TORCH_ARG(double, prev_loss) = 0;
  TORCH_ARG(Tensor, d);       // direction
  TORCH_ARG(Tensor, H_diag);  // scale of the inverse Hessian
  TORCH_ARG(Tensor, prev_flat_grad);
  TORCH_ARG(std::vector<Tensor>, old_dirs);  // changes of the gradient
  TORCH_ARG(std::vector<Tensor>, old_stps);
  TORCH_ARG(std::vector<Tensor>, ro);  // one by their products

 public:
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("func_evals", self.func_evals());
    f("n_iter", self.n_iter());
    f("t", self.t());
    f("prev_loss", self.prev_loss());
    f("d", self.d());
    f("H_diag", self.H_diag());
    f("prev_flat_grad", self.prev_flat_grad());
    f("old_dirs", self.old_dirs());
    f("old_stps", self.old_stps());
    f("ro", self.ro());
  }
};
HOTARU_TORCH_EXTERN template class OptimizerCloneableParamState<
    LBFGSParamState>;

/// One group of parameters; `step` needs a closure, which computes the loss and
/// its gradients again, and gives the loss at the start.
class LBFGS : public Optimizer {
 public:
  LBFGS(const std::vector<OptimizerParamGroup>& groups,
        LBFGSOptions defaults = {});
  LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {})
      : LBFGS(std::vector<OptimizerParamGroup>{OptimizerParamGroup(
                  std::move(params))},
              std::move(defaults)) {}
  Tensor step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override {
    return std::make_unique<LBFGSParamState>();
  }

 private:
  struct Point;
  class Search;
  const LBFGSOptions& options() const;
  LBFGSParamState& all();
  Tensor flat_grad() const;
  bool is_small(const Tensor& grad) const;
  void move(double t, const Tensor& direction);
  void turn(const Tensor& grad);
  Point evaluate(const LossClosure& closure);
  Point advance(const LossClosure& closure, const Point& start, bool last,
                int64_t budget, int64_t* calls);
};

}  // namespace torch::optim
