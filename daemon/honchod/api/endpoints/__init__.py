"""The handlers: each turns a checked call into one call of the backend."""
