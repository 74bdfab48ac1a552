#include "hotaru/backend/cuda/libraries/turn.h"

namespace hotaru::cuda {
namespace {

constinit const Functions function("Turn");

}  // namespace

void turn(DType dtype, int64_t batch, const Matrices& from, const Matrices& to,
          int64_t rows, int64_t columns, const Turning& how) {
  TurnParams p;
  p.from = from.data;
  p.to = to.data;
  p.from_bytes = from.bytes;
  p.to_bytes = to.bytes;
  p.from_row = from.row;
  p.to_row = to.row;
  p.rows = int32_t(rows);
  p.columns = int32_t(columns);
  p.turned = how.turned;
  p.conjugated = how.conjugated;
  p.kept = how.kept;
  p.not_finite = how.not_finite;
  launch(function.of(dtype),
         {unsigned(batch), unsigned(ceil_divide(columns, kTurnTile)),
          unsigned(ceil_divide(rows, kTurnTile))},
         kBlock, p);
}

}  // namespace hotaru::cuda
