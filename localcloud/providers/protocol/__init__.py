"""What both stand-ins share: the provider protocol, without any knowledge of Google or Kubernetes."""
