#!/usr/bin/env bash
# Runs hotaru's CUDA tests and benchmarks on a machine with a GPU, from the bundle
# that `./dev gpu` made; nothing has to be installed there.
#
#   bash scripts/gpu_run.sh [test|bench|record|graphs|all] [--from STEP]
#
# Steps, each with a limit in seconds, 540 in all: check, cpp, python, sanitizer,
# record, bench. `all --from python` goes on where an earlier run stopped. `graphs`
# measures CUDA graphs, in 540 seconds of its own; $GRAPHS has options for it. Results
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

# The machine's CUPTI, from beside CUDA or from its own Python's packages, for the
# profiler's tests; other libraries there stay where they are.
link_cupti() {
  local folder file
  rm -rf "$RUN/cupti" && mkdir -p "$RUN/cupti"
  for folder in /usr/local/cuda/extras/CUPTI/lib64 /usr/local/cuda/lib64 \
    $(python3 -c 'import glob, sys
print(*(f for p in sys.path for f in glob.glob(p + "/nvidia/*/lib")))'); do
    for file in "$folder"/libcupti.so.1[23]; do
      [[ -e $file ]] && ln -sf "$file" "$RUN/cupti/"
    done
  done
  return 0
}

py() {
  LD_LIBRARY_PATH=$RUN/lib:$RUN/cupti PYTHONHOME=$RUN \
    PYTHONPATH=$RUN/python:$RUN/site PYTHONDONTWRITEBYTECODE=1 \
    "$RUN/bin/python" "$@"
}

check() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv || true
  py - <<'PYTHON'
import hotaru as torch
assert torch.cuda.is_available(), "no CUDA device"
print(torch.cuda.get_device_properties(0))
print((torch.ones(3, device="cuda") + 1).sum().item())
print(torch._C._cuda_libraries("CUPTI"))  # the profiler's tests are by it
PYTHON
}

cpp() {
  LD_LIBRARY_PATH=$RUN/lib "$RUN/bin/hotaru_device_tests"
}

# Eight processes, each with its part of the files.
python() {
  local files=("$RUN"/tests/python/cuda/test_*.py) i pids=() status=0
  for ((i = 0; i < 8; ++i)); do
    local part=() k
    for ((k = i; k < ${#files[@]}; k += 8)); do part+=("${files[k]}"); done
    ((${#part[@]})) || continue
    (cd "$RUN" && py -m pytest -q -p no:cacheprovider "${part[@]}" \
      --junitxml="$OUT_DIR/python-$i.xml" >"$OUT_DIR/python-$i.log" 2>&1) &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  tail -qn 1 "$OUT_DIR"/python-*.log
  return $status
}

sanitizer() {
  command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer"; return 0; }
  (
    export LD_LIBRARY_PATH=$RUN/lib PYTHONHOME=$RUN
    export PYTHONPATH=$RUN/python:$RUN/site
    compute-sanitizer --error-exitcode 9 "$RUN/bin/python" \
      "$RUN/bench/gpu/every_kernel.py"
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
  for turn in 1 2 3; do
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

# step NAME SECONDS [LINES]: so many of its last lines are shown.
step() {
  local name=$1 limit=$2 lines=${3:-30} begin=$SECONDS status
  if [[ -n $FROM && $FROM != "$name" ]]; then return; fi
  FROM=
  echo "== $name"
  export -f py "$name" && export RUN OUT_DIR HERE
  timeout "$limit" bash -c "$name" 2>&1 | tee "$OUT_DIR/$name.log" | tail -n "$lines"
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
link_cupti
case $what in
  test) step check 40; step cpp 60; step python 180; step sanitizer 80 ;;
  bench) step check 40; step bench 150 ;;
  record) step check 40; step record 30 ;;
  graphs) step check 40; step graphs 500 120 ;;
  all)
    step check 40; step cpp 60; step python 180; step sanitizer 80
    step record 30; step bench 150
    ;;
  *) echo "usage: gpu_run.sh [test|bench|record|graphs|all] [--from STEP]" >&2; exit 2 ;;
esac
echo
echo "step        status  seconds"
sed -E 's/.*"step": "([a-z]+)", "status": ([0-9]+), "seconds": ([0-9]+).*/\1 \2 \3/' \
  "$OUT_DIR/steps.jsonl" | awk '{printf "%-11s %-7s %s\n", $1, $2 ? "FAIL" : "ok", $3}
    {bad += $2} END {exit bad > 0}'
