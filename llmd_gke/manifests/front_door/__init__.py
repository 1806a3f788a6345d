"""The front door: Envoy Gateway with Envoy AI Gateway behind the load balancer, one address for all models.

Chart values, the objects of the door itself, those of each model, those at the load balancer, and the
NetworkPolicies. Names, ports and headers: :mod:`llmd_gke.catalog.front_door`.
"""
