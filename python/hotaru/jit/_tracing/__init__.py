"""What a trace is made of: stand-ins, checks, draws, warnings."""
