"""Entry point for the engine: serves the rules, and prints the port as the engine expects.

``policies`` and ``llmd_gke`` are imported from the Python environment: `make` creates an editable installation in
``.venv``, other projects install this folder (``policies/pyproject.toml``).
"""

from policies.serve import serve

if __name__ == "__main__":
    serve()
