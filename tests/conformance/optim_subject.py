"""hotaru's side of the optimizers' database.

Lines of JSON: [optimizer, dtype, form, "ok" or the first thing that is wrong].
"""

from __future__ import annotations

from judge import check_trial, main
from optim_trials import TRIALS

if __name__ == "__main__":
    main(__doc__, check_trial(TRIALS))
