"""The laptop cloud's own namespaces: user, mount, process and network (Linux, namespaces(7)).

Everything of one laptop cloud runs in them. So it may listen on ports 80 and 443 without root, several clouds run side
by side, ending its first process ends everything, and no packet leaves the machine: the network has no way out.
"""
