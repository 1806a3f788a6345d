"""The provider protocol, which both stand-ins share, independent of Google and Kubernetes."""
