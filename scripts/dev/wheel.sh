# Wheels: what users install.

# wheel_verb ARGS...: ./dev wheel.
wheel_verb() {
  packages build wheel
  venv .venv-wheel scripts/requirements-wheel.txt
  say "making wheels"
  env JOBS="$JOBS" UNITS="${UNITS}" .venv-wheel/bin/python packaging/wheel/build.py "$@"
}

# release_verb VERSION: ./dev release, all but the upload.
release_verb() {
  "${PYTHON:-python3}" packaging/release.py "$@"
}
