// Functions of PyTorch's whose schemas the generator's lists have no form for.
// Included by ATen/Functions.h, inside of namespace at.

/// Writes the scale into `out`; the tracker is changed.
Tensor& _amp_update_scale_out(Tensor& out, const Tensor& self,
                              Tensor& growth_tracker, const Tensor& found_inf,
                              double scale_growth_factor,
                              double scale_backoff_factor,
                              int64_t growth_interval);
/// The gradients of a convolution and of its bias.
std::tuple<Tensor&, Tensor&, Tensor&> _slow_conv2d_backward_out(
    Tensor& grad_input, Tensor& grad_weight, Tensor& grad_bias,
    const Tensor& grad_output, const Tensor& self, const Tensor& weight,
    IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding);
/// Throws: there is no such device here.
void lstm_mps_backward_out(Tensor& out0, TensorList out1, TensorList out2,
                           const optional<Tensor>& grad_y,
                           const optional<Tensor>& grad_hy,
                           const optional<Tensor>& grad_cy,
                           const Tensor& z_state, const Tensor& cell_state_fwd,
                           const Tensor& input, const Tensor& layers_outputs,
                           TensorList hx, TensorList params, bool has_biases,
                           int64_t num_layers, double dropout, bool train,
                           bool bidirectional, bool batch_first);
/// The tensor, for the texts that PyTorch's schema has as defaults.
Tensor _test_string_default(const Tensor& dummy, std::string_view a = "\"'\\",
                            std::string_view b = "\"'\\");
/// Throws, as all that names dimensions does.
std::vector<Tensor> align_tensors(TensorList tensors);
