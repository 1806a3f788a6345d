"""``llmd-gke report-drift``: what the nightly comparison found, as a metric for the alert ConfigurationDrift."""
