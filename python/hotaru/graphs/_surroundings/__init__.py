"""Walk from a function on to what code can read besides its arguments."""
