"""What the program's library, its commands and the local clouds share: expected failures, child processes, Kubernetes
access, the marks of Pulumi's special values, the setup of Python environments. Imports none of them.
"""
