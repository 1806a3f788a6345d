"""Services of the laptop cloud: a process that listens on every ClusterIP, and answers for names of Services."""
