"""Parts that programs under a launcher use of it."""
