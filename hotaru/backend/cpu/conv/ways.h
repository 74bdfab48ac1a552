// The algorithms of convolution on the CPU, and which of them a call takes.
#pragma once

#include "hotaru/backend/cpu/conv/conv_call.h"
#include "hotaru/runtime/ways.h"

namespace hotaru {

/// y of any dtype by the first row of its table that serves the call and pays.
template <class T>
void convolve(const ConvCall<T>& call);
/// Answers of the rows to such a call.
template <class T>
WayAnswers explain_convolution(const ConvCall<T>& call);

/// The same of float and double alone, for calls that fit.
template <class T>
void convolve_floats(const ConvCall<T>& call);
template <class T>
WayAnswers explain_floats(const ConvCall<T>& call);

/// Tells whether PlaneConv serves a convolution or the gradient of its input:
/// there is AMX, and one or two dimensions; and whether it is worth it, with so
/// many channels of a group that are read and that are written.
bool serves_planes(const ConvGeometry& g);
bool fills_tiles(const ConvGeometry& g, int64_t channels, int64_t outputs);

}  // namespace hotaru
