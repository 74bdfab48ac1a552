"""The texts of errors, as the sources make them."""
