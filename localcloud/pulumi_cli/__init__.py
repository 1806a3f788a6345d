"""Finds, installs or builds the engine: the `pulumi` command and its Python language host.

In this order: a suitable one on PATH, the official installer where its host can be reached, a build from the published
Go module. See ``choose.ensure``.
"""
