"""The real runtimes with our adapters in them."""
