# shellcheck shell=bash
# What the integration tests share: a scratch directory, ports of their own, a cluster that is gone afterwards, and
# checks that say what they expected. Sourced; the test ends with `finish`.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
case ${TORC_PRESET:-release} in
  release) build_dir=$root/build ;;
  *) build_dir=$root/build-$TORC_PRESET ;;
esac
scratch=$(mktemp -d)
dir=$scratch/run
checks=0 failures=0

# A base port whose ports nobody uses: daemons listen on base.., base+100.., base+200.. .
free_base_port() {
  local try port offset
  for ((try = 0; try < 50; try++)); do
    port=$((19000 + RANDOM % 70 * 10))
    for offset in 0 1 2 3 100 101 102 103 200 201 202 203; do
      # A connection that succeeds means that somebody listens there.
      if (: <"/dev/tcp/127.0.0.1/$((port + offset))") 2>/dev/null; then continue 2; fi
    done
    echo "$port"
    return
  done
  echo "no free ports" >&2
  return 1
}
base_port=$(free_base_port)

cluster() { "$root/scripts/cluster" "$1" --dir "$dir" --base-port "$base_port" "${@:2}"; }
# cli I ARGUMENTS...: redis-cli at daemon I. Never waits for ever.
cli() { timeout 30 redis-cli -p "$((base_port + $1 - 1))" "${@:2}"; }
torc() { "$build_dir/torc" -c "127.0.0.1:$base_port,127.0.0.1:$((base_port + 1)),127.0.0.1:$((base_port + 2))" "$@"; }
resp() { "$root/scripts/resp" "$@"; }
pid_of() { cat "$dir/n$1/torcd.pid"; }
alive() { ! gone "$(pid_of "$1")"; }

# gone PID: the process has ended, though nobody may have collected it yet.
gone() { ! grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"; }
# memory_kb PID: resident memory.
memory_kb() { awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"; }

fail() {
  failures=$((failures + 1))
  echo "FAILED: $*"
}

# check WORDS COMMAND...: the command must succeed.
check() {
  local words=$1 out code=0
  shift
  checks=$((checks + 1))
  out=$("$@" 2>&1) || code=$?
  if [[ $code -eq 0 ]]; then
    echo "ok: $words"
  else
    fail "$words (exit $code of: $*)"
    echo "$out" | tail -n 20
  fi
}

# check_is WORDS WANTED COMMAND...: the command must print exactly WANTED.
check_is() {
  local words=$1 wanted=$2 got
  shift 2
  checks=$((checks + 1))
  got=$("$@" 2>&1) || true
  if [[ $got == "$wanted" ]]; then echo "ok: $words"; else fail "$words: wanted '$wanted', got '${got:0:500}'"; fi
}

# check_like WORDS REGEX COMMAND...: what it prints must match.
check_like() {
  local words=$1 wanted=$2 got
  shift 2
  checks=$((checks + 1))
  got=$("$@" 2>&1 | tr -d '\0') || true
  if [[ $got =~ $wanted ]]; then echo "ok: $words"; else fail "$words: wanted /$wanted/, got '${got:0:500}'"; fi
}

# check_exit WORDS CODE COMMAND...: the exit code must be CODE. Its output is left in $output.
check_exit() {
  local words=$1 wanted=$2 code=0
  shift 2
  checks=$((checks + 1))
  output=$("$@" 2>&1) || code=$?
  if [[ $code -eq $wanted ]]; then echo "ok: $words"; else fail "$words: wanted exit $wanted, got $code: ${output:0:500}"; fi
}

# eventually SECONDS COMMAND...: tries until it succeeds.
eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || { "$@"; return; }
    sleep 0.2
  done
}

# all_settled N: daemons 1..N each say that the cluster is settled with N alive, in one epoch with one digest.
all_settled() {
  local i views=""
  for ((i = 1; i <= $1; i++)); do
    views+=$("$build_dir/torc" -c "127.0.0.1:$((base_port + i - 1))" --json status |
      jq -r --argjson n "$1" '"\(.settled) \([.members[] | select(.liveness == "alive")] | length == $n) \(.epoch) \(.digest)"')$'\n'
  done
  [[ $(sort -u <<<"${views%$'\n'}" | wc -l) -eq 1 && $views == "true true "* ]] || { echo "$views"; return 1; }
}

# liveness_is I NAME WORD: what daemon I thinks of NAME.
liveness_is() {
  local got
  got=$("$build_dir/torc" -c "127.0.0.1:$((base_port + $1 - 1))" --json status |
    jq -r --arg name "$2" '.members[] | select(.name == $name) | .liveness')
  [[ $got == "$3" ]] || { echo "$2 is $got"; return 1; }
}

clean_up() {
  local file pid
  if [[ $failures -gt 0 || ${finished:-no} == no ]]; then
    for file in "$dir"/n*/torcd.log; do
      if [[ -f $file ]]; then echo "--- ${file#"$scratch/"}"; tail -n 15 "$file"; fi
    done
  fi
  cluster down >/dev/null 2>&1 || true
  # Whatever did not stop is ours alone: its data lies in the scratch directory.
  for file in "$dir"/n*/torcd.pid; do
    if [[ -f $file ]] && pid=$(cat "$file") && grep -qs "$dir" "/proc/$pid/cmdline"; then kill -KILL "$pid"; fi
  done
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# The last line of a test. Fails when a check failed or none was made.
finish() {
  finished=yes
  echo "$checks checks, $failures failed"
  [[ $checks -gt 0 && $failures -eq 0 ]]
}
