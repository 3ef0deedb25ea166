"""What all runs of a process share: generators, torch's switches, and the machine and releases beneath."""
