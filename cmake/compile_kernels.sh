#!/bin/sh
# compile_kernels.sh SOURCE FATBIN "ARCHITECTURES" NVCC... : compiles a file of
# kernels for the architectures ("90;80-virtual": machine code for sm_90, PTX
# for compute_80), with NVCC... as the compiler's first words. Beside the fatbin
# (x.fatbin) are left the dependencies (x.d) and what ptxas says of each kernel
# (x.ptxas), which scripts/check_kernels.py reads.
set -eu
source=$1 fatbin=$2 architectures=$3
shift 3
base=${fatbin%.fatbin}

codes=
old=$IFS
IFS=';'
for architecture in $architectures; do
  number=${architecture%-virtual}
  kind=sm
  [ "$number" = "$architecture" ] || kind=compute
  codes="$codes -gencode=arch=compute_$number,code=${kind}_$number"
done
IFS=$old

# As an object, since ccache takes nothing else; it must look at the files read
# rather than at preprocessed text, which lacks what only the device's half of
# nvcc sees.
# shellcheck disable=SC2086 # $codes are several words
if ! CCACHE_DEPEND=1 "$@" $codes -std=c++20 --expt-relaxed-constexpr \
  -diag-suppress=186 --compress-mode=size -Xptxas=-v \
  -MD -MF "$base.d" -MT "$fatbin" -c "$source" -o "$base.o" 2>"$base.ptxas"; then
  cat "$base.ptxas" >&2
  exit 1
fi
grep -v -e '^ptxas info' -e 'bytes stack frame' "$base.ptxas" >&2 || true
objcopy -O binary --only-section=.nv_fatbin "$base.o" "$fatbin"
rm "$base.o"
