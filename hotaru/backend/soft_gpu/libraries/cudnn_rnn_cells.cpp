#include <cmath>

#include "hotaru/backend/soft_gpu/libraries/cudnn_rnn.h"

namespace hotaru::soft_gpu {
namespace {

constexpr int kRelu = 0, kTanh = 1, kLstm = 2;

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

/// A network at one step of one sequence in one pseudo-layer.
class Step {
 public:
  Step(const RnnNetwork& n, const RnnSequences& s, const RnnValues& v,
       RnnTape& tape, const std::vector<RnnMatrix>& matrices, int layer, int b,
       int t)
      : n_(n),
        s_(s),
        v_(v),
        tape_(tape),
        matrices_(matrices),
        layer_(layer),
        b_(b),
        t_(t),
        row_(s.at(t, b)),
        slot_(layer * s.rows() + row_) {}

  double& gate(int k, int j) {
    return tape_.gates[size_t((slot_ * 4 + k) * n_.hidden + j)];
  }
  double& cell(int j) { return tape_.cells[size_t(slot_ * n_.hidden + j)]; }
  double& inner(int j) { return tape_.inner[size_t(slot_ * n_.hidden + j)]; }
  double& state(int j) { return tape_.states[size_t(slot_ * n_.output + j)]; }
  int64_t row() const { return row_; }
  bool reverse() const { return layer_ % n_.directions == 1; }
  /// Index of the j-th input, in x or in the states of the layer below.
  int64_t input_at(int j) const {
    if (layer_ < n_.directions) return row_ * n_.input + j;
    const int below = layer_ / n_.directions - 1;
    const int from = below * n_.directions + j / n_.output;
    return (from * s_.rows() + row_) * n_.output + j % n_.output;
  }
  double input(int j) const {
    const auto& from = layer_ < n_.directions ? v_.x : tape_.states;
    return from[size_t(input_at(j))];
  }
  double state_before(int j) const {
    const int t = before();
    if (t < 0) return v_.h0[size_t((layer_ * s_.batch() + b_) * n_.output + j)];
    const int64_t slot = layer_ * s_.rows() + s_.at(t, b_);
    return tape_.states[size_t(slot * n_.output + j)];
  }
  double cell_before(int j) const {
    const int t = before();
    if (t < 0) return v_.c0[size_t((layer_ * s_.batch() + b_) * n_.hidden + j)];
    const int64_t slot = layer_ * s_.rows() + s_.at(t, b_);
    return tape_.cells[size_t(slot * n_.hidden + j)];
  }
  double weight(int which, int i, int j) const {
    const RnnMatrix& m = matrices_[size_t(2 * which)];
    return v_.weights[size_t(m.at + int64_t(i) * m.columns + j)];
  }
  double bias(int which, int i) const {
    const RnnMatrix& m = matrices_[size_t(2 * which + 1)];
    return m.at < 0 ? 0 : v_.weights[size_t(m.at + i)];
  }
  double of_input(int k, int i) const {
    double sum = bias(k, i);
    for (int j = 0; j < n_.width_of(layer_); ++j)
      sum += weight(k, i, j) * input(j);
    return sum;
  }
  double of_state(int k, int i) const {
    double sum = bias(n_.gates() + k, i);
    for (int j = 0; j < n_.output; ++j)
      sum += weight(n_.gates() + k, i, j) * state_before(j);
    return sum;
  }

  void forward() {
    for (int j = 0; j < n_.hidden; ++j) unit(j);
    for (int i = 0; i < n_.output; ++i) {
      if (!n_.projects()) {
        state(i) = inner(i);
        continue;
      }
      state(i) = 0;
      for (int j = 0; j < n_.hidden; ++j)
        state(i) += weight(2 * n_.gates(), i, j) * inner(j);
    }
  }

 private:
  /// The step before, or -1.
  int before() const {
    if (!reverse()) return t_ - 1;
    return t_ + 1 < s_.lengths[size_t(b_)] ? t_ + 1 : -1;
  }
  void unit(int j) {
    if (n_.cell == kLstm) {
      for (int k = 0; k < 4; ++k) {
        const double a = of_input(k, j) + of_state(k, j);
        gate(k, j) = k == 2 ? std::tanh(a) : logistic(a);
      }
      cell(j) = gate(1, j) * cell_before(j) + gate(0, j) * gate(2, j);
      inner(j) = gate(3, j) * std::tanh(cell(j));
    } else if (n_.cell == kRelu || n_.cell == kTanh) {
      const double a = of_input(0, j) + of_state(0, j);
      inner(j) = n_.cell == kTanh ? std::tanh(a) : a > 0 ? a : 0;
    } else {
      for (int k = 0; k < 2; ++k)
        gate(k, j) = logistic(of_input(k, j) + of_state(k, j));
      gate(3, j) = of_state(2, j);
      gate(2, j) = std::tanh(of_input(2, j) + gate(0, j) * gate(3, j));
      const double z = gate(1, j);
      inner(j) = (1 - z) * gate(2, j) + z * state_before(j);
    }
  }

  const RnnNetwork& n_;
  const RnnSequences& s_;
  const RnnValues& v_;
  RnnTape& tape_;
  const std::vector<RnnMatrix>& matrices_;
  int layer_, b_, t_;
  int64_t row_, slot_;
};

/// Matrix and bias of each linLayerID.
std::vector<RnnMatrix> matrices_of(const RnnNetwork& n, int layer) {
  std::vector<RnnMatrix> out;
  for (int which = 0; which <= 2 * n.gates(); ++which)
    for (const bool bias : {false, true})
      out.push_back(rnn_matrix(n, layer, which, bias));
  return out;
}

/// f(step, sequence) in the order in which steps depend on each other, or back.
template <class F>
void for_steps(const RnnNetwork& n, const RnnSequences& s, const RnnValues& v,
               RnnTape& tape, int layer, bool back, const F& f) {
  const std::vector<RnnMatrix> matrices = matrices_of(n, layer);
  const bool falling = (layer % n.directions == 1) != back;
  for (int b = 0; b < s.batch(); ++b) {
    const int length = s.lengths[size_t(b)];
    for (int i = 0; i < length; ++i) {
      Step step(n, s, v, tape, matrices, layer, b,
                falling ? length - 1 - i : i);
      f(step, b);
    }
  }
}

/// Which of the tape's gates goes with the state's matrix of a gate.
int side_of(const RnnNetwork& n, int k) {
  return n.gates() == 3 && k == 2 ? 3 : k;
}

/// Gates become gradients; dh is of what the cell gave, dc of c and then of
/// the c before, direct of the h before beside matrices.
void unit_backward(const RnnNetwork& n, Step& s, int j, double dh, double& dc,
                   double& direct) {
  const auto slope = [](double y) { return y * (1 - y); };
  direct = 0;
  if (n.cell == kLstm) {
    const double i = s.gate(0, j), f = s.gate(1, j), g = s.gate(2, j);
    const double o = s.gate(3, j), c = std::tanh(s.cell(j));
    dc += dh * o * (1 - c * c);
    s.gate(0, j) = dc * g * slope(i);
    s.gate(1, j) = dc * s.cell_before(j) * slope(f);
    s.gate(2, j) = dc * i * (1 - g * g);
    s.gate(3, j) = dh * c * slope(o);
    dc *= f;
  } else if (n.cell == kRelu || n.cell == kTanh) {
    const double y = s.inner(j);
    s.gate(0, j) = n.cell == kTanh ? dh * (1 - y * y) : y > 0 ? dh : 0;
  } else {
    const double r = s.gate(0, j), z = s.gate(1, j), q = s.gate(3, j);
    const double m = s.gate(2, j), dn = dh * (1 - z) * (1 - m * m);
    s.gate(0, j) = dn * q * slope(r);
    s.gate(1, j) = dh * (s.state_before(j) - m) * slope(z);
    s.gate(2, j) = dn;
    s.gate(3, j) = dn * r;
    direct = dh * z;
  }
}

}  // namespace

RnnTape::RnnTape(const RnnNetwork& n, const RnnSequences& s)
    : gates(size_t(n.pseudo_layers() * s.rows() * 4 * n.hidden)),
      cells(size_t(n.pseudo_layers() * s.rows() * n.hidden)),
      inner(cells.size()),
      states(size_t(n.pseudo_layers() * s.rows() * n.output)) {}

int64_t RnnSequences::at(int t, int b) const {
  if (!packed) return int64_t(t) * batch() + b;
  int64_t row = b;
  for (const int length : lengths) row += length < t ? length : t;
  return row;
}

int64_t RnnSequences::rows() const {
  if (!packed) return int64_t(steps) * batch();
  int64_t out = 0;
  for (const int length : lengths) out += length;
  return out;
}

namespace {

/// Where the wanted one lies, and behind all of a pseudo-layer.
RnnMatrix lay_out(const RnnNetwork& n, int layer, int which, bool bias,
                  int64_t& at) {
  constexpr int kGap = 8;
  RnnMatrix found;
  const auto place = [&](int id, bool is_bias, int rows, int columns) {
    if (id == which && is_bias == bias) found = {at, rows, columns};
    at += int64_t(rows) * columns;
  };
  const int gates = n.gates();
  if (n.bias)
    for (int k = 0; k < 2 * gates; ++k) place(k, true, n.hidden, 1);
  for (int k = 0; k < gates; ++k) place(k, false, n.hidden, n.width_of(layer));
  for (int k = gates; k-- > 0;) {
    at += kGap;
    place(gates + k, false, n.hidden, n.output);
  }
  if (n.projects()) place(2 * gates, false, n.output, n.hidden);
  return found;
}

}  // namespace

RnnMatrix rnn_matrix(const RnnNetwork& n, int pseudo_layer, int which,
                     bool bias) {
  int64_t at = 0;
  RnnMatrix out;
  for (int p = 0; p <= pseudo_layer; ++p) out = lay_out(n, p, which, bias, at);
  return out;
}

int64_t rnn_weight_elements(const RnnNetwork& n) {
  int64_t at = 0;
  for (int p = 0; p < n.pseudo_layers(); ++p) lay_out(n, p, -1, false, at);
  return at;
}

std::vector<double> rnn_forward(const RnnNetwork& n, const RnnSequences& s,
                                const RnnValues& v, RnnTape& tape) {
  for (int p = 0; p < n.pseudo_layers(); ++p)
    for_steps(n, s, v, tape, p, false, [](Step& step, int) { step.forward(); });
  const int width = n.output * n.directions;
  std::vector<double> y(size_t(s.rows() * width), 0);
  for (int d = 0; d < n.directions; ++d) {
    const int p = (n.layers - 1) * n.directions + d;
    for_steps(n, s, v, tape, p, false, [&](Step& step, int) {
      for (int j = 0; j < n.output; ++j)
        y[size_t(step.row() * width + d * n.output + j)] = step.state(j);
    });
  }
  return y;
}

std::vector<double> rnn_last(const RnnNetwork& n, const RnnSequences& s,
                             const RnnTape& tape, int which) {
  const int width = which ? n.hidden : n.output;
  const auto& from = which ? tape.cells : tape.states;
  std::vector<double> out;
  for (int p = 0; p < n.pseudo_layers(); ++p)
    for (int b = 0; b < s.batch(); ++b) {
      const int t = p % n.directions == 1 ? 0 : s.lengths[size_t(b)] - 1;
      const int64_t slot = p * s.rows() + s.at(t, b);
      for (int j = 0; j < width; ++j)
        out.push_back(from[size_t(slot * width + j)]);
    }
  return out;
}

void rnn_backward(const RnnNetwork& n, const RnnSequences& s,
                  const RnnValues& v, RnnTape& tape, RnnGradients& g) {
  const int width = n.output * n.directions, H = n.hidden, P = n.output;
  std::vector<double> dstates(tape.states.size(), 0);
  g.dx.assign(v.x.size(), 0);
  g.dh0 = g.dhn, g.dc0 = g.dcn;
  for (int p = n.pseudo_layers(); p-- > 0;) {
    const bool top = p / n.directions == n.layers - 1;
    std::vector<double> dc(size_t(H), 0), direct(size_t(H), 0);
    for_steps(n, s, v, tape, p, true, [&](Step& step, int b) {
      double* const dh = &g.dh0[size_t((p * s.batch() + b) * P)];
      double* const carried =
          n.lstm() ? &g.dc0[size_t((p * s.batch() + b) * H)] : dc.data();
      for (int j = 0; j < P; ++j) {
        dh[j] += dstates[size_t((p * s.rows() + step.row()) * P + j)];
        if (top)
          dh[j] += g.dy[size_t(step.row() * width + p % n.directions * P + j)];
      }
      const std::vector<double> given(dh, dh + P);
      for (int j = 0; j < H; ++j) {
        double of_inner = n.projects() ? 0 : given[size_t(j)];
        for (int i = 0; n.projects() && i < P; ++i)
          of_inner += step.weight(2 * n.gates(), i, j) * given[size_t(i)];
        unit_backward(n, step, j, of_inner, carried[j], direct[size_t(j)]);
      }
      for (int j = 0; n.projects() && j < P; ++j)
        step.cell(j) = given[size_t(j)];
      for (int j = 0; j < P; ++j) {
        dh[j] = n.projects() ? 0 : direct[size_t(j)];
        for (int k = 0; k < n.gates(); ++k)
          for (int i = 0; i < H; ++i)
            dh[j] +=
                step.weight(n.gates() + k, i, j) * step.gate(side_of(n, k), i);
      }
      auto& below = p < n.directions ? g.dx : dstates;
      for (int j = 0; j < n.width_of(p); ++j)
        for (int k = 0; k < n.gates(); ++k)
          for (int i = 0; i < H; ++i)
            below[size_t(step.input_at(j))] +=
                step.weight(k, i, j) * step.gate(k, i);
    });
  }
}

void rnn_weight_sums(const RnnNetwork& n, const RnnSequences& s,
                     const RnnValues& v, const RnnTape& tape,
                     std::vector<double>& dweights) {
  RnnTape seen = tape;
  for (int p = 0; p < n.pseudo_layers(); ++p) {
    const std::vector<RnnMatrix> matrices = matrices_of(n, p);
    const auto add = [&](int which, bool bias, int i, int j, double value) {
      const RnnMatrix& m = matrices[size_t(2 * which + bias)];
      if (m.at >= 0)
        dweights[size_t(m.at + int64_t(i) * m.columns + j)] += value;
    };
    for_steps(n, s, v, seen, p, false, [&](Step& step, int) {
      for (int k = 0; k < n.gates(); ++k)
        for (int i = 0; i < n.hidden; ++i) {
          const double of_input = step.gate(k, i);
          const double of_state = step.gate(side_of(n, k), i);
          for (int j = 0; j < n.width_of(p); ++j)
            add(k, false, i, j, of_input * step.input(j));
          for (int j = 0; j < n.output; ++j)
            add(n.gates() + k, false, i, j, of_state * step.state_before(j));
          add(k, true, i, 0, of_input);
          add(n.gates() + k, true, i, 0, of_state);
        }
      for (int i = 0; n.projects() && i < n.output; ++i)
        for (int j = 0; j < n.hidden; ++j)
          add(2 * n.gates(), false, i, j, step.cell(i) * step.inner(j));
    });
  }
}

}  // namespace hotaru::soft_gpu
