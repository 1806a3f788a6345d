"""The stand-in for the Kubernetes provider, which speaks the ordinary provider protocol with the engine.

It refuses what it does not know: it never pretends. ``$LLMD_GKE_HOME/cloud`` has its files, ``$LLMD_GKE_FAULTS`` names
a JSON file with faults to inject (:mod:`localcloud.providers.protocol.faults`).
"""
