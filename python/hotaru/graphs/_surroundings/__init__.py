"""What code can read besides its arguments: the walk from a function on."""
