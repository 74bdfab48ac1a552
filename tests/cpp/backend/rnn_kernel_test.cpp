#include "hotaru/backend/cpu/rnn/rnn_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "hotaru/core/printing/concat.h"

namespace hotaru {
namespace {

using Vector = std::vector<double>;

/// Within 0.3, so that rounding errors do not grow from step to step.
Vector random_values(int64_t count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> uniform(-0.3, 0.3);
  Vector values(static_cast<size_t>(count));
  for (double& v : values) v = uniform(random);
  return values;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

struct Layer {
  RnnSizes sizes;
  Vector x, w_ih, w_hh, b_ih, b_hh, h, c;

  Layer(const RnnSizes& s, bool bias) : sizes(s) {
    const int64_t g = s.gate_size();
    x = random_values(s.steps * s.batch * s.input_size, 1);
    w_ih = random_values(g * s.input_size, 2);
    w_hh = random_values(g * s.hidden_size, 3);
    if (bias) b_ih = random_values(g, 4), b_hh = random_values(g, 5);
    h = random_values(s.batch * s.hidden_size, 6);
    c = random_values(s.batch * s.hidden_size, 7);
  }

  /// PyTorch's documented formulas; y is (steps, batch, hidden).
  void reference(Vector& y, Vector& hn, Vector& cn) const {
    const int64_t H = sizes.hidden_size, I = sizes.input_size;
    hn = h, cn = c;
    y.assign(size_t(sizes.steps * sizes.batch * H), 0);
    for (int64_t t = 0; t < sizes.steps; ++t) {
      const int64_t time = sizes.reverse ? sizes.steps - 1 - t : t;
      const Vector before = hn;
      for (int64_t b = 0; b < sizes.batch; ++b) {
        for (int64_t j = 0; j < H; ++j) {
          const auto both = [&](int64_t gate, bool hidden) {
            const int64_t row = gate * H + j;
            const Vector& bias = hidden ? b_hh : b_ih;
            double sum = bias.empty() ? 0 : bias[size_t(row)];
            for (int64_t p = 0; p < (hidden ? H : I); ++p)
              sum += hidden
                         ? w_hh[size_t(row * H + p)] * before[size_t(b * H + p)]
                         : w_ih[size_t(row * I + p)] *
                               x[size_t((time * sizes.batch + b) * I + p)];
            return sum;
          };
          const auto gate = [&](int64_t i) {
            return both(i, false) + both(i, true);
          };
          double& cell = cn[size_t(b * H + j)];
          double out = 0;
          switch (sizes.kind) {
            case RnnKind::kLstm:
              cell = sigmoid(gate(1)) * cell +
                     sigmoid(gate(0)) * std::tanh(gate(2));
              out = sigmoid(gate(3)) * std::tanh(cell);
              break;
            case RnnKind::kGru: {
              const double r = sigmoid(gate(0)), z = sigmoid(gate(1));
              const double n = std::tanh(both(2, false) + r * both(2, true));
              out = (1 - z) * n + z * before[size_t(b * H + j)];
              break;
            }
            case RnnKind::kTanh:
              out = std::tanh(gate(0));
              break;
            case RnnKind::kRelu:
              out = std::max(0.0, gate(0));
              break;
          }
          hn[size_t(b * H + j)] = out;
          y[size_t((time * sizes.batch + b) * H + j)] = out;
        }
      }
    }
  }
};

template <class T>
std::vector<T> cast(const Vector& v) {
  return {v.begin(), v.end()};
}

template <class T>
void expect_near(const std::vector<T>& got, const Vector& want,
                 const char* what, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(double(got[i]), want[i], tolerance) << what << " " << i;
}

template <class T>
void check(const RnnSizes& s, bool bias, bool pack) {
  SCOPED_TRACE(concat("kind ", int(s.kind), " steps ", s.steps, " batch ",
                      s.batch, " input ", s.input_size, " hidden ",
                      s.hidden_size, " reverse ", s.reverse, " bias ", bias,
                      " packed ", pack));
  const Layer layer(s, bias);
  Vector y, hn, cn;
  layer.reference(y, hn, cn);
  const bool lstm = s.kind == RnnKind::kLstm;
  const auto x = cast<T>(layer.x), w_ih = cast<T>(layer.w_ih),
             w_hh = cast<T>(layer.w_hh), b_ih = cast<T>(layer.b_ih),
             b_hh = cast<T>(layer.b_hh), h0 = cast<T>(layer.h),
             c0 = cast<T>(layer.c);
  const PackedMatrix<T> input(s.input_size, s.gate_size(),
                              {w_ih.data(), 1, s.input_size});
  const PackedMatrix<T> hidden(s.hidden_size, s.gate_size(),
                               {w_hh.data(), 1, s.hidden_size});
  const RnnWeights<T> weights{{pack ? input.ref().data : w_ih.data(), pack},
                              {pack ? hidden.ref().data : w_hh.data(), pack},
                              bias ? b_ih.data() : nullptr,
                              bias ? b_hh.data() : nullptr};
  const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-14;

  std::vector<T> got_h(h0.size()), got_c(c0.size());
  const int64_t stride = s.hidden_size + 3;  // as in a bidirectional layer
  std::vector<T> wide(size_t(s.steps * s.batch * stride), T(99));
  rnn_layer<T>(s, weights,
               {x.data(), h0.data(), lstm ? c0.data() : nullptr, got_h.data(),
                lstm ? got_c.data() : nullptr, wide.data(), stride});
  std::vector<T> got_y;
  for (size_t i = 0; i < wide.size(); ++i)
    if (i % size_t(stride) < size_t(s.hidden_size))
      got_y.push_back(wide[i]);
    else
      ASSERT_EQ(wide[i], T(99)) << "wrote beside y";
  expect_near(got_y, y, "y", tolerance);
  expect_near(got_h, hn, "hn", tolerance);
  if (lstm) expect_near(got_c, cn, "cn", tolerance);

  // In place and without y.
  auto h = h0, c = c0;
  rnn_layer<T>(s, weights,
               {x.data(), h.data(), lstm ? c.data() : nullptr, h.data(),
                lstm ? c.data() : nullptr});
  expect_near(h, hn, "hn in place", tolerance);
  if (lstm) expect_near(c, cn, "cn in place", tolerance);
}

TEST(RnnKernel, FollowsPyTorchsFormulas) {
  for (RnnKind kind :
       {RnnKind::kLstm, RnnKind::kGru, RnnKind::kTanh, RnnKind::kRelu}) {
    for (int64_t steps : {1, 3, 20}) {
      for (int64_t batch : {1, 3, 20}) {
        for (int64_t hidden : {1, 16, 21}) {
          for (int options = 0; options < 8; ++options) {
            RnnSizes s{kind, steps, batch, 5, hidden, (options & 1) != 0};
            check<float>(s, options & 2, options & 4);
            check<double>(s, options & 2, options & 4);
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(RnnKernel, LongSequencesAreProjectedInParts) {
  for (bool reverse : {false, true}) {
    check<double>({RnnKind::kLstm, 300, 2, 3, 9, reverse}, true, false);
    check<double>({RnnKind::kGru, 1, 300, 3, 9, reverse}, true, true);
  }
}

TEST(RnnKernel, NoStepsCopyTheState) {
  const RnnSizes s{RnnKind::kLstm, 0, 1, 2, 2};
  const float h0[] = {1, 2}, c0[] = {3, 4};
  float hn[2], cn[2];
  const std::vector<float> w(16);
  rnn_layer<float>(s, {{w.data()}, {w.data()}}, {nullptr, h0, c0, hn, cn});
  EXPECT_EQ(hn[1], 2);
  EXPECT_EQ(cn[1], 4);
}

}  // namespace
}  // namespace hotaru
