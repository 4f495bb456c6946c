"""What Agent Zero's plugins import."""
