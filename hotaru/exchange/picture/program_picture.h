// Pictures of programs.
#pragma once

#include <string>

namespace hotaru::exchange {

/// Draws a TorchScript archive, a program of torch.export or an ONNX model as
/// its file has it: modules around their calls, calls with the shapes that the
/// file declares and the tensors of the file that they read, control flow
/// around its branches, and what repeats once, with how often. As SVG; runs
/// nothing. Throws Error naming the file for what is no program, and for one of
/// more than 100,000 calls.
std::string program_picture(const std::string& path);

}  // namespace hotaru::exchange
