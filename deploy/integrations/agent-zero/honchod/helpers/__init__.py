"""What the extensions and the tool share."""
