"""Commands for people who run a stack. They read settings and outputs; the program does not use them."""
