"""The live acceptance: up, look, smoke, bench, answers to open questions, one report, and always destroy."""
