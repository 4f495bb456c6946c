"""The only room that imports the Honcho SDK."""
