# Wheels: what users install.

# wheel_verb ARGS...: ./dev wheel.
wheel_verb() {
  packages build wheel
  venv .venv-wheel scripts/requirements-wheel.txt
  say "making wheels"
  env JOBS="$JOBS" UNITS="$UNITS" .venv-wheel/bin/python packaging/wheel/build.py "$@"
}
