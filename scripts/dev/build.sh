# The build: which parts of the tree, for which instruction sets, where.

# Parts beside the library. Columns: the name, CMake's switch, the targets, and
# what the part adds to a first build, in processor seconds on a Zen 5
# (scripts/build_times.py). The library itself is 465 for one instruction set and
# 650 for all.
readonly PARTS='
extension  HOTARU_PYTHON    hotaru_stubs       36
command    HOTARU_CLI       hotaru-cli         30
cuda       HOTARU_CUDA      hotaru_cuda        80
soft_gpu   HOTARU_SOFT_GPU  hotaru_softgpu     114
libtorch   HOTARU_LIBTORCH  hotaru_torch       75
tests      HOTARU_TESTS     hotaru_all_tests   230
bench      HOTARU_BENCH     hotaru_all_bench   15
'
# Those that a program may load at run time: once built, they are kept in step
# with the library by every build.
readonly LOADED='extension command cuda soft_gpu libtorch'

# HOTARU_SIMD of the build: this machine's instruction set, unless --every-target
# asks for what wheels have.
SIMD=native
# HOTARU_UNITS of the build: sources some at a time, in half the time, except
# where a check has each source compile alone.
UNITS=${UNITS:-ON}

# What scripts/build_times.py reads.
readonly OBJECT_SECONDS=${XDG_CACHE_HOME:-$HOME/.cache}/hotaru/object_seconds.log

# configure DIR ARGS...: runs CMake once per set of arguments; ninja reruns it
# when a CMake file changes.
configure() {
  local dir=$1
  shift
  mkdir -p "${OBJECT_SECONDS%/*}"
  set -- "-DHOTARU_OBJECT_SECONDS=$OBJECT_SECONDS" "$@"
  if [[ ! -f $dir/build.ninja || ! -f $dir/.arguments ||
    $(<"$dir/.arguments") != "$*" ]]; then
    say "configuring $dir"
    # What an old cache can't take, such as another compiler, a new one can.
    cmake -S . -B "$dir" -G Ninja "$@" >"$dir.log" 2>&1 ||
      cmake --fresh -S . -B "$dir" -G Ninja "$@" >"$dir.log" 2>&1 ||
      { cat "$dir.log" >&2; die "CMake failed in $dir"; }
    mv "$dir.log" "$dir/configure.log"
    echo "$*" >"$dir/.arguments"
  fi
}

# compile DIR [TARGET...]: within LIMIT seconds, where that is set; status 124
# says that they did not do. COMPILERS of them at a time, JOBS unless it is set.
compile() {
  say "building $1"
  ${LIMIT:+timeout "$LIMIT"} cmake --build "$1" --parallel "${COMPILERS:-$JOBS}" ${2:+--target "${@:2}"}
}

# build PARTS [ARGS...]: build/ with the library, these parts (one word, divided
# by blanks) and those that it has already. ARGS go to CMake and stay on.
build() {
  local wanted=" $1 " name switch targets switches=() chosen=(hotaru)
  shift
  while read -r name switch targets _; do
    [[ -n $name ]] || continue
    local on=OFF
    if [[ $wanted == *" $name "* ]]; then
      on=ON
      chosen+=("$targets")
    elif grep -qs "^$switch:BOOL=ON" build/CMakeCache.txt; then
      on=ON
      [[ " $LOADED " == *" $name "* ]] && chosen+=("$targets")
    fi
    switches+=("-D$switch=$on")
  done <<<"$PARTS"
  configure build -DCMAKE_BUILD_TYPE=Release \
    -DPython_EXECUTABLE="$PWD/.venv/bin/python" \
    -DPython_ROOT_DIR="$PWD/.venv" \
    -Dnanobind_ROOT="$(nanobind_dir)" \
    -DHOTARU_SIMD="$SIMD" -DHOTARU_UNITS="$UNITS" "${switches[@]}" "$@"
  compile build "${chosen[@]}"
  link
}

# nanobind_dir: where nanobind's CMake files are; asked once an environment.
nanobind_dir() {
  [[ -f .venv/.nanobind ]] ||
    .venv/bin/python -m nanobind --cmake_dir >.venv/.nanobind
  printf '%s' "$(<.venv/.nanobind)"
}

# link: the environment sees the sources in python/ and what was built, with
# nothing copied: a .pth file and symbolic links.
link() {
  local site extension
  site=$(echo "$PWD"/.venv/lib/python3*/site-packages)
  echo "$PWD/python" >"$site/hotaru.pth"
  extension=$(find build/python -name '_C*.so' -print -quit 2>/dev/null || true)
  if [[ -n $extension ]]; then
    ln -sfn "../../$extension" python/hotaru/_C.so
    link_stubs
  fi
  if [[ -x build/cli/hotaru ]]; then
    ln -sfn ../../build/cli/hotaru .venv/bin/hotaru
  fi
}

# link_stubs: type checkers find each module's stub beside its source.
link_stubs() {
  local file
  find python/hotaru -name '*.pyi' -type l -delete
  while read -r file; do
    mkdir -p "python/${file%/*}"  # modules that a file makes lie below it
    ln -sfnr "build/python/stubs/$file" "python/$file"
  done < <(cd build/python/stubs && find hotaru -name '*.pyi')
}

# build_verb OPTIONS: ./dev build.
build_verb() {
  local parts='extension command' arguments=() nvcc
  while (($#)); do
    case $1 in
      --every-target) SIMD=all ;;
      --cuda)
        nvcc=$(nvcc_path)
        parts+=' cuda'
        arguments+=("-DHOTARU_NVCC=$nvcc")
        ;;
      --libtorch) parts+=' libtorch' ;;
      --all) parts+=" $LOADED" ;;
      *) die "build: unknown option $1 (see ./dev --help)" ;;
    esac
    shift
  done
  setup build
  build "$parts" "${arguments[@]}"
}
