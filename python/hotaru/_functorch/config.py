"""Switches of the transforms and of operators defined in Python."""

# Set if operators made with library.custom_op are refused where their results
# share memory with arguments or each other.
check_custom_op_aliasing = True

# Set if fake tensors may pretend to be on the meta device.
fake_tensor_allow_meta = True

# Set if fake tensors keep copies of the real ones they stand for, on which
# operators run, too: where a fake result looks otherwise they raise. Modes ask
# when they are made.
fake_tensor_propagate_real_tensors = False
