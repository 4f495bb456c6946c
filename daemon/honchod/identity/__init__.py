"""Who speaks, where, under which name: hosts, peers, sessions, names."""
