"""From the outbox to Honcho: schedule, send, judge the outcome, reconcile."""
