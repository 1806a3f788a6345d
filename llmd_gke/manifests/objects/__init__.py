"""The objects of a component, in the order in which they are created."""
