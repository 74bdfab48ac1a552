#!/usr/bin/env bash
# timed_compile.sh LOG COMPILER...: compiles, and appends a line to LOG: build
# folder, object, processor seconds. What the compiler cache
# gave costs next to nothing and is not noted. scripts/build_times.py reads it.
log=$1
shift
TIMEFORMAT='%U %S'
{ seconds=$({ time "$@" 1>&3 2>&4; } 2>&1); } 3>&1 4>&2
status=$?
while (($# > 1)) && [[ $1 != -o ]]; do shift; done
read -r user system <<<"$seconds"
# In hundredths, as the shell counts in whole numbers.
hundredths=$((10#${user//./} / 10 + 10#${system//./} / 10))
if ((status == 0 && hundredths >= 20)) && [[ ${1:-} == -o ]]; then
  printf '%s %s %d.%02d\n' "${PWD##*/}" "$2" $((hundredths / 100)) \
    $((hundredths % 100)) >>"$log"
fi
exit $status
