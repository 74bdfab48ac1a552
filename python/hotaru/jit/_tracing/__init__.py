"""Parts of a trace: stand-ins, checks, draws, warnings."""
