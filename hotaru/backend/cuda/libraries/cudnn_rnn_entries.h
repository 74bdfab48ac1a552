// Every function of cuDNN's interface for recurrent layers that hotaru calls,
// as cudnn_entries.h has those of its graphs: that interface has none of them.
#pragma once

#include "hotaru/backend/cuda/libraries/cudnn_entries.h"

namespace hotaru::cuda::dnn {

enum RnnAlgorithm : int { kStandard = 0 };
enum RnnCell : int {
  kReluCell = 0,
  kTanhCell = 1,
  kLstmCell = 2,
  kGruCell = 3
};
enum RnnBias : int { kNoBias = 0, kDoubleBias = 2 };
enum RnnDirection : int { kOneWay = 0, kBothWays = 1 };
enum RnnInput : int { kLinearInput = 0 };
enum RnnLayout : int { kStepsUnpacked = 0, kStepsPacked = 1 };
enum RnnForward : int { kInference = 0, kTraining = 1 };
enum RnnGradient : int { kAdd = 0 };
enum MathType : int { kDefaultMath = 0, kTensorMath = 1, kFmaMath = 3 };
/// For layouts whose sequences may have padding.
inline constexpr uint32_t kPaddedIo = 1;

// clang-format off
#define HOTARU_CUDNN_RNN_ENTRIES(X) \
  X(create_dropout, cudnnCreateDropoutDescriptor, (::hotaru::cuda::dnn::Descriptor* dropout)) \
  X(set_dropout, cudnnSetDropoutDescriptor, (::hotaru::cuda::dnn::Descriptor dropout, ::hotaru::cuda::dnn::Handle handle, float p, void* states, size_t bytes, unsigned long long seed)) \
  X(destroy_dropout, cudnnDestroyDropoutDescriptor, (::hotaru::cuda::dnn::Descriptor dropout)) \
  X(create_tensor, cudnnCreateTensorDescriptor, (::hotaru::cuda::dnn::Descriptor* tensor)) \
  X(set_tensor, cudnnSetTensorNdDescriptor, (::hotaru::cuda::dnn::Descriptor tensor, int type, int dims, const int* sizes, const int* strides)) \
  X(get_tensor, cudnnGetTensorNdDescriptor, (::hotaru::cuda::dnn::Descriptor tensor, int wanted, int* type, int* dims, int* sizes, int* strides)) \
  X(destroy_tensor, cudnnDestroyTensorDescriptor, (::hotaru::cuda::dnn::Descriptor tensor)) \
  X(create_rnn, cudnnCreateRNNDescriptor, (::hotaru::cuda::dnn::Descriptor* rnn)) \
  X(set_rnn, cudnnSetRNNDescriptor_v8, (::hotaru::cuda::dnn::Descriptor rnn, int algorithm, int cell, int bias, int direction, int input, int type, int compute_type, int math, int32_t input_size, int32_t hidden_size, int32_t projected_size, int32_t layers, ::hotaru::cuda::dnn::Descriptor dropout, uint32_t flags)) \
  X(destroy_rnn, cudnnDestroyRNNDescriptor, (::hotaru::cuda::dnn::Descriptor rnn)) \
  X(create_sequence, cudnnCreateRNNDataDescriptor, (::hotaru::cuda::dnn::Descriptor* sequence)) \
  X(set_sequence, cudnnSetRNNDataDescriptor, (::hotaru::cuda::dnn::Descriptor sequence, int type, int layout, int steps, int batch, int width, const int* lengths, void* padding)) \
  X(destroy_sequence, cudnnDestroyRNNDataDescriptor, (::hotaru::cuda::dnn::Descriptor sequence)) \
  X(rnn_weight_bytes, cudnnGetRNNWeightSpaceSize, (::hotaru::cuda::dnn::Handle handle, ::hotaru::cuda::dnn::Descriptor rnn, size_t* bytes)) \
  X(rnn_weight, cudnnGetRNNWeightParams, (::hotaru::cuda::dnn::Handle handle, ::hotaru::cuda::dnn::Descriptor rnn, int32_t layer, size_t bytes, const void* weights, int32_t which, ::hotaru::cuda::dnn::Descriptor matrix, void** matrix_at, ::hotaru::cuda::dnn::Descriptor bias, void** bias_at)) \
  X(rnn_room, cudnnGetRNNTempSpaceSizes, (::hotaru::cuda::dnn::Handle handle, ::hotaru::cuda::dnn::Descriptor rnn, int mode, ::hotaru::cuda::dnn::Descriptor x, size_t* workspace, size_t* reserve)) \
  X(rnn_forward, cudnnRNNForward, (::hotaru::cuda::dnn::Handle handle, ::hotaru::cuda::dnn::Descriptor rnn, int mode, const int32_t* lengths, ::hotaru::cuda::dnn::Descriptor x_type, const void* x, ::hotaru::cuda::dnn::Descriptor y_type, void* y, ::hotaru::cuda::dnn::Descriptor h_type, const void* h0, void* hn, ::hotaru::cuda::dnn::Descriptor c_type, const void* c0, void* cn, size_t weight_bytes, const void* weights, size_t workspace_bytes, void* workspace, size_t reserve_bytes, void* reserve)) \
  X(rnn_data, cudnnRNNBackwardData_v8, (::hotaru::cuda::dnn::Handle handle, ::hotaru::cuda::dnn::Descriptor rnn, const int32_t* lengths, ::hotaru::cuda::dnn::Descriptor y_type, const void* y, const void* dy, ::hotaru::cuda::dnn::Descriptor x_type, void* dx, ::hotaru::cuda::dnn::Descriptor h_type, const void* h0, const void* dhn, void* dh0, ::hotaru::cuda::dnn::Descriptor c_type, const void* c0, const void* dcn, void* dc0, size_t weight_bytes, const void* weights, size_t workspace_bytes, void* workspace, size_t reserve_bytes, void* reserve)) \
  X(rnn_weights, cudnnRNNBackwardWeights_v8, (::hotaru::cuda::dnn::Handle handle, ::hotaru::cuda::dnn::Descriptor rnn, int gradient, const int32_t* lengths, ::hotaru::cuda::dnn::Descriptor x_type, const void* x, ::hotaru::cuda::dnn::Descriptor h_type, const void* h0, ::hotaru::cuda::dnn::Descriptor y_type, const void* y, size_t weight_bytes, void* dweights, size_t workspace_bytes, void* workspace, size_t reserve_bytes, void* reserve))
// clang-format on

}  // namespace hotaru::cuda::dnn
