// Computation behind the stand-in for cuDNN's recurrent layers: networks of
// cells in double, element by element, by the formulas of NVIDIA's
// documentation.
#pragma once

#include <cstdint>
#include <vector>

namespace hotaru::soft_gpu {

/// As cudnnSetRNNDescriptor_v8 was told it.
struct RnnNetwork {
  int cell = 0, bias = 0, type = 0;
  int directions = 1, layers = 1;
  int input = 0, hidden = 0, output = 0;

  bool lstm() const { return cell == 2; }
  int gates() const { return cell == 2 ? 4 : cell == 3 ? 3 : 1; }
  bool projects() const { return output != hidden; }
  int pseudo_layers() const { return layers * directions; }
  int width_of(int pseudo_layer) const {
    return pseudo_layer < directions ? input : output * directions;
  }
};

/// Where a matrix or bias lies among the weights, in elements.
struct RnnMatrix {
  int64_t at = -1;
  int rows = 0, columns = 0;
};
/// linLayerID `which` of a pseudo-layer, its matrix or its bias. The order has
/// nothing to do with anybody's: matrices of the state lie backwards and behind
/// gaps, biases come first.
RnnMatrix rnn_matrix(const RnnNetwork& n, int pseudo_layer, int which,
                     bool bias);
int64_t rnn_weight_elements(const RnnNetwork& n);

/// Sequences: step t of sequence b is row at(t, b) of x and y.
struct RnnSequences {
  bool packed = false;
  int steps = 0;
  std::vector<int> lengths;

  int batch() const { return int(lengths.size()); }
  int64_t at(int t, int b) const;
  int64_t rows() const;
};

/// Numbers of a pass, which training keeps. Gates of pseudo-layer p, row r are
/// `gates` at (p * rows + r) * 4 * hidden; of GRU the fourth is R h + b_R of
/// the new state. `cells` are c, `states` what goes to the next step, `inner`
/// what an LSTM projects.
struct RnnTape {
  std::vector<double> gates, cells, inner, states;
  RnnTape(const RnnNetwork& n, const RnnSequences& s);
};

struct RnnValues {
  std::vector<double> x, h0, c0, weights;
};
/// Fills the tape; gives y.
std::vector<double> rnn_forward(const RnnNetwork& n, const RnnSequences& s,
                                const RnnValues& v, RnnTape& tape);
/// The last states of that pass, of `which` 0 h, 1 c.
std::vector<double> rnn_last(const RnnNetwork& n, const RnnSequences& s,
                             const RnnTape& tape, int which);

struct RnnGradients {
  std::vector<double> dy, dhn, dcn;  // given
  std::vector<double> dx, dh0, dc0;  // found
};
/// The tape's gates become their gradients before the activation (of GRU's
/// fourth: of R h + b_R), its inner numbers stay, its states too; cells of a
/// projecting LSTM become the gradient of what was projected.
void rnn_backward(const RnnNetwork& n, const RnnSequences& s,
                  const RnnValues& v, RnnTape& tape, RnnGradients& g);
/// Added to dweights.
void rnn_weight_sums(const RnnNetwork& n, const RnnSequences& s,
                     const RnnValues& v, const RnnTape& tape,
                     std::vector<double>& dweights);

}  // namespace hotaru::soft_gpu
