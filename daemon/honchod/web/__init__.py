"""The page on the optional loopback listener: what an operator sees and does, in a browser."""
