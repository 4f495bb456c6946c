"""The only room that knows SQL: lanes, events, leases, letters, circuits."""
