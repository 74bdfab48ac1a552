// Layers of a recurrent network that a device's library computes at once, both
// directions of each; for devices that have the kernels named here.
#pragma once

#include <vector>

#include "hotaru/backend/common/rnn/rnn.h"
#include "hotaru/core/device.h"
#include "hotaru/core/dtype.h"

namespace hotaru {

/// H is `output`, C `cells`, of one direction (see rnn.h); D counts directions,
/// L layers, N = sum of lengths. Lengths decrease: of a packed sequence each
/// step's rows lie behind the last one's. Without one all are T and N = T B.
struct RnnStack {
  RnnMode mode = RnnMode::kLstm;
  DType dtype = DType::kFloat32;
  bool bidirectional = false, has_biases = true, training = false;
  bool packed = false;
  bool tf32 = false;  // of float32: whether factors may be rounded
  int64_t layers = 1, input = 0, cells = 0, output = 0;
  int64_t steps = 0;         // T
  std::vector<int> lengths;  // of each of the B sequences

  int64_t directions() const { return bidirectional ? 2 : 1; }
  bool projects() const { return output != cells; }
  /// Weights and biases of a layer in one direction.
  int64_t params_each() const {
    return 2 + (has_biases ? 2 : 0) + (projects() ? 1 : 0);
  }
};

/// Room of a stack, in bytes: the weights as the library has them, and what it
/// keeps between forward and backward.
struct RnnStackRoom {
  bool serves = false;
  int64_t weights = 0, reserve = 0;
};

/// Attributes of "rnn_stack_room", which has no operands, computes nothing and
/// is called in place, not enqueued: whether the library takes such a stack
/// now, and the room. The others, row-major; (...) may be undefined:
///   "rnn_stack_pack"     write weights, read params: w_ih, w_hh, b_ih, b_hh,
///                        w_hr, as far as there are, of layer 0 forwards, layer
///                        0 backwards, layer 1 ...
///   "rnn_stack"          write y [N, D H], write hn [L D, B, H], (write cn),
///                        (write reserve), read x [N, I], read h0, (read c0),
///                        read weights. A reserve if and only if training.
///   "rnn_stack_data"     write dx, write dh0, (write dc0), update reserve,
///                        read y, read dy, read h0, (read dhn), (read c0),
///                        (read dcn), read weights
///   "rnn_stack_weights"  read x, read h0, read y, update reserve, write each
///                        param's gradient. Comes after "rnn_stack_data", which
///                        left in the reserve what it starts from.
struct RnnStackQuestion {
  RnnStack stack;
  Device device;
  RnnStackRoom* room;
};

}  // namespace hotaru
