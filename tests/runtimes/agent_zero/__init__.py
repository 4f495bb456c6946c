"""Agent Zero, or its extension interface as it is documented, with our plugin in it."""
