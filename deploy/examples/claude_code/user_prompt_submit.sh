#!/bin/sh
# UserPromptSubmit: keep what the user says, and print what memory has for it.
set -u
event=$(cat)
session=$(printf '%s' "$event" | jq -r '.session_id // empty')
[ -n "$session" ] || exit 0
host=${HONCHOD_HOST:-claude_code}
printf '%s' "$event" | jq -r '.prompt // empty' |
    honchod send --host "$host" --session "$session" --role user --quiet - 2>/dev/null
printf '%s' "$event" | jq -r '.prompt // empty' |
    honchod recall --host "$host" --session "$session" - 2>/dev/null
exit 0
