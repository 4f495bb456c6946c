#!/bin/sh
# Stop: keep the last answer of the transcript, and end the turn, so that memory for the next is fetched.
set -u
event=$(cat)
session=$(printf '%s' "$event" | jq -r '.session_id // empty')
transcript=$(printf '%s' "$event" | jq -r '.transcript_path // empty')
[ -n "$session" ] && [ -r "$transcript" ] || exit 0
# One message as a line of JSON: its text, and its own id, so that the same hook twice stores it once.
jq -c -n '
    [inputs | select(.type == "assistant")
     | {id: .uuid, role: "assistant",
        content: ([.message.content[]? | select(.type == "text") | .text] | join("\n\n"))}
     | select(.content != "")]
    | last // empty' "$transcript" |
    honchod send --host "${HONCHOD_HOST:-claude_code}" --session "$session" --ndjson --turn-end --quiet 2>/dev/null
exit 0
