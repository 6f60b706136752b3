# shellcheck shell=bash
# What the scripts share. Sourced, never run; the caller has set -euo pipefail.
#   TORC_PRESET  the CMake preset whose programs are used (release)
#   TORC_BUILT   1: a caller has already installed the packages and built

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${TORC_PRESET:-release}

case $preset in
  release) build_dir=$root/build ;;
  debug | asan | tsan) build_dir=$root/build-$preset ;;
  *) echo "unknown preset '$preset': release, debug, asan or tsan" >&2; exit 2 ;;
esac

say() { echo "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }
usage_error() { say "${0##*/}: $* (${0##*/} --help)"; exit 2; }

# Prints the comment at the top of the running script.
show_help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }

is_number() { [[ $1 =~ ^[0-9]{1,9}$ ]]; }

# build TARGET...: installs what is missing, then configures and builds. Quiet unless it fails.
build() {
  [[ ${TORC_BUILT:-} != 1 ]] || return 0
  "$root/scripts/deps"
  local log status=0
  log=$(mktemp)
  [[ -f $build_dir/build.ninja ]] || say "building into ${build_dir#"$root"/} (the first time takes some minutes)"
  { (cd "$root" && cmake --preset "$preset") && ninja -C "$build_dir" "$@"; } >"$log" 2>&1 || status=$?
  if [[ $status -ne 0 ]]; then
    # The errors themselves when there are any, else how it ended.
    grep -A 3 -E '(^|[ :])([Ee]rror|FAILED)[: ]|undefined reference' "$log" | sed -n 1,60p >&2 || tail -n 30 "$log" >&2
    rm -f "$log"
    die "the build failed"
  fi
  rm -f "$log"
}
