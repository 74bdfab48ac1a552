// Attributes of the kernel "copy_". Operands: destination, source (broadcast to
// it and cast). Where one of them is on another device than the CPU, the kernel
// of that device runs, on its stream.
#pragma once

namespace hotaru {

struct CopyAttributes {
  /// To and from other devices: may return before the copy is done. What reads
  /// the result waits for it.
  bool non_blocking = false;
};

}  // namespace hotaru
