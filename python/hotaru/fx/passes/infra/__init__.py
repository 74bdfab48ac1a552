"""What passes are, and how they are put in order."""
