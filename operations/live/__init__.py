"""The live acceptance: up, status, smoke, bench, answers to open questions, a report, and in any case destroy."""
