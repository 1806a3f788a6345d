"""Modules that all parts of the local clouds share: folders, files, locks, child processes, daemons."""
