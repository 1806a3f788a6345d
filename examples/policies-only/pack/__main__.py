"""Serves the policies that are installed in the project's environment."""

from policies.serve import serve

if __name__ == "__main__":
    serve()
