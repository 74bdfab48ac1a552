"""What `testing` is made of."""
