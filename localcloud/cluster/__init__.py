"""The control plane of a laptop cloud: real etcd and Kubernetes, and the processes of ours beside them."""
