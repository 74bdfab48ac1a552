"""What programs under a launcher use of it."""
