"""The laptop cloud's kubelet: node pools as nodes, and the pods on them as processes.

A pod has a network of its own, with its own address, and each of its containers its own processes and file system, with
volumes at the paths in the pod's spec. The image table (:mod:`.images`) maps each image to a program.
"""
