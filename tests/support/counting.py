"""What the lanes say that waits in them, held against their events."""

from __future__ import annotations

LANES_THAT_COUNT_WRONG = """
SELECT
    id,
    pending + (
        SELECT count(*) FROM event
        WHERE lane_id = lane.id AND event.id > (SELECT max(counted_upto) FROM tally)
    ) AS counted,
    (SELECT count(*) FROM event WHERE lane_id = lane.id AND state = 'queued') AS waiting
FROM lane WHERE counted <> waiting
"""
"""With what a lane's row does not have yet."""
