#!/bin/sh
# SessionStart: what is printed is added to the conversation.
set -u
event=$(cat)
session=$(printf '%s' "$event" | jq -r '.session_id // empty')
[ -n "$session" ] || exit 0
honchod recall --host "${HONCHOD_HOST:-claude_code}" --session "$session" --wait-ms 1500 2>/dev/null
exit 0
