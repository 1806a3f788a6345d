"""Where the engine starts the pack: serves the rules, and prints the port as the engine expects.

``policies`` and ``llmd_gke`` are found in the environment: `make` leaves an editable installation in ``.venv``, other
projects install this folder (``policies/pyproject.toml``).
"""

from policies.serve import serve

if __name__ == "__main__":
    serve()
