#!/bin/sh
# Claude Code's hooks, handed to honchod. None ever fails a prompt: while no daemon answers, what was said is kept
# in the drop box, and memory has nothing to say.
set -u

host=${HONCHOD_HOST:-claude_code}
own=${XDG_RUNTIME_DIR:-}/honchod/honchod.sock
[ -S "$own" ] || own=/run/honchod/honchod.sock
socket=${HONCHOD_SOCKET:-$own}
box=${HONCHOD_DROP:-${XDG_STATE_HOME:-$HOME/.local/state}/honchod/drop}

# Ask the daemon: the path, how many seconds it may take, the request.
ask() {
    printf '%s' "$3" | curl --silent --fail --unix-socket "$socket" --max-time "$2" --data-binary @- "http://d$1"
}

# Keep the batch. What waits in the drop box has to arrive first: then the command hands over both.
keep() {
    [ "$is_empty" = false ] || return 0
    set -- "$box"/*.json
    [ -e "$1" ] || ! ask /v1/messages 5 "$batch" || return 0
    printf '%s' "$batch" | jq -c '.messages[]' |
        honchod send --socket "$socket" --host "$host" --session "$session" --ndjson $turn_end
}

# Print what memory has: how many seconds that may take.
recall() {
    ask /v1/recall "$1" "$query" | jq -r '.text // empty'
}

# One program reads the event, since each one that is started holds the prompt up.
session=''
eval "$(jq -r --arg host "$host" '
    # A turn that another hook prolongs ends more than once, each time with other words.
    def digest: explode | reduce .[] as $code (7; (. * 31 + $code) % 2147483647);
    def message:
        if .hook_event_name == "UserPromptSubmit" then
            {id: "\(.prompt_id):user", role: "user", content: .prompt}
        else
            {role: "assistant", content: (.last_assistant_message // "")}
            + (if .hook_event_name == "SubagentStop" then {id: "\(.agent_id):answer", author: "subagent"}
               else {id: "\(.prompt_id):\(.last_assistant_message // "" | digest)"} end)
        end;
    {host: $host, session: .session_id} as $place
    | (.hook_event_name == "Stop") as $ends
    | ($place + {turn_end: $ends, messages: [message]}) as $batch
    | ($place + {query: .prompt, wait_ms: (if .prompt then 0 else 1500 end)}) as $query
    | @sh "name=\(.hook_event_name) session=\(.session_id) place=\($place | tojson)",
      @sh "batch=\($batch | tojson) is_empty=\($batch.messages[0].content == "")",
      @sh "query=\($query | tojson) turn_end=\(if $ends then "--turn-end" else "" end)"
')"
[ -n "$session" ] || exit 0

case $name in
SessionStart)
    recall 2
    ;;
UserPromptSubmit)
    keep >/dev/null &
    recall 0.25
    wait
    ;;
Stop | SubagentStop)
    keep >/dev/null
    ;;
SessionEnd)
    ask /v1/sessions/end 1 "$place" >/dev/null
    ;;
esac
exit 0
