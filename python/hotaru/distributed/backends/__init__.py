"""Who carries a group's tensors beside hotaru's own sockets."""
