"""The process of one request: forked by a server, watched by a supervisor, heard through a channel.

Free of torch until the entry is loaded: the command reads the same channel, and says in the same words how it ended.
"""
