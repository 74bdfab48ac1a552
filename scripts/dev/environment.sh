# What a verb needs installed: Debian packages, virtual environments, a model.

# packages VERB...: installs the Debian packages of these verbs that are missing.
packages() {
  command -v dpkg-query >/dev/null || die "needs Debian (or a relative with apt)"
  local verbs="$*" wanted=() missing=() package for_verbs verb installed
  while read -r package for_verbs; do
    [[ -z $package || $package == '#'* ]] && continue
    for verb in $verbs; do
      [[ " $for_verbs " == *" $verb "* ]] || continue
      wanted+=("$package")
      break
    done
  done <scripts/packages.txt
  installed=" $(dpkg-query -W -f '${Package}:${db:Status-Status} ' \
    "${wanted[@]}" 2>/dev/null || true)"
  for package in "${wanted[@]}"; do
    [[ $installed == *" $package:installed "* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local root=(env DEBIAN_FRONTEND=noninteractive)
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "not root and no sudo; install these first: ${missing[*]}"
    root=(sudo "${root[@]}")
  fi
  local get=("${root[@]}" apt-get -qq -y --no-install-recommends
    -o Dpkg::Use-Pty=0 install "${missing[@]}")
  say "installing ${missing[*]}"
  "${get[@]}" >/dev/null 2>&1 ||
    { "${root[@]}" apt-get -qq update && "${get[@]}" >/dev/null; } ||
    die "apt-get could not install: ${missing[*]}"
}

# venv DIR REQUIREMENTS [OPTIONS]: a virtual environment that holds what the file
# asks for, installed with pip's OPTIONS. It is made again when the interpreter
# or the file changed.
venv() {
  local dir=$1 file=$2 stamp
  stamp="$(${PYTHON:-python3} -VV) $PWD $(<"$file")"
  [[ -f $dir/.stamp && $(<"$dir/.stamp") == "$stamp" ]] && return 0
  say "making $dir"
  "${PYTHON:-python3}" -m venv --clear "$dir"
  "$dir/bin/python" -m pip install --quiet --disable-pip-version-check "${@:3}" \
    -r "$file" || die "pip could not install what $file asks for"
  printf '%s' "$stamp" >"$dir/.stamp"
}

setup() {
  packages "$@"
  venv .venv scripts/requirements.txt
}

# named_torch DIR: in that environment, `torch` is this tree's hotaru.
named_torch() {
  local site
  site=$("$1/bin/python" -c \
    'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$PWD/python" >"$site/hotaru.pth"
  "$1/bin/python" -m hotaru alias
}

# silero FILE: takes a file out of the silero-vad wheel on PyPI into the cache.
readonly SILERO_VERSION=6.2.3
readonly SILERO_SHA256=e1122837f4154c511485fe0b9c64455f7b929c96fbb8d79fbdb336383ebd3720
silero() {
  [[ -f $CACHE/$1 ]] && return 0
  say "fetching $1"
  mkdir -p "$CACHE/wheels"
  .venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps \
    --dest "$CACHE/wheels" "silero-vad==$SILERO_VERSION" ||
    die "PyPI did not give silero-vad $SILERO_VERSION"
  .venv/bin/python - "$CACHE"/wheels/silero_vad-"$SILERO_VERSION"-*.whl "$1" \
    >"$CACHE/$1.part" <<'PYTHON'
import sys, zipfile

wheel = zipfile.ZipFile(sys.argv[1])
sys.stdout.buffer.write(wheel.read(f"silero_vad/data/{sys.argv[2]}"))
PYTHON
  mv "$CACHE/$1.part" "$CACHE/$1"
  rm -r "$CACHE/wheels"
}

# model: the TorchScript model, which the golden values must belong to.
model() {
  [[ -z ${HOTARU_SILERO:-} || ! -f $HOTARU_SILERO ]] || return 0
  export HOTARU_SILERO="$PWD/$CACHE/silero_vad.jit"
  silero silero_vad.jit
  echo "$SILERO_SHA256  $HOTARU_SILERO" | sha256sum --check --quiet ||
    die "silero_vad.jit is not the file the golden values were made with"
}

# nvcc_path: where nvcc is; from an environment of its own unless CUDACXX names
# one or the shell finds one of our version.
nvcc_path() {
  local found=${CUDACXX:-$(command -v nvcc || true)}
  if [[ -z ${CUDACXX:-} ]] &&
    { [[ -z $found ]] || ! "$found" --version | grep -q 'release 13\.0'; }; then
    venv .venv-cuda scripts/requirements-cuda.txt >&2
    found=$(find "$PWD/.venv-cuda/lib" -path '*/nvidia/*/bin/nvcc' -print -quit)
  fi
  [[ -n $found ]] || die "no nvcc"
  printf '%s' "$found"
}
