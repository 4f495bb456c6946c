"""What an operator sees and does: status, letters, checks."""
