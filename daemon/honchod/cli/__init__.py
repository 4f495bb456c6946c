"""The honchod command: a client of the socket."""
