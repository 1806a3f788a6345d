"""Scripts that stand for programs in containers: run alone, by path, with the standard library only."""
