"""A CrossGuard policy pack that rejects what GKE would reject: ``pulumi preview --policy-pack policies``."""
