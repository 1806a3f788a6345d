"""Builds programs from published Go modules, each through a small wrapper module that pins everything (``gomod/``).

Used for the Pulumi engine and for the programs of the laptop cloud. One builder at a time works in the cache's folder
``building``: modules and a build cache for each wrapper, and the standard library once for all of them. Google's
provider has the engine's modules in the same versions and uses what was compiled for it. An interrupted build continues
there; a finished one leaves only the programs.
"""
