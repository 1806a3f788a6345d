"""``llmd-gke report-drift``: writes the result of the nightly comparison as a metric, for an alert."""
