"""Rules about TPU node pools."""
