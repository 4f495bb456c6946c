"""What an agent imports. Standard library only."""
