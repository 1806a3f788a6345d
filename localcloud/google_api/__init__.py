"""An emulator of Google's APIs on this machine, for clients that were written for Google.

``server`` receives a request, ``core.discovery`` checks by Google's own discovery documents whether the method and its
fields exist, ``services`` answer it, ``core.cloud`` stores the resources. ``rules``
decide what Google would reject. ``localcloud/docs/google-emulator.md`` says what is imitated.
"""
