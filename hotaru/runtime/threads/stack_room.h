// How much of a thread's stack is left, for what recurses over what a user or a
// file gave.
#pragma once

namespace hotaru {

/// True if so little of the calling thread's stack is left that a recursion
/// should end with an error: less than 256 KiB, or a quarter of a small stack.
/// False where that isn't known, as on stacks that a program made itself.
bool stack_is_low();

}  // namespace hotaru
