"""The rules, each stated once: pure functions from plain values to findings.

The settings validation calls them with the user's settings, the policy pack with the inputs of resources.
"""
