"""nanobot remembers through honchod: capture, memory in the prompt, and the ``honcho_memory`` tool."""
