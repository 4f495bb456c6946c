"""Claude Code itself: the program, with our plugin, in a home of its own."""
