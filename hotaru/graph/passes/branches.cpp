#include "hotaru/graph/passes/branches.h"

#include <algorithm>
#include <numeric>

#include "hotaru/backend/common/rnn/rnn.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/passes/cost.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/runtime/operand.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::graph {
namespace {

// Calls of one stretch at most: limits how long the search takes.
constexpr size_t kLongest = 64;
// Nanoseconds, and the share of all that has to be gained for the guess to be
// trusted.
constexpr double kForkJoin = 3'000, kMargin = 0.1;

/// Calls that depend on each other, and what they take in one thread.
struct Branch {
  std::vector<size_t> nodes;
  double cost;
};

/// Branches of calls first .. last, dealt to threads.
struct Plan {
  double gain = 0;  // nanoseconds
  size_t end = 0;
  std::vector<std::vector<size_t>> lanes;
};

/// Both directions of a layer write one value, different columns of each row.
bool write_apart(const KernelCall& a, const KernelCall& b) {
  if (!is(a, known::kRnnLayer) || &a.kernel() != &b.kernel()) return false;
  const auto columns = [](const KernelCall& call) {
    const int64_t begin = call.attributes<RnnAttributes>().offset;
    return std::pair(begin, begin + call.tensor(1).sizes().back());
  };
  const auto [a_begin, a_end] = columns(a);
  const auto [b_begin, b_end] = columns(b);
  if (!same_elements(a.tensor(0), b.tensor(0)) ||
      (a_begin < b_end && b_begin < a_end))
    return false;
  const auto others = [](const KernelCall& call) {
    Touches out;
    for (const Operand& operand : call.operands().subspan(1))
      if (ordered_of(operand)) out.push_back(touch_of(operand));
    return out;
  };
  const Touches of_a = others(a), of_b = others(b);
  return !conflict(of_a, of_b) &&
         !conflict(of_a, {touch_of(b.operands()[0])}) &&
         !conflict(of_b, {touch_of(a.operands()[0])});
}

class BranchFinder {
 public:
  BranchFinder(Region& region, double fork_join)
      : region_(region), fork_join_(fork_join), threads_(get_num_threads()) {}

  void run() {
    const size_t count = region_.nodes.size();
    if (threads_ < 2 || count < 2) return;
    for (const auto& node : region_.nodes) {
      const size_t n = touches_.size();
      touches_.push_back(touches_of(node->call()));
      costs_.push_back(cost_of(node->call(), threads_));
      after_.emplace_back();
      for (size_t m = n - std::min(n, kLongest - 1); m < n; ++m)
        if (depends(n, m)) after_[n].push_back(m);
    }
    // Gain of the calls from i on, at best.
    std::vector<double> best(count + 1);
    std::vector<Plan> plans(count);
    for (size_t i = count; i-- > 0;) {
      best[i] = best[i + 1];
      Plan plan = best_from(i, best);
      if (plan.lanes.empty()) continue;
      best[i] = plan.gain + best[plan.end];
      plans[i] = std::move(plan);
    }
    reorder(plans, best);
  }

 private:
  bool depends(size_t later, size_t earlier) const {
    return conflict(touches_[earlier], touches_[later]) &&
           !write_apart(region_.nodes[earlier]->call(),
                        region_.nodes[later]->call());
  }

  Plan best_from(size_t first, const std::vector<double>& best) const {
    Plan found;
    const size_t end = std::min(costs_.size(), first + kLongest);
    double alone = 0, one_by_one = 0;
    for (size_t n = first; n < end; ++n) alone += costs_[n].alone;
    if (alone * (1 - 1.0 / threads_) < fork_join_) return found;
    std::vector<Branch> branches;
    for (size_t n = first; n < end; ++n) {
      one_by_one += costs_[n].divided;
      add(branches, n);
      if (branches.size() < 2) continue;
      auto [lanes, longest] = deal(branches);
      const double gain = one_by_one - longest - fork_join_;
      if (gain < kMargin * one_by_one ||
          gain + best[n + 1] <= best[first + 1] ||
          (found.end && gain + best[n + 1] <= found.gain + best[found.end]))
        continue;
      found = {gain, n + 1, std::move(lanes)};
    }
    return found;
  }

  /// Call n joins the branches that it depends on into one.
  void add(std::vector<Branch>& branches, size_t n) const {
    Branch mine{{}, costs_[n].alone};
    std::erase_if(branches, [&](const Branch& branch) {
      // Both are sorted.
      const bool joins =
          std::any_of(after_[n].begin(), after_[n].end(), [&](size_t earlier) {
            return std::binary_search(branch.nodes.begin(), branch.nodes.end(),
                                      earlier);
          });
      if (!joins) return false;
      const auto middle = mine.nodes.insert(
          mine.nodes.end(), branch.nodes.begin(), branch.nodes.end());
      std::inplace_merge(mine.nodes.begin(), middle, mine.nodes.end());
      mine.cost += branch.cost;
      return true;
    });
    mine.nodes.push_back(n);
    branches.push_back(std::move(mine));
  }

  /// The longest branch first, each to the thread that has least to do; and
  /// what the busiest one takes.
  std::pair<std::vector<std::vector<size_t>>, double> deal(
      const std::vector<Branch>& branches) const {
    std::vector<const Branch*> order;
    for (const Branch& branch : branches) order.push_back(&branch);
    std::stable_sort(
        order.begin(), order.end(),
        [](const Branch* a, const Branch* b) { return a->cost > b->cost; });
    std::vector<std::vector<size_t>> lanes(
        std::min(size_t(threads_), branches.size()));
    std::vector<double> busy(lanes.size());
    for (const Branch* branch : order) {
      const size_t lane =
          size_t(std::min_element(busy.begin(), busy.end()) - busy.begin());
      lanes[lane].insert(lanes[lane].end(), branch->nodes.begin(),
                         branch->nodes.end());
      busy[lane] += branch->cost;
    }
    for (std::vector<size_t>& lane : lanes) std::sort(lane.begin(), lane.end());
    return {lanes, *std::max_element(busy.begin(), busy.end())};
  }

  void reorder(const std::vector<Plan>& plans,
               const std::vector<double>& best) {
    Nodes nodes;
    for (size_t i = 0; i < plans.size();) {
      if (plans[i].lanes.empty() || best[i] == best[i + 1]) {
        nodes.push_back(std::move(region_.nodes[i++]));
        continue;
      }
      Stretch stretch;
      for (const std::vector<size_t>& lane : plans[i].lanes) {
        stretch.begins.push_back(nodes.size());
        for (const size_t n : lane)
          nodes.push_back(std::move(region_.nodes[n]));
      }
      stretch.end = nodes.size();
      region_.stretches.push_back(std::move(stretch));
      i = plans[i].end;
    }
    region_.nodes = std::move(nodes);
  }

  Region& region_;
  const double fork_join_;
  const int threads_;
  // By call; after_: the calls that it depends on, of the last kLongest.
  std::vector<Touches> touches_;
  std::vector<Cost> costs_;
  std::vector<std::vector<size_t>> after_;
};

}  // namespace

void find_branches(Region& region) {
  find_branches(region, kForkJoin);
}

void find_branches(Region& region, double fork_join) {
  BranchFinder(region, fork_join).run();
}

}  // namespace hotaru::graph
