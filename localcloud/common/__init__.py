"""What every room of the local clouds shares: folders, daemons."""
