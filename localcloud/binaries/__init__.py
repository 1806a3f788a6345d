"""The programs of the laptop cloud: Kubernetes, KServe and what they need, built from published Go modules once.

``path`` gives a program that is there, ``ensure`` builds what is missing; ``table`` lists them all. A suitable official
one, on PATH or in Pulumi's plugin cache, is taken instead. Envoy comes with a Python package.
"""

from __future__ import annotations

from localcloud.binaries.resolve import chosen, ensure, names, path

__all__ = ["chosen", "ensure", "names", "path"]
