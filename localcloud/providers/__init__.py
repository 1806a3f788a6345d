"""Stand-ins for the Google Cloud and Kubernetes providers: the rehearsal's cloud.

The engine starts one process per provider and speaks the ordinary provider protocol with it; nothing in the program
knows. ``core`` holds what both share (protocol, secrets, differences, the file that is the cloud, a record of every
call), ``google`` and ``kubernetes`` hold the rules. A stand-in refuses what it does not know: it never pretends.

Environment:

* ``LLMD_GKE_HOME``: in its folder ``cloud`` are ``google.json``, ``kubernetes.json`` and ``calls.jsonl`` (required).
* ``LLMD_GKE_FAULTS``: path of a JSON file with faults to inject, see :mod:`localcloud.providers.protocol.faults`.
"""
