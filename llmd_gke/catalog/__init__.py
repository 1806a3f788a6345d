"""What Google Cloud and the open-source stack offer, as dated data.

Nothing here decides anything: the rules that use these facts are in :mod:`llmd_gke.rules`.
"""
