"""The rules, one folder for each group: a topic's checks and rules, and the examples of each rule beside them."""
