#include "torch/optim/lbfgs.h"

#include <cmath>

#include "source/optim/line_search.h"
#include "torch/utils.h"

namespace torch::optim {

namespace {

// The product of a step and its change of gradient that is worth keeping.
constexpr double kLeastCurvature = 1e-10;

double number(const Tensor& t) {
  return t.item<double>();
}

/// The inverse Hessian times the gradient, downwards, in two loops.
Tensor direction_of(const LBFGSParamState& state, const Tensor& grad) {
  const size_t n = state.old_stps().size();
  Tensor q = grad.neg();
  std::vector<double> shares(n);
  for (size_t i = n; i-- > 0;) {
    shares[i] = number(state.old_stps()[i].dot(q) * state.ro()[i]);
    q.add_(state.old_dirs()[i], -shares[i]);
  }
  Tensor r = q * state.H_diag();
  for (size_t i = 0; i < n; ++i)
    r.add_(state.old_stps()[i],
           shares[i] - number(state.old_dirs()[i].dot(r) * state.ro()[i]));
  return r;
}

}  // namespace

struct LBFGS::Point : LinePoint {
  Point(double f, Tensor grad) : LinePoint{0, f, std::move(grad), 0} {}
  explicit Point(LinePoint point) : LinePoint(std::move(point)) {}
};

LBFGS::LBFGS(const std::vector<OptimizerParamGroup>& groups,
             LBFGSOptions defaults)
    : Optimizer(groups, std::make_unique<LBFGSOptions>(defaults)) {
  TORCH_CHECK(param_groups().size() == 1,
              "LBFGS doesn't support per-parameter options (parameter groups)");
  auto& mine = static_cast<LBFGSOptions&>(param_groups()[0].options());
  if (!mine.max_eval()) mine.max_eval(mine.max_iter() * 5 / 4);
}

const LBFGSOptions& LBFGS::options() const {
  return static_cast<const LBFGSOptions&>(param_groups()[0].options());
}
LBFGSParamState& LBFGS::all() {
  return state_of<LBFGSParamState>(param_groups()[0].params().at(0));
}

Tensor LBFGS::flat_grad() const {
  std::vector<Tensor> flat;
  for (const Tensor& param : param_groups()[0].params())
    flat.push_back(param.grad().defined() ? param.grad().reshape(-1)
                                          : torch::zeros_like(param).view(-1));
  return torch::cat(flat);
}

bool LBFGS::is_small(const Tensor& grad) const {
  return number(grad.abs().max()) <= options().tolerance_grad();
}

void LBFGS::move(double t, const Tensor& direction) {
  int64_t start = 0;
  for (Tensor param : param_groups()[0].params()) {
    param.add_(direction.narrow(0, start, param.numel()).view_as(param), t);
    start += param.numel();
  }
}

LBFGS::Point LBFGS::evaluate(const LossClosure& closure) {
  const double loss = number(loss_of(closure));
  return {loss, flat_grad()};
}

/// Sets the direction for a gradient, and keeps what the last step told.
void LBFGS::turn(const Tensor& grad) {
  LBFGSParamState& state = all();
  if (state.n_iter() == 1) {
    state.d(grad.neg());
    state.old_dirs({}).old_stps({}).ro({});
    state.H_diag(torch::ones({}, grad.options()));
  } else {
    const Tensor change = grad - state.prev_flat_grad();
    const Tensor step = state.d() * state.t();
    const Tensor product = change.dot(step);
    if (number(product) > kLeastCurvature) {
      const auto keep = [&](std::vector<Tensor>& values, Tensor value) {
        if (int64_t(values.size()) == options().history_size())
          values.erase(values.begin());
        values.push_back(std::move(value));
      };
      keep(state.old_dirs(), change);
      keep(state.old_stps(), step);
      keep(state.ro(), product.reciprocal());
      state.H_diag(product / change.dot(change));
    }
    state.d(direction_of(state, grad));
  }
  state.prev_flat_grad(grad.clone());
}

/// Moves along the direction; the loss and gradient there.
LBFGS::Point LBFGS::advance(const LossClosure& closure, const Point& start,
                            bool last, int64_t budget, int64_t* calls) {
  LBFGSParamState& state = all();
  if (!options().line_search_fn()) {
    move(state.t(), state.d());
    *calls = last ? 0 : 1;  // at last nobody needs the loss
    return last ? start : evaluate(closure);
  }
  TORCH_CHECK(*options().line_search_fn() == "strong_wolfe",
              "only 'strong_wolfe' is supported");
  std::vector<Tensor> origin;
  for (const Tensor& param : param_groups()[0].params())
    origin.push_back(param.clone());
  StrongWolfe search(
      [&](double t) {
        move(t, state.d());
        LinePoint found = evaluate(closure);
        for (size_t i = 0; i < origin.size(); ++i)
          Tensor(param_groups()[0].params()[i]).copy_(origin[i]);
        found.t = t;
        found.slope = number(found.grad.dot(state.d()));
        return found;
      },
      start, number(state.d().abs().max()), options().tolerance_change(),
      budget);
  LinePoint found = search.search(state.t());
  *calls = search.evaluations();
  state.t(found.t);
  move(found.t, state.d());
  return Point(std::move(found));
}

Tensor LBFGS::step(LossClosure closure) {
  const NoGradGuard no_grad;
  TORCH_CHECK(closure != nullptr, "LBFGS requires a closure function");
  LBFGSParamState& state = all();
  const Tensor first = loss_of(closure);
  Point now(number(first), flat_grad());
  int64_t evaluations = 1;
  state.func_evals(state.func_evals() + 1);
  if (is_small(now.grad)) return first;
  for (int64_t i = 1; i <= options().max_iter(); ++i) {
    state.n_iter(state.n_iter() + 1);
    turn(now.grad);
    const double before = now.f;
    state.prev_loss(before);
    now.slope = number(now.grad.dot(state.d()));
    state.t(options().lr());
    if (state.n_iter() == 1)
      state.t(std::min(1.0, 1.0 / number(now.grad.abs().sum())) *
              options().lr());
    if (now.slope > -options().tolerance_change()) break;
    const bool last = i == options().max_iter();
    int64_t calls = 0;
    now.t = 0;
    now = advance(closure, now, last, *options().max_eval() - evaluations,
                  &calls);
    evaluations += calls;
    state.func_evals(state.func_evals() + calls);
    const double moved = number((state.d() * state.t()).abs().max());
    if (last || evaluations >= *options().max_eval() || is_small(now.grad) ||
        moved <= options().tolerance_change() ||
        std::abs(now.f - before) < options().tolerance_change())
      break;
  }
  return first;
}

}  // namespace torch::optim
