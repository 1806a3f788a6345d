"""What every service of the emulator is built on: discovery documents, requests, errors, faults, and what is kept."""
