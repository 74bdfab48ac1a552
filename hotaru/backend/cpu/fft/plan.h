// Plans: what of a Fourier transform depends on its length only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace hotaru::cpu::fft {

/// A tile holds points of as many lines side by side as fill a cache line:
/// point j is kLanes real parts and then kLanes imaginary ones.
template <class T>
inline constexpr int64_t kLanes = 64 / int64_t(sizeof(T));

/// exp(-2 pi i k / n) as a pair, right to an ulp or so.
void root_of_unity(int64_t k, int64_t n, double& re, double& im);

/// One pass of Stockham's transform: m butterflies of a radix, each over all
/// points at a stride. `twiddles`: radix - 1 factors for each butterfly;
/// `roots`: those of unity of that degree.
template <class T>
struct Pass {
  int64_t radix, m, stride;
  std::vector<T> twiddles, roots;
};

/// How lines of one length are transformed, forward. One of four ways: passes
/// over a tile; a split into two shorter transforms, n = n1 * n2 (Bailey's four
/// steps), of a line by itself or through memory; or as a convolution
/// (Bluestein).
template <class T>
class Plan {
 public:
  explicit Plan(int64_t n);
  /// Plan of the columns or the rows of a near line: passes only, the least
  /// radix at the end that reads or writes the line.
  enum class Part { kColumns, kRows };
  Plan(int64_t n, Part part);

  int64_t n;
  /// Empty if n has a prime factor for which there is no butterfly.
  std::vector<Pass<T>> passes;

  /// Set if lines are split such that each is transformed by itself within the
  /// near caches; the last tile of `fine` is then of the last kLanes columns.
  bool near = false;

  /// Plans of four steps; null if lines of this length are not split.
  std::unique_ptr<Plan> first, second;
  /// exp(-2 pi i k j / n) for column j and row k: a tile's n1 rows for each
  /// kLanes columns; or only the first such tile (fine), and a factor of each
  /// row for every tile (coarse).
  std::vector<T> fine, coarse;

  /// Bluestein's parts: the transform of at least 2n - 1 points, the chirp
  /// exp(-pi i j^2 / n), and the transform of its conjugate, over that length.
  std::unique_ptr<Plan> around;
  std::vector<T> chirp, spectrum;

  /// exp(-2 pi i k / 2n) for k up to n, where n points stand for 2n real ones.
  std::vector<T> halves;

  size_t bytes() const;

 private:
  void factor(const std::vector<int64_t>& radices);
  void split();
  bool near_split();
  void convolve();
};

/// The plan for lines of n points; with halves if they stand for 2n real ones.
/// Plans are kept for later calls, within a limit of memory. Thread-safe.
template <class T>
std::shared_ptr<const Plan<T>> plan_for(int64_t n, bool halves);

}  // namespace hotaru::cpu::fft
