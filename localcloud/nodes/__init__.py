"""The laptop cloud's kubelet: node pools as nodes, and the pods on them as processes.

A pod has a network of its own, with its own address, and each of its containers its own processes and file system, in
which volumes are where the pod says. The image table (:mod:`.images`) says which program stands for which image.
"""
