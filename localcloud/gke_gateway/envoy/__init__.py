"""Envoy's configuration (https://www.envoyproxy.io/docs/envoy/v1.40.0/api-v3/api), its files and its process."""
