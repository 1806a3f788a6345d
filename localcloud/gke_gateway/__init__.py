"""GKE's Gateway controller and load balancer on a laptop: the controller is ours, the data plane a real Envoy.

Google's regional Application Load Balancers are managed Envoy proxies
(https://cloud.google.com/load-balancing/docs/https#envoy-based), and GKE's Gateway controller is closed source. Here a
controller reads what Google's reads, refuses what Google's refuses, writes the statuses that Google's writes and
configures an Envoy as near to Google's as is known. Pure functions turn objects into Envoy's configuration and into
statuses; :mod:`controller` only wires them to the API server, and to Envoy by files.
"""
