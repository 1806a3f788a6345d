"""The components of the graph: one ComponentResource per file, with its ``Args``. They only connect resources and
contain no rules.

Every child has an explicit parent; Kubernetes children have an explicit provider. Type tokens
(``llmd-gke:<module>:<Type>``) are stable forever: stacks remember them.
"""
