// The pass that lays pictures between convolutions out in blocks of channels.
#pragma once

#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// Makes convolutions work on pictures in blocks of 16 channels
/// (backend/common/conv/blocked.h), whose weights are brought into that order
/// once and with the norm behind them; pooling and elementwise calls between
/// them follow. Where others want a picture it is brought back. Not exact: sums
/// are added up in another order.
///
/// Only convolutions whose weights last (Region::lasts) and whose result nobody
/// but the graph wants, or nobody in it: others are mostly saved for a backward
/// pass, which would need both layouts.
void block_channels(Region& region);

}  // namespace hotaru::graph
