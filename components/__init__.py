"""The parts of the graph: one ComponentResource a file, its ``Args`` beside it. They wire; they decide nothing.

Every child has an explicit parent; Kubernetes children have an explicit provider. Type tokens
(``llmd-gke:<module>:<Type>``) are stable forever: stacks remember them.
"""
