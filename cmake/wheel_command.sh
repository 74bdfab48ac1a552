#!/bin/sh
# The command hotaru of a wheel. It lies in the Python package; this file stands
# beside Python's own command, wherever pip's scheme puts it: in an environment,
# a user's folder, a system's, or a folder of `pip install --target`.
bin=$(dirname -- "$(readlink -f -- "$0")")
for program in "$bin"/../hotaru/bin/hotaru \
  "$bin"/../lib*/python3.*/*-packages/hotaru/bin/hotaru; do
  [ -x "$program" ] && exec "$program" --called-as "$bin/hotaru" "$@"
done
echo "hotaru: no package hotaru beside $bin: install it again with pip" >&2
exit 127
