"""The rules, each stated once: pure functions from plain values to findings.

The settings validation calls them with the user's settings, the policy pack with the inputs of resources. The docstring
of a function that returns findings states what must hold: the function yields a :class:`~.finding.Finding` for each
violation, and nothing for values that are not known yet.
"""
