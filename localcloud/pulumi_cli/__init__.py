"""Finds, installs or builds the engine: the `pulumi` command and its Python language host.

In this order: a suitable one on PATH; the official release, checked by its checksum, where its host can be reached; a
build from the published Go module. See ``resolve.ensure``.
"""
