// Files of tensors in other formats.
#pragma once

#include <string>

namespace hotaru::cli {

/// Tells whether the name is that of a file of tensors, whatever it is made of.
bool names_weights(const std::string& path);

/// Writes the tensors of a file of torch.save, safetensors, its index or GGUF
/// as safetensors, or as a state dict of torch.save, by the target's suffix.
/// `key`: what of a file of torch.save is meant, if it has more than tensors.
/// Blocks of GGUF become float32; metadata goes where there is a place for it.
/// Throws Error for other files, and for what has no place in the target.
void convert_weights(const std::string& from, const std::string& to,
                     const std::string& key);

/// Parameters and buffers of a program, by their names.
void write_program_weights(const std::string& from, const std::string& to);

}  // namespace hotaru::cli
