"""What Google refuses, by resource type: zones, machines, topologies, quota, stock, references, what is in use."""
