"""``llmd-gke preview-copy``: a stack's state and settings without secrets, for a preview that cannot decrypt any."""
