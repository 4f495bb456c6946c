"""What a secret looks like and where it stands: pure finders over one text."""
