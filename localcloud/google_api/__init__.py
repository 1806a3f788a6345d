"""An emulator of Google's APIs on this machine, for clients that were written for Google.

``server`` receives a request, ``core.discovery`` checks by Google's own discovery documents whether the method and its
fields exist, ``services`` answer it, ``rules`` decide what Google would reject, ``core.cloud`` stores the resources.
``localcloud/docs/google-emulator.md`` says what is imitated.
"""
