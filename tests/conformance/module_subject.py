"""hotaru's side of the module database.

Lines of JSON: [module, dtype, form, "ok" or the first thing that is wrong].
"""

from __future__ import annotations

from judge import check_trial, main
from module_trials import TRIALS

if __name__ == "__main__":
    main(__doc__, check_trial(TRIALS))
