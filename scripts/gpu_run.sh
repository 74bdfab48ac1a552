#!/usr/bin/env bash
# Runs hotaru's CUDA tests and benchmarks on a machine with a GPU, from the bundle
# that `./dev gpu` made; nothing has to be installed there.
#
#   bash scripts/gpu_run.sh [test|bench|record|graphs|all] [--from STEP]
#   bash scripts/gpu_run.sh step NAME SECONDS
#
# Steps, each with a limit in seconds, 540 in all: check, cpp, libtorch, python, libraries (the
# same tests with NVIDIA's libraries), captured (the tests of graphs, on the GPU),
# sanitizer, record, bench. `all --from python` goes on where an earlier run stopped.
# `graphs` measures CUDA graphs, in 540 seconds of its own; $GRAPHS has options for
# it. $TESTS are options of pytest. Results
# are below $OUT (or .gpu/out): a log for each step, results.json, and a table at
# the end. HOTARU_CUDA_DRIVER=soft runs it all without a GPU, and says so.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly HERE=$PWD OUT=${OUT:-$PWD/.gpu/out} RUN=$PWD/.gpu/run
mkdir -p "$OUT"
OUT_DIR=$(cd "$OUT" && pwd)

unpack() {
  [[ -f $RUN/.unpacked && $RUN/.unpacked -nt .gpu/bundle.tar.xz ]] && return
  rm -rf "$RUN" && mkdir -p "$RUN" &&
    tar -C "$RUN" -xJf .gpu/bundle.tar.xz && touch "$RUN/.unpacked"
}

# One folder of links to NVIDIA's libraries, from the machine's own Python's packages
# and from beside CUDA; and one with the profiler's alone, for its tests.
link_libraries() {
  local folder file
  rm -rf "$RUN/nvidia" "$RUN/cupti" && mkdir -p "$RUN/nvidia" "$RUN/cupti"
  for folder in $(python3 -c 'import glob, sys
print(*(f for p in sys.path for f in glob.glob(p + "/nvidia/*/lib")))') \
    /usr/local/cuda/extras/CUPTI/lib64 /usr/local/cuda/lib64; do
    for file in "$folder"/lib*.so.*; do
      [[ -e $file && ! -e $RUN/nvidia/${file##*/} ]] && ln -s "$file" "$RUN/nvidia/"
    done
  done
  for file in "$RUN"/nvidia/libcupti.so.1[23]; do
    [[ -e $file ]] && cp -P "$file" "$RUN/cupti/"
  done
  return 0
}

# py ARGS...: hotaru's interpreter; $LIBRARIES is `none` or a folder of NVIDIA's.
py() {
  HOTARU_CUDA_LIBRARIES=$LIBRARIES PYTHONHOME=$RUN \
    LD_LIBRARY_PATH=$RUN/lib:$RUN/cupti:${LIBRARIES/#none/$RUN/cupti} \
    PYTHONPATH=$RUN/python:$RUN/site PYTHONDONTWRITEBYTECODE=1 \
    "$RUN/bin/python" "$@"
}

# tests NAME PATHS...: by a process for each core; one that hangs fails its test.
tests() {
  local name=$1 jobs
  shift
  jobs=$(($(nproc) > 3 ? $(nproc) - 2 : 1))
  # shellcheck disable=SC2086 # several options
  (cd "$RUN" && py -m pytest -q -p no:cacheprovider -n "$jobs" --dist worksteal \
    --timeout 60 --max-worker-restart 40 -o junit_family=xunit1 \
    --junitxml="$OUT_DIR/$name.xml" "$@" ${TESTS:-}) \
    >"$OUT_DIR/$name-tests.log" 2>&1
  local status=$?
  grep -aE '^(FAILED|ERROR)' "$OUT_DIR/$name-tests.log" | cut -c1-160 | head -40
  tail -n 1 "$OUT_DIR/$name-tests.log"
  return $status
}

check() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv || true
  py - <<'PYTHON'
import hotaru as torch
assert torch.cuda.is_available(), "no CUDA device"
print(torch.cuda.get_device_properties(0))
print((torch.ones(3, device="cuda") + 1).sum().item())
for library in torch._C._cuda_libraries(""):
    print(library)
PYTHON
}

# By themselves they take two devices in software.
cpp() {
  HOTARU_CUDA_DRIVER=${HOTARU_CUDA_DRIVER:-libcuda.so.1} \
    LD_LIBRARY_PATH=$RUN/lib "$RUN/bin/hotaru_device_tests"
}

# Programs written for libtorch.
libtorch() {
  LD_LIBRARY_PATH=$RUN/lib HOTARU_CUDA_LIBRARIES=$LIBRARIES \
    "$RUN/bin/hotaru_torch_tests" --gtest_filter='Cuda*'
}

python() { LIBRARIES=none tests python tests/python/cuda; }
libraries() { tests libraries tests/python/cuda; }
captured() {
  HOTARU_TEST_GRAPHS_ON=cuda HOTARU_CUDA_COMPILE=wait \
    tests captured tests/python/graphs
}

sanitizer() {
  command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer"; return 0; }
  (
    export LD_LIBRARY_PATH=$RUN/lib PYTHONHOME=$RUN HOTARU_CUDA_LIBRARIES=none
    export PYTHONPATH=$RUN/python:$RUN/site
    # Kernels are looked for in one library after another, which are no errors.
    compute-sanitizer --report-api-errors no --error-exitcode 9 \
      "$RUN/bin/python" "$RUN/bench/gpu/every_kernel.py" &&
      compute-sanitizer --tool racecheck --error-exitcode 9 \
        "$RUN/bin/python" "$RUN/bench/gpu/every_kernel.py"
  )
}

record() {
  python3 -c 'import torch' 2>/dev/null || { echo "no PyTorch"; return 0; }
  python3 "$RUN/bench/gpu/record.py" "$OUT_DIR/golden.json"
}

# hotaru and the machine's own PyTorch in turns.
bench() {
  local turn
  rm -f "$OUT_DIR"/bench-*.jsonl
  [[ -x $RUN/bin/hotaru_gpu_raw ]] &&
    LD_LIBRARY_PATH=$RUN/lib "$RUN/bin/hotaru_gpu_raw" >"$OUT_DIR/raw.json"
  LIBRARIES=none py "$RUN/bench/gpu/worker.py" hotaru >"$OUT_DIR/bench-own.jsonl"
  for ((turn = 0; turn < ${TURNS:-3}; ++turn)); do
    py "$RUN/bench/gpu/worker.py" hotaru >>"$OUT_DIR/bench-hotaru.jsonl"
    python3 -c 'import torch' 2>/dev/null &&
      python3 "$RUN/bench/gpu/worker.py" torch >>"$OUT_DIR/bench-torch.jsonl"
  done
  py "$RUN/bench/gpu/table.py" "$OUT_DIR"
}

# bench/gpu/graphs.py takes turns by itself. The other Python has the surroundings
# that this script was called in.
graphs() {
  local peer=()
  python3 -c 'import torch' 2>/dev/null &&
    peer=(--peer "env -u PYTHONHOME PYTHONPATH=$(printf %q "${PYTHONPATH:-}") \
      LD_LIBRARY_PATH=$(printf %q "${LD_LIBRARY_PATH:-}") python3")
  # shellcheck disable=SC2086 # several options
  py "$RUN/bench/gpu/graphs.py" "${peer[@]}" --json "$OUT_DIR/graphs.json" \
    ${GRAPHS:-}
}

# NCCL with one rank: what a call costs the host.
collectives() {
  py "$RUN/bench/gpu/collectives.py" hotaru
  python3 -c 'import torch' 2>/dev/null &&
    python3 "$RUN/bench/gpu/collectives.py" torch
}

# step NAME SECONDS [LINES]: so many of its last lines are shown.
step() {
  local name=$1 limit=$2 lines=${3:-30} begin=$SECONDS status
  if [[ -n $FROM && $FROM != "$name" ]]; then return; fi
  FROM=
  echo "== $name"
  export -f py tests "$name" && export RUN OUT_DIR HERE LIBRARIES
  timeout --signal INT --kill-after 10 "$limit" bash -c "$name" 2>&1 | tee "$OUT_DIR/$name.log" | tail -n "$lines"
  status=${PIPESTATUS[0]}
  printf '{"step": "%s", "status": %d, "seconds": %d}\n' "$name" "$status" \
    $((SECONDS - begin)) >>"$OUT_DIR/steps.jsonl"
  [[ $name != check || $status == 0 ]] || exit 1
}

what=${1:-all}
FROM=
[[ ${2:-} == --from ]] && FROM=${3:?--from needs a step}
[[ -n $FROM ]] || rm -f "$OUT_DIR/steps.jsonl"
unpack || { echo "gpu_run: cannot unpack .gpu/bundle.tar.xz" >&2; exit 1; }
link_libraries
LIBRARIES=${LIBRARIES:-$RUN/nvidia}
case $what in
  test)
    step check 40; step cpp 40; step python 120; step libraries 100
    step captured 60; step sanitizer 60
    ;;
  bench) step check 40; step bench 150 130 ;;
  record) step check 40; step record 30 ;;
  graphs) step check 40; step graphs 500 120 ;;
  step) step "${2:?step needs a name}" "${3:?and seconds}" "${4:-30}" ;;
  all)
    step check 40; step cpp 40; step python 110; step libraries 90
    step captured 50; step sanitizer 50; step record 20; step bench 140 130
    ;;
  *)
    echo "usage: gpu_run.sh [test|bench|record|graphs|all] [--from STEP], or step NAME S" >&2
    exit 2
    ;;
esac
echo
echo "step        status  seconds"
sed -E 's/.*"step": "([a-z]+)", "status": ([0-9]+), "seconds": ([0-9]+).*/\1 \2 \3/' \
  "$OUT_DIR/steps.jsonl" | awk '{printf "%-11s %-7s %s\n", $1, $2 ? "FAIL" : "ok", $3}
    {bad += $2} END {exit bad > 0}'
