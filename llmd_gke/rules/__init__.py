"""The rules, each stated once: pure functions from plain values to findings.

The settings validator calls them with what a user wrote, the policy pack with what goes over the wire.
"""
