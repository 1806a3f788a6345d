"""Services of the laptop cloud: a process that listens on each one's addresses, and answers for names of Services."""
