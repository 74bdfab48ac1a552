# The tests: those that are named, all of them, and the whole check of CI.

RESULTS=$PWD/build/results

# step NAME COMMAND...: a check that passes or fails as a whole.
step() {
  local name=$1 status=0
  shift
  say "$name"
  "$@" || status=$?
  printf '%s %s\n' "$([[ $status == 0 ]] && echo pass || echo fail)" "$name" \
    >>"$RESULTS/steps"
  return $status
}

# ctests DIR NAME [PART PARTS]: the C++ tests of a build, or each PARTS-th.
ctests() {
  local dir=$1 name=$2 status=0 report
  report=$RESULTS/ctest-$name${3:+-$3}.xml
  ctest --test-dir "$dir" ${3:+-I "$3,,$4"} --output-on-failure --timeout 300 \
    --output-junit "$report" || status=$?
  [[ -f $report ]] || echo "fail ${report##*/}" >>"$RESULTS/steps"
  return $status
}

# pytest_run NAME ARGS...: tests whose results are known as NAME.
pytest_run() {
  local name=$1 status=0
  shift
  .venv/bin/python -m pytest -q --junitxml="$RESULTS/$name.xml" \
    -o cache_dir="build/.pytest_cache-$name" "$@" || status=$?
  [[ -f $RESULTS/$name.xml ]] || echo "fail $name" >>"$RESULTS/steps"
  ((status == 5)) || return $status  # nothing was selected
}

# stage NAME SECONDS COMMAND...: a line of the table of run_stages.py. SECONDS
# is what it takes on a Zen 5, until it ran here.
stage() {
  printf '%s\t%s\t./dev run-stage' "$1" "$2"
  shift 2
  printf ' %q' "$@"
  printf '\n'
}

# run_stages: the table's stages, as many at a time as there are cores; in CI all
# of them end before LAST_END seconds, so that a slow machine ends in time, too.
LAST_END=
run_stages() {
  mkdir -p "$RESULTS/logs"
  .venv/bin/python scripts/run_stages.py "$JOBS" "$RESULTS/logs" \
    ${LAST_END:+$((LAST_END > SECONDS ? LAST_END - SECONDS : 0))} || true
}

# ctest_stages DIR NAME PARTS SECONDS
ctest_stages() {
  local part
  for ((part = 1; part <= $3; part++)); do
    stage "ctest-$2-$part" "$4" ctests "$1" "$2" "$part" "$3"
  done
}

# What folders of Python tests take; others about ten seconds.
readonly FOLDER_SECONDS='ops=120 core=65 distributed=130 graphs=60 programs=400
data=50 regressions=50 testing=27 nn=25 jit=35 library=20 onnx=20 sparse=15
quantization=15 weights=15 types=180 docs_blocks=40'

# python_tests FOLDER: the test files below it, a line each.
python_tests() {
  find "$1" -name 'test_*.py' | sort
}

# pytest_stages ARGS...: a stage for each folder of Python tests.
pytest_stages() {
  local folder name seconds
  for folder in tests/python/*/; do
    name=${folder#tests/python/}
    name=${name%/}
    [[ $name != golden && -n $(python_tests "$folder") ]] || continue
    seconds=$(grep -o "\\b$name=[0-9]*" <<<"$FOLDER_SECONDS" || echo "$name=10")
    stage "python-$name" "${seconds#*=}" pytest_run "pytest-$name" "$folder" "$@"
  done
}

# on_soft_gpu DRIVER LIBRARIES NAME ARGS...: tests on GPUs in software.
on_soft_gpu() {
  HOTARU_CUDA_DRIVER=$1 HOTARU_CUDA_LIBRARIES=${2#none} pytest_run "${@:3}"
}

# graphs_on_soft_gpu: the tests of graphs on a CUDA device, their kernels
# compiled.
graphs_on_soft_gpu() {
  HOTARU_TEST_GRAPHS_ON=cuda HOTARU_CUDA_COMPILE=wait \
    on_soft_gpu soft soft:nvrtc pytest-graphs-soft tests/python/graphs
}

# soft_gpu_stages: what needs a CUDA device, on devices in software; once with
# stand-ins for NVIDIA's libraries.
soft_gpu_stages() {
  local half
  for half in 0 1; do
    local files
    mapfile -t files < <(python_tests tests/python/cuda |
      awk "NR % 2 == $half")
    stage "soft-$half" 140 on_soft_gpu soft none "pytest-soft-$half" "${files[@]}"
    stage "soft-2-$half" 140 on_soft_gpu soft:2 none "pytest-soft-2-$half" \
      "${files[@]}"
    stage "soft-libraries-$half" 180 on_soft_gpu soft soft \
      "pytest-soft-libraries-$half" "${files[@]}"
  done
  stage soft-graphs 270 graphs_on_soft_gpu
}

# sanitized NAME COMPILER SANITIZERS ARGS...: builds build-NAME for these
# sanitizers. False, and left out, where DEADLINE (seconds since the start; 0:
# none) passed before it was built: what was compiled is in the compiler's cache,
# and OWED has the next run build it before anything is tested.
DEADLINE=0
readonly OWED=${XDG_CACHE_HOME:-$HOME/.cache}/hotaru/sanitizers_owed
sanitized() {
  local name=$1 compiler=$2 sanitizers=$3 status=0
  shift 3
  configure "build-$name" -DCMAKE_CXX_COMPILER="$compiler" \
    -DHOTARU_SANITIZE="$sanitizers" -DHOTARU_PYTHON=OFF -DHOTARU_CLI=OFF \
    -DHOTARU_TESTS=ON -DHOTARU_UNITS=ON "$@"
  local LIMIT=$((DEADLINE ? DEADLINE - SECONDS : 0))
  if ((DEADLINE && LIMIT <= 0)); then
    status=124
  else
    ((LIMIT)) || LIMIT=
    compile "build-$name" all || status=$?
  fi
  if ((status == 124)); then
    leave_out "build-$name and its tests (not built $((DEADLINE / 60)) minutes" \
      "after the start; the next run begins with it)"
    echo "$name" >>"$OWED"
    return 1
  fi
  ((status == 0)) || die "building build-$name failed"
}

# sanitized_builds NAMES: those of asan and tsan; `sanitized_built` has the ones
# that there are.
sanitized_built=
sanitized_builds() {
  local name
  for name in $1; do
    case $name in
      asan)
        sanitized asan clang++-16 address,undefined,fuzzer-no-link \
          -DHOTARU_FUZZ=ON || continue
        ;;
      tsan) sanitized tsan g++ thread || continue ;;
    esac
    sanitized_built+=" $name"
  done
}

# fuzz TARGET SECONDS: a target over its seed corpus. What it finds is added to a
# copy below build-asan, never to the tree. An input may take five seconds:
# the promised one, times what the sanitizers cost.
fuzz() {
  local name=$1 seconds=$2 seeds=()
  mkdir -p "build-asan/corpus/$name"
  [[ -d build-asan/seeds/${name#fuzz_} ]] &&
    seeds=("build-asan/seeds/${name#fuzz_}")
  step "$name" "build-asan/tests/fuzz/$name" -max_total_time="$seconds" \
    -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build-asan/corpus/$name-" \
    "build-asan/corpus/$name" "${seeds[@]}"
}

# fuzz_stages SECONDS
fuzz_stages() {
  local target
  .venv/bin/python tests/fuzz/make_corpus.py build-asan/seeds >&2
  for target in build-asan/tests/fuzz/fuzz_*; do
    [[ -f $target && -x $target ]] || continue
    stage "${target##*/}" "$1" fuzz "${target##*/}" "$1"
  done
}

# environments: those of other libraries, made beside the build, which keeps the
# other core; a stage whose environment cannot be made is left out.
environments() {
  (venv .venv-oracle scripts/requirements-oracle.txt) || true
  (venv .venv-programs-ci scripts/requirements-programs-ci.txt --no-deps) || true
  (venv .venv-docs scripts/requirements-docs.txt) || true
}

conformance() {
  .venv/bin/python tests/conformance/run.py --oracle .venv-oracle/bin/python \
    --cache "$CACHE/conformance" "$@"
}

# conformance_on_soft_gpu: PyTorch's operators on a GPU in software.
conformance_on_soft_gpu() {
  HOTARU_CUDA_DRIVER=soft conformance --jobs 1 --suite op --device cuda \
    --dtype float32
}

# conformance_stages: nothing that PyTorch's databases found right is lost.
# PyTorch is an oracle that hotaru itself never needs: without it, only this is
# left out.
conformance_stages() {
  if (venv .venv-oracle scripts/requirements-oracle.txt >&2); then
    stage conformance 320 conformance --jobs 1
    stage conformance-soft 20 conformance_on_soft_gpu
  else
    leave_out "PyTorch's databases: PyTorch 2.13 cannot be installed here"
  fi
}

# few_programs: libraries over hotaru, compared with what PyTorch gave when it
# was asked (run.py --ci --record), so that it is not needed here. Without a
# package index, only this is left out.
few_programs_stage() {
  if (venv .venv-programs-ci scripts/requirements-programs-ci.txt --no-deps &&
    named_torch .venv-programs-ci) >&2; then
    stage programs 120 step programs .venv/bin/python tests/programs/run.py --ci \
      --jobs 1 --subject .venv-programs-ci/bin/python
  else
    leave_out "programs: no package index gives the libraries that they use"
  fi
}

# site_stage: the documentation as a site, without a warning or a dead link.
site_stage() {
  if (venv .venv-docs scripts/requirements-docs.txt >&2); then
    stage site 30 step site site
  else
    leave_out "site: no package index gives the generator of the documentation"
  fi
}

# leave_out TEXT: the last line of the run says so.
leave_out() {
  echo "$*" >>"$RESULTS/left_out"
}

# same_bits: the library built for this machine alone, as a newcomer's is, beside
# build/, gives what build/ gives.
same_bits() {
  local COMPILERS=1
  configure build-native -DCMAKE_BUILD_TYPE=Release -DHOTARU_SIMD=native \
    -DHOTARU_UNITS=ON \
    -DHOTARU_PYTHON=OFF -DHOTARU_CLI=OFF -DHOTARU_LIBTORCH=OFF \
    -DHOTARU_CUDA=OFF -DHOTARU_SOFT_GPU=OFF
  compile build-native hotaru
  step same-bits .venv/bin/python tests/same_bits.py build build-native
}

# ended: the results of all runners, and what was left out.
ended() {
  local status=0
  .venv/bin/python scripts/slowest_tests.py "$RESULTS" >"$RESULTS/slowest.md"
  .venv/bin/python scripts/test_summary.py "$RESULTS" || status=$?
  if [[ -s $RESULTS/left_out ]]; then
    echo "left out: $(paste -sd ';' "$RESULTS/left_out")"
  fi
  return $status
}

# named_tests ARGS...: ./dev test WHAT..., which builds and runs just that.
named_tests() {
  local what=() options=() parts=$LOADED chosen python native
  while (($#)); do
    case $1 in
      -k) options+=(-k "${2:?-k needs an expression}"); shift ;;
      --) options+=("${@:2}"); break ;;
      *) what+=("$1") ;;
    esac
    shift
  done
  ((${#what[@]})) || what=(tests/python)
  setup build test
  chosen=$(.venv/bin/python scripts/select_tests.py "${what[@]}") || exit 2
  python=$(sed -n 1p <<<"$chosen")
  native=$(sed -n 2p <<<"$chosen")
  [[ -n $native ]] && parts+=' tests'
  model
  build "$parts"
  local status=0 one
  for one in $native; do
    say "${one%%=*}"
    "$(native_program "${one%%=*}")" --gtest_brief=1 \
      --gtest_filter="${one#*=}" || status=1
  done
  if [[ -n $python ]]; then
    say "pytest"
    # shellcheck disable=SC2086 # paths without blanks
    .venv/bin/python -m pytest -q "${options[@]}" $python || status=1
  fi
  return $status
}

# native_program NAME: where the C++ test program is.
native_program() {
  find build/tests -maxdepth 2 -type f -name "$1" -perm -u+x -print -quit
}

# What test_verb was asked for.
sanitize=0 fuzz_seconds=0 soft_gpu=0 ci=0 select=()

# every_stage: the table of what follows the release build.
every_stage() {
  local part
  ctest_stages build release 4 40
  pytest_stages "${select[@]}"
  if ((ci)); then
    echo
    stage attack 140 pytest_run attack tests/attack
    conformance_stages
    few_programs_stage
    site_stage
  fi
  if ((soft_gpu)); then
    echo
    soft_gpu_stages
  fi
  if ((ci)); then
    echo
    stage same-bits 480 same_bits
    echo
    # They end by themselves: what is left is what they do next time.
    for part in $TIDIED; do
      stage "tidy-$part" 60 step "tidy-$part" tidy_until \
        $((EPOCHSECONDS - SECONDS + LAST_END - 120)) "$part"
    done
  fi
}

# sanitized_stages: the table of what follows the builds for sanitizers.
sanitized_stages() {
  local name
  for name in $sanitized_built; do
    ctest_stages "build-$name" "$name" 6 60
    [[ $name != asan ]] || ((!fuzz_seconds)) || fuzz_stages "$fuzz_seconds"
  done
}

# owed_builds: those for sanitizers that an earlier run left out.
owed_builds() {
  [[ -s $OWED ]] || return 0
  local owed
  owed=$(sort -u "$OWED" | xargs)
  rm "$OWED"
  sanitized_builds "$owed"
}

# test_options ARGS...
test_options() {
  while (($#)); do
    case $1 in
      --sanitize) sanitize=1 ;;
      --fuzz) fuzz_seconds=${2:?--fuzz needs a number of seconds}; shift ;;
      --soft-gpu) soft_gpu=1 ;;
      --every-target) SIMD=all ;;
      --ci) ci=1 sanitize=1 soft_gpu=1 fuzz_seconds=60 SIMD=all UNITS=OFF ;;
      --) select+=("${@:2}"); return ;;
      *) die "test: unknown option $1 (see ./dev --help)" ;;
    esac
    shift
  done
}

# all_tests OPTIONS: ./dev test without a test's name.
all_tests() {
  test_options "$@"
  local verbs=(build test) parts="$LOADED tests" arguments=() name nvcc
  ((ci)) && verbs+=(lint bench)
  ((sanitize || fuzz_seconds)) && verbs+=(sanitize)
  setup "${verbs[@]}"
  model
  if ((ci)); then
    parts+=' bench'
    nvcc=$(nvcc_path)
    arguments+=("-DHOTARU_NVCC=$nvcc")
    select+=(-m "ci or not ci")
    mkdir -p build
    environments >build/environments.log 2>&1 &
  fi
  build "$parts" "${arguments[@]}"
  wait
  rm -rf "$RESULTS"
  mkdir -p "$RESULTS"
  quick_checks
  if ((ci)); then
    owed_builds
    DEADLINE=$((60 * ${HOTARU_CI_MINUTES:-60}))
    LAST_END=$((DEADLINE ? DEADLINE + 20 * 60 : 24 * 3600))
  fi
  say "tests"
  every_stage | run_stages
  for name in $( ((sanitize || fuzz_seconds)) && echo asan) \
    $( ((sanitize)) && echo tsan); do
    [[ " $sanitized_built " == *" $name "* ]] || sanitized_builds "$name"
  done
  if [[ -n $sanitized_built ]]; then
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    say "tests with sanitizers"
    sanitized_stages | run_stages
  fi
  if ((ci)); then
    .venv/bin/python scripts/slowest_tests.py "$RESULTS" \
      --write docs/slowest_tests.md
    # nvcc's objects hold code for several devices.
    step object-times .venv/bin/python scripts/build_times.py --limit 60 \
      --free /build/kernels/ || true
  fi
  ended
}

# test_verb ARGS...: ./dev test.
test_verb() {
  case ${1:-} in
    -k | [^-]*) named_tests "$@" ;;
    *) all_tests "$@" ;;
  esac
}
