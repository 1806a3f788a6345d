"""Asks a served model, through the stack's gateway, everything that a client relies on."""
