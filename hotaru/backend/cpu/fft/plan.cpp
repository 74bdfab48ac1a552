#include "hotaru/backend/cpu/fft/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <numbers>

#include "hotaru/backend/cpu/fft/lines.h"
#include "hotaru/core/mutex.h"

namespace hotaru::cpu::fft {
namespace {

/// Where a table of whole tiles of factors would be larger than this many
/// points, one product more for each point is the cheaper way.
constexpr int64_t kWholeTable = 1 << 15;
/// Shorter lines' tiles lie in the first cache, too.
constexpr int64_t kShortestNear = 128;
/// Lanes that near lines may take for each two that they need: once as columns,
/// once as rows.
constexpr double kMostLanes = 2.1;
constexpr size_t kCachedBytes = 32 << 20;
constexpr size_t kCachedPlans = 64;

/// Cost of a pass of each radix for a point, in half cycles: a walk over a tile
/// that is outside the first cache, and its arithmetic.
constexpr std::array<double, 14> kPassCost = {0,  0,  16, 18, 16, 20, 19,
                                              24, 19, 25, 23, 32, 24, 38};

/// The radices whose passes over n points cost least, large ones first; none if
/// there is no way.
std::vector<int64_t> radices(int64_t n) {
  if (n == 1) return {1};
  struct Way {
    double cost;
    int64_t radix;
  };
  std::map<int64_t, Way> known{{1, {0, 1}}};
  const auto best = [&](auto& self, int64_t left) -> const Way& {
    const auto found = known.find(left);
    if (found != known.end()) return found->second;
    Way way{std::numeric_limits<double>::infinity(), 1};
    for (int64_t r = int64_t(kPassCost.size()) - 1; r > 1; --r) {
      if (left % r) continue;
      const double cost = kPassCost[size_t(r)] + self(self, left / r).cost;
      if (cost < way.cost) way = {cost, r};
    }
    return known.emplace(left, way).first->second;
  };
  if (std::isinf(best(best, n).cost)) return {};
  std::vector<int64_t> out;
  for (int64_t left = n; left > 1; left /= out.back())
    out.push_back(known.at(left).radix);
  return out;
}

/// The least product of small primes that is at least n and splits well.
int64_t good_length(int64_t n) {
  int64_t best = 16;
  while (best < n) best *= 2;
  for (int64_t five = 1; five < best; five *= 5)
    for (int64_t three = five; three < best; three *= 3) {
      int64_t two = three * 4;
      while (two < n) two *= 2;
      best = std::min(best, two);
    }
  return best;
}

int64_t rounded(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

template <class T>
void append_root(std::vector<T>& to, int64_t k, int64_t n) {
  double re, im;
  root_of_unity(k, n, re, im);
  to.push_back(T(re));
  to.push_back(T(im));
}

/// Rows of a tile of factors: exp(-2 pi i k j / n) for j from `column` on.
template <class T>
void append_tile(std::vector<T>& to, int64_t n, int64_t rows, int64_t column) {
  for (int64_t k = 0; k < rows; ++k) {
    std::array<T, size_t(2 * kLanes<T>)> row;
    for (int64_t l = 0; l < kLanes<T>; ++l) {
      double re, im;
      root_of_unity(k * (column + l) % n, n, re, im);
      row[size_t(l)] = T(re);
      row[size_t(kLanes<T> + l)] = T(im);
    }
    to.insert(to.end(), row.begin(), row.end());
  }
}

}  // namespace

void root_of_unity(int64_t k, int64_t n, double& re, double& im) {
  // Into the first octant by integers, where sine and cosine are best.
  k %= n;
  const bool lower = 2 * k > n;
  if (lower) k = n - k;
  const bool left = 4 * k > n;
  if (left)
    k = n - 2 * k;
  else
    k = 2 * k;  // now in units of pi / n
  const bool steep = 4 * k > n;
  const double angle = std::numbers::pi / double(n) *
                       (steep ? (double(n) / 2 - double(k)) : double(k));
  re = std::cos(angle), im = std::sin(angle);
  if (steep) std::swap(re, im);
  if (left) re = -re;
  if (!lower) im = -im;
}

template <class T>
Plan<T>::Plan(int64_t n) : n(n) {
  factor(radices(n));
  if (passes.empty())
    convolve();
  else
    split();
}

template <class T>
Plan<T>::Plan(int64_t n, Part part) : n(n) {
  std::vector<int64_t> radix = radices(n);
  if (part == Part::kColumns) std::reverse(radix.begin(), radix.end());
  factor(radix);
}

template <class T>
void Plan<T>::factor(const std::vector<int64_t>& radices) {
  int64_t left = n, stride = 1;
  for (const int64_t radix : radices) {
    Pass<T> pass{radix, left / radix, stride, {}, {}};
    for (int64_t k = 0; k < radix; ++k) append_root(pass.roots, k, radix);
    for (int64_t p = 0; pass.m > 1 && p < pass.m; ++p)
      for (int64_t k = 1; k < radix; ++k)
        append_root(pass.twiddles, p * k, left);
    passes.push_back(std::move(pass));
    left /= radix;
    stride *= radix;
  }
}

template <class T>
void Plan<T>::split() {
  if (n < 16 || near_split()) return;
  // Lanes that stay empty cost as much as others, and long columns leave the
  // caches.
  const auto cost = [&](int64_t n1, int64_t n2) {
    const auto one = [](int64_t points, int64_t lines) {
      const double far = points > 2048 ? 1.5 : 1;
      return double(rounded(lines, kLanes<T>) * points) *
             (std::log2(double(points)) * far + 3);
    };
    return one(n1, n2) + one(n2, n1);
  };
  int64_t best = 0;
  for (int64_t d = 2; d * d <= n; ++d) {
    if (n % d) continue;
    if (!best || cost(d, n / d) < cost(best, n / best)) best = d;
  }
  // Nothing else is gained than lanes of one line.
  if (!best || cost(best, n / best) > 8 * double(n) * std::log2(double(n)))
    return;
  first = std::make_unique<Plan>(best);
  second = std::make_unique<Plan>(n / best);
  const int64_t n1 = first->n, n2 = second->n;
  if (n <= kWholeTable) {
    for (int64_t j = 0; j < n2; j += kLanes<T>) append_tile(fine, n, n1, j);
    return;
  }
  append_tile(fine, n, n1, 0);
  for (int64_t j = 0; j < n2; j += kLanes<T>)
    for (int64_t k = 0; k < n1; ++k) append_root(coarse, k * j, n);
}

template <class T>
bool Plan<T>::near_split() {
  if (n < kShortestNear) return false;
  // Lanes that are transformed twice, where the last columns overlap others.
  const auto cost = [&](int64_t n1, int64_t n2) {
    return double(rounded(n1, kLanes<T>)) / double(n1) +
           double(rounded(n2, kLanes<T>)) / double(n2);
  };
  int64_t best = 0;
  for (int64_t d = kLanes<T>; d * d <= n && n <= kWholeTable; ++d)
    if (n % d == 0 && (!best || cost(d, n / d) <= cost(best, n / best)))
      best = d;
  if (!best || cost(best, n / best) > kMostLanes) return false;
  using Part = typename Plan::Part;
  first = std::make_unique<Plan>(best, Part::kColumns);
  second = std::make_unique<Plan>(n / best, Part::kRows);
  for (int64_t j = 0; j < second->n; j += kLanes<T>)
    append_tile(fine, n, best, std::min(j, second->n - kLanes<T>));
  return near = true;
}

template <class T>
void Plan<T>::convolve() {
  const int64_t length = good_length(2 * n - 1);
  around = std::make_unique<Plan>(length);
  for (int64_t j = 0; j < n; ++j) append_root(chirp, j * j % (2 * n), 2 * n);
  std::vector<T> wave(size_t(2 * length));
  for (int64_t j = 0; j < n; ++j) {
    // Its conjugate, forwards and backwards, over the length it is divided by.
    const size_t ends[] = {size_t(j), size_t((length - j) % length)};
    for (const size_t at : ends) {
      wave[2 * at] = chirp[size_t(2 * j)] / T(length);
      wave[2 * at + 1] = -chirp[size_t(2 * j + 1)] / T(length);
    }
  }
  spectrum.resize(wave.size());
  transform_line(*around, wave.data(), spectrum.data(), false, T(1));
}

template <class T>
size_t Plan<T>::bytes() const {
  size_t sum = sizeof(Plan);
  for (const Pass<T>& pass : passes) sum += pass.twiddles.size() * sizeof(T);
  for (const auto* table : {&fine, &coarse, &chirp, &spectrum, &halves})
    sum += table->size() * sizeof(T);
  for (const auto* plan : {&first, &second, &around})
    if (*plan) sum += (*plan)->bytes();
  return sum;
}

template <class T>
std::shared_ptr<const Plan<T>> plan_for(int64_t n, bool halves) {
  struct Kept {
    bool halves;
    std::shared_ptr<const Plan<T>> plan;
  };
  // The last used first. Never destroyed: threads may outlive static objects.
  static Mutex& mutex = *new Mutex;
  static std::list<Kept>* list = new std::list<Kept>;
  const auto locked = [&] {
    // A fork may have left it halfway; then it is left alone for good.
    if (mutex.lock()) list = new std::list<Kept>;
    return std::unique_lock(mutex, std::adopt_lock);
  };
  const auto fits = [&](const Kept& k) {
    return k.plan->n == n && k.halves == halves;
  };
  {
    const auto lock = locked();
    std::list<Kept>& kept = *list;
    const auto found = std::find_if(kept.begin(), kept.end(), fits);
    if (found != kept.end()) {
      kept.splice(kept.begin(), kept, found);
      return found->plan;
    }
  }
  auto plan = std::make_shared<Plan<T>>(n);
  for (int64_t k = 0; halves && k <= n; ++k)
    append_root(plan->halves, k, 2 * n);
  const auto lock = locked();
  std::list<Kept>& kept = *list;
  kept.push_front({halves, plan});
  size_t bytes = 0, count = 0;
  for (auto k = kept.begin(); k != kept.end(); ++count) {
    bytes += k->plan->bytes();
    const bool much =
        count > 0 && (bytes > kCachedBytes || count >= kCachedPlans);
    k = much ? kept.erase(k) : std::next(k);
  }
  return plan;
}

template class Plan<float>;
template class Plan<double>;
template std::shared_ptr<const Plan<float>> plan_for<float>(int64_t, bool);
template std::shared_ptr<const Plan<double>> plan_for<double>(int64_t, bool);

}  // namespace hotaru::cpu::fft
