"""The Google provider's stand-in: Google's rules for the resource types of our program."""
