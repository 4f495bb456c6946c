"""What agents left in the drop box while no daemon answered, taken in: oldest first, once."""
