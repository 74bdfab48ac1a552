"""Switches of the transforms and of operators defined in Python."""

# Whether operators made with library.custom_op are refused where their results
# share memory with arguments or each other.
check_custom_op_aliasing = True

# Whether fake tensors may pretend to be on the meta device.
fake_tensor_allow_meta = True
