#!/usr/bin/env bash
# Starts a sandbox that outlives this step, and exports the variables by which tests find it.
set -euo pipefail

confab=$(realpath "${BINARY:-$RUNNER_TEMP/confab-bin/confab}")
log="$RUNNER_TEMP/confab-sandbox.log"
: >"$log"

# shellcheck disable=SC2086 # the arguments are words
nohup "$confab" sandbox --data-dir "$DATA_DIR" --listen 127.0.0.1:0 --simulator-listen 127.0.0.1:0 $ARGUMENTS >"$log" 2>&1 &
pid=$!
echo "$pid" >"$RUNNER_TEMP/confab-sandbox.pid"

until grep -q '^The sandbox is ready' "$log"; do
  if ! kill -0 "$pid" 2>/dev/null; then
    cat "$log" >&2
    exit 1
  fi
  sleep 0.1
done

# The lines are: export NAME='VALUE'
"$confab" sandbox env --data-dir "$DATA_DIR" | sed -E "s/^export ([A-Z_]+)='(.*)'\$/\1=\2/" >>"$GITHUB_ENV"
sed -nE 's/^ +webhook secret +(.+)$/CONFAB_WEBHOOK_SECRET=\1/p' "$log" >>"$GITHUB_ENV"
dirname "$confab" >>"$GITHUB_PATH"
