# The quick checks and clang-tidy.

# quick_checks [fix]: seconds each; `fix` rewrites what formatters find. Which
# failed stands among the results.
quick_checks() {
  local mode=${1:-check} format=(--dry-run --Werror) ruff=(format --check) fix=()
  [[ $mode == fix ]] && format=(-i) ruff=(format) fix=(--fix)
  step layers .venv/bin/python scripts/check_layers.py || true
  step lengths .venv/bin/python scripts/check_lengths.py || true
  step docs .venv/bin/python scripts/check_docs.py || true
  step comments .venv/bin/python scripts/check_comments.py || true
  step python-version .venv/bin/python scripts/check_python_version.py || true
  step texts .venv/bin/python scripts/check_texts.py || true
  step layers-drawn .venv/bin/python scripts/draw_layers.py --check || true
  step include-costs .venv/bin/python scripts/include_costs.py \
    --limit hotaru/core/error.h=25 --limit hotaru/core/tensor.h=70 || true
  step tests-by-folder .venv/bin/python scripts/select_tests.py --check || true
  step clang-format sh -c 'git ls-files "*.h" "*.cpp" "*.cu" |
    xargs -r clang-format-14 "$@"' sh "${format[@]}" || true
  if compgen -G 'build/kernels/*.ptxas' >/dev/null; then
    step kernels .venv/bin/python scripts/check_kernels.py build/kernels || true
  fi
  step ruff .venv/bin/ruff check --quiet "${fix[@]}" . || true
  step ruff-format .venv/bin/ruff "${ruff[@]}" --quiet . || true
}

# tidy JOBS PARTS [OPTIONS]: clang-tidy over the parts that read untrusted bytes
# and hold the core's invariants; vector kernels are left out (their headers alone
# take minutes). What was found to be clean is remembered beside the compiler's
# cache.
readonly TIDIED='core io script'
tidy() {
  local part patterns=()
  for part in $2; do
    patterns+=("hotaru/$part/*.cpp")
  done
  git ls-files "${patterns[@]}" |
    xargs -r .venv/bin/python scripts/tidy.py "${@:3}" build "$1"
}

# tidy_until TIME PARTS: with one job; what there was no time for is left out.
tidy_until() {
  local said status=0
  said=$(tidy 1 "$2" --until "$1") || status=$?
  echo "$said"
  grep -q 'were not read' <<<"$said" &&
    leave_out "clang-tidy of $2: $(tail -n 1 <<<"$said")"
  return $status
}

# lint_verb [--fix]: ./dev lint.
lint_verb() {
  local mode=check
  [[ ${1:-} == --fix ]] && mode=fix
  setup build lint
  rm -rf "$RESULTS"
  mkdir -p "$RESULTS"
  quick_checks "$mode"
  [[ -f build/compile_commands.json ]] || build 'extension command'
  step clang-tidy tidy "$JOBS" "$TIDIED" || true
  .venv/bin/python scripts/test_summary.py "$RESULTS"
}
