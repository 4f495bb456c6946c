"""What the daemon is measured against."""
