"""Calls of a compiled function beside calls of the function itself."""

import hotaru as torch


def both(make, call=lambda run: run(torch.ones(2)), calls=3):
    """Results of calls with a function, and with another one compiled."""
    out = []
    for compiles in (False, True):
        function = make()
        run = torch.compile(function) if compiles else function
        out.append([call(run) for _ in range(calls)])
    return out
