"""The graph of a stack: the program is run without an engine, and every registration is kept with its edges.

Used by the operations and the tests; neither the product nor the laptop needs it.
"""
