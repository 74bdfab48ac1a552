// Which operator autocast calls how: PyTorch's lists for the CPU and CUDA.
#include "hotaru/ops/autocast.h"

namespace hotaru::autocast {
namespace {

struct List {
  Policy cpu, cuda;
  std::string_view names;
};

using enum Policy;

constexpr List kLists[] = {
    {kLower, kLower,
     "_convolution.deprecated addbmm addmm baddbmm bmm "
     "conv1d conv2d conv3d conv_tbc "
     "conv_transpose1d conv_transpose2d.input conv_transpose3d.input "
     "linalg_vecdot "
     "linear matmul mm prelu scaled_dot_product_attention"},
    {kLower, kNone,
     "_addmm_activation _native_multi_head_attention conv1d.padding "
     "conv2d.padding "
     "conv3d.padding"},
    {kNone, kLower,
     "_convolution addmv addr chain_matmul convolution einsum gru_cell "
     "linalg_multi_dot lstm_cell mv rnn_relu_cell rnn_tanh_cell"},
    // Layers in one piece, as oneDNN and cuDNN have them.
    {kLower, kLower, "lstm.input"},
    {kNone, kLower,
     "gru.data gru.input lstm.data rnn_relu.data rnn_relu.input rnn_tanh.data "
     "rnn_tanh.input"},

    {kFloat, kFloat,
     "binary_cross_entropy_with_logits cdist cosine_embedding_loss "
     "hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss "
     "mse_loss multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d "
     "poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss"},
    {kFloat, kNone,
     "adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d cholesky "
     "ctc_loss.IntList ctc_loss.Tensor fft_fft fft_fft2 fft_fftn fft_hfft "
     "fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2 fft_irfftn "
     "fft_rfft fft_rfft2 fft_rfftn fractional_max_pool2d "
     "cholesky_inverse cholesky_solve fractional_max_pool3d geqrf inverse "
     "linalg_cholesky linalg_cholesky_ex linalg_cond linalg_cond.p_str "
     "linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh "
     "linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq "
     "linalg_matrix_rank linalg_matrix_rank.atol_rtol_float "
     "linalg_matrix_rank.atol_rtol_tensor linalg_matrix_rank.tol_tensor "
     "linalg_qr linalg_solve linalg_svd linalg_svdvals linalg_tensorinv "
     "linalg_tensorsolve lu_solve orgqr ormqr pinverse svd triangular_solve "
     "max_pool3d max_unpool2d max_unpool3d nanquantile "
     "nanquantile.scalar polar qr quantile quantile.scalar "
     "reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d "
     "replication_pad3d stft stft.center trace view_as_complex "
     "grid_sampler_2d grid_sampler_3d"},
    {kNone, kFloat,
     "_upsample_bicubic2d_aa _upsample_bilinear2d_aa "
     "_upsample_nearest_exact1d _upsample_nearest_exact2d "
     "_upsample_nearest_exact3d acos asin cosh cosine_similarity dist erfinv "
     "exp expm1 frobenius_norm.dim group_norm layer_norm log log10 log1p log2 "
     "logsumexp native_layer_norm nuclear_norm nuclear_norm.dim pdist "
     "special_erfinv special_expm1 special_log1p special_logsumexp "
     "pow.Scalar pow.Tensor_Scalar "
     "pow.Tensor_Tensor reciprocal renorm rms_norm rsqrt sinh softplus tan "
     "upsample_bicubic2d upsample_bilinear2d upsample_linear1d "
     "upsample_nearest1d upsample_nearest2d upsample_nearest3d "
     "upsample_trilinear3d"},
    {kFloat, kBanned, "binary_cross_entropy"},
    {kFloat, kPromote, "grid_sampler"},

    {kFloat, kSetDType, "prod prod.dim_int"},
    {kNone, kSetDType,
     "cumprod cumsum linalg_matrix_norm linalg_matrix_norm.str_ord "
     "linalg_vector_norm log_softmax.int softmax.int sum "
     "sum.dim_IntList"},
    {kNone, kAppendDType, "norm.Scalar norm.ScalarOpt_dim"},

    {kPromote, kNone, "cat index_copy stack"},
    {kNone, kPromote,
     "addcdiv addcmul atan2 bilinear cross dot index_put scatter_add tensordot "
     "vdot"},

    // Operators made of one of these: PyTorch's composite operators.
    {kFloat, kFloat, "cross_entropy_loss nll_loss_nd"},
    {kNone, kFloat,
     "_upsample_bicubic2d_aa.vec _upsample_bilinear2d_aa.vec "
     "_upsample_nearest_exact1d.vec _upsample_nearest_exact2d.vec "
     "_upsample_nearest_exact3d.vec arccos arcsin square "
     "upsample_bicubic2d.vec "
     "upsample_bilinear2d.vec upsample_linear1d.vec upsample_nearest1d.vec "
     "upsample_nearest2d.vec upsample_nearest3d.vec upsample_trilinear3d.vec"},
    {kPromote, kNone,
     "column_stack concat concatenate dstack hstack row_stack vstack"},
    {kNone, kPromote, "arctan2"},
};

}  // namespace

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> out;
    for (const List& list : kLists)
      for (size_t at = 0; at < list.names.size();) {
        const size_t end =
            std::min(list.names.find(' ', at), list.names.size());
        out.push_back({list.names.substr(at, end - at), list.cpu, list.cuda});
        at = end + 1;
      }
    return out;
  }();
  return all;
}

}  // namespace hotaru::autocast
