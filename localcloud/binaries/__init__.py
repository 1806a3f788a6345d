"""The programs of the laptop cloud: Kubernetes, KServe and what they need, built from published Go modules once.

``path`` returns the path of a program, ``ready`` looks whether there is one, ``ensure`` builds missing ones; ``table``
lists all. A suitable official plugin, on PATH or in Pulumi's plugin cache, is used instead. Envoy comes with a Python
package.
"""

from __future__ import annotations

from localcloud.binaries.resolve import chosen, ensure, names, path, ready, to_build

__all__ = ["chosen", "ensure", "names", "path", "ready", "to_build"]
