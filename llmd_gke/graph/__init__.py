"""The graph of a stack: the program run without an engine, every registration kept with its edges.

Used by the operations and the tests; neither the product nor the laptop needs it.
"""
