// Contents of a file of torch.save.
#pragma once

#include <string>

namespace hotaru::cli {

/// Prints its tensors by the names of the entries they lie in, and how much of
/// everything else there is. Throws Error for what cannot be read.
void show_torch_file(const std::string& path, bool as_json);

}  // namespace hotaru::cli
