"""An emulator of Google's APIs on this machine, for clients that were written for Google.

``server`` takes a request, ``core.discovery`` says by Google's own discovery documents whether such a method and such
fields exist, ``services`` answer it, ``core.cloud`` keeps what was made. What Google refuses is decided by the rules of
:mod:`localcloud.providers.google`, which the hand-written provider uses, too. ``docs/google-emulator.md`` says what is
imitated.
"""
