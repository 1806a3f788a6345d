"""The rehearsal: the unmodified program on the real Pulumi engine, with two clouds that fit on a laptop.

Nothing in the product imports this package.
"""
