"""What every module can do, an aspect of `Module` a file."""
