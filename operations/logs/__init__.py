"""``llmd-gke logs``: the questions that logs answer, as queries and links."""
