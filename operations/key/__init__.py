"""Keys of the front door's callers."""
