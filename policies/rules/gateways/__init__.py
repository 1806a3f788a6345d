"""Rules about Gateways."""
