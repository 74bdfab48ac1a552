#!/usr/bin/env bash
# Packs what a machine with a GPU needs to run hotaru's CUDA tests and benchmarks
# without installing anything: interpreter, packages, libraries, tests. Called by
# `./dev gpu` after the build; writes .gpu/bundle.tar.xz.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly MOST=$((48 * 1024 * 1024))
readonly STAGE=.gpu/stage PYTHON=.venv/bin/python
rm -rf "$STAGE"
mkdir -p "$STAGE"/{bin,lib,site,python}

# The interpreter: shared library and standard library without what tests of
# ours never import.
read -r base stdlib version library < <($PYTHON - <<'PYTHON'
import sys, sysconfig
print(sys.base_prefix, sysconfig.get_path("stdlib"),
      "{}.{}".format(*sys.version_info), sysconfig.get_config_var("LDLIBRARY"))
PYTHON
)
cp "$base/bin/python$version" "$STAGE/bin/python"
[[ -f $base/lib/$library && $library == *.so* ]] &&
  cp -L "$base/lib/$library" "$STAGE/lib/$library.1.0"
tar -C "$(dirname "$stdlib")" -c --exclude='__pycache__' --exclude='test' \
  --exclude='tests' --exclude='site-packages' --exclude='dist-packages' \
  --exclude='idlelib' --exclude='tkinter' --exclude='turtledemo' \
  --exclude='ensurepip' --exclude='lib2to3' --exclude='config-*' \
  --exclude='pydoc_data' "$(basename "$stdlib")" | tar -C "$STAGE/lib" -x

# Packages of the tests.
site=$($PYTHON -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
for package in numpy numpy.libs pytest _pytest pluggy iniconfig packaging \
  hypothesis sortedcontainers pygments attr; do
  [[ -e $site/$package ]] || continue
  tar -C "$site" -c --exclude='__pycache__' --exclude='tests' \
    --exclude='*.pyi' --exclude='f2py' "$package" | tar -C "$STAGE/site" -x
done
cp "$site"/_hypothesis_*.py "$site"/py.py "$STAGE/site" 2>/dev/null || true
# Of a machine with many cores, and where a test may hang.
$PYTHON -m pip install -q --no-deps --no-compile --target "$STAGE/site" \
  pytest-xdist==3.8.0 execnet==2.1.2 pytest-timeout==2.4.0

# hotaru, its tests and benchmarks.
tar -c --exclude='__pycache__' --exclude='_C*.so' python/hotaru |
  tar -C "$STAGE" -x
cp -L python/hotaru/_C.so "$STAGE/python/hotaru/_C.so"
cp -L build/hotaru/libhotaru.so.0 build/hotaru/libhotaru_cuda.so \
  build/hotaru/libhotaru_softgpu.so build/libtorch/libhotaru_torch.so.0 "$STAGE/lib/"
tests=(hotaru_cuda_tests hotaru_device_tests hotaru_gpu_raw hotaru_torch_tests)
for test in "${tests[@]}"; do
  found=$(find build -type f -name "$test" -print -quit)
  [[ -n $found ]] && cp "$found" "$STAGE/bin/"
done
strip --strip-unneeded "$STAGE"/lib/*.so* "$STAGE"/bin/* \
  "$STAGE"/python/hotaru/_C.so
mkdir -p "$STAGE"/{tests,scripts,bench,examples}
cp -r tests/python "$STAGE/tests/"
cp -r bench/gpu bench/models.py "$STAGE/bench/"
cp examples/networks.py "$STAGE/examples/"
cp scripts/gpu_run.sh "$STAGE/scripts/"
git rev-parse HEAD >"$STAGE/commit" 2>/dev/null || true
find "$STAGE" -name __pycache__ -prune -exec rm -rf {} +

tar -C "$STAGE" -c . | xz -6 -T0 >.gpu/bundle.tar.xz
bytes=$(stat -c %s .gpu/bundle.tar.xz)
printf '.gpu/bundle.tar.xz: %.1f MiB\n' "$(bc <<<"scale=2; $bytes / 1048576")"
((bytes <= MOST)) || { echo "gpu_bundle: more than 48 MiB" >&2; exit 1; }
echo "On a machine with a GPU, beside .gpu/ and scripts/:"
echo "  bash scripts/gpu_run.sh all"
echo "  bash scripts/gpu_run.sh graphs"
