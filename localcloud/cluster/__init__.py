"""The control plane of a laptop cloud: real etcd and Kubernetes, and this project's own processes."""
