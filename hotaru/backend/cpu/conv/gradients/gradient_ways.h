// The algorithms of convolutions' gradients on the CPU, and which of them a
// call takes.
#pragma once

#include "hotaru/backend/cpu/conv/gradients/conv_gradients.h"
#include "hotaru/runtime/ways.h"

namespace hotaru {

/// The gradient of the input, or of the weight, of any dtype, by the first row
/// of its table that serves the call and pays.
template <class T>
void data_gradient(const ConvGradient<T>& call);
template <class T>
void weight_gradient(const ConvGradient<T>& call);

/// Answers of the rows to such a call.
template <class T>
WayAnswers explain_data_gradient(const ConvGradient<T>& call);
template <class T>
WayAnswers explain_weight_gradient(const ConvGradient<T>& call);

}  // namespace hotaru
