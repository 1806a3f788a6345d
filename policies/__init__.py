"""A CrossGuard pack that refuses what GKE refuses: ``pulumi preview --policy-pack policies``."""
