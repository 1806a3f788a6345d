"""What the program's library, its commands and the local clouds share: expected failures, child processes, Ctrl-C
and the progress line, Kubernetes access, the marks of Pulumi's special values, the setup of Python environments. It
imports none of them.
"""
