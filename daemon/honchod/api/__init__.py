"""The front door: sockets, peer credentials, routes, wire types, problem documents. No logic."""
