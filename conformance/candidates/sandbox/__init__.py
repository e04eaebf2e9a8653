"""What keeps a candidate's process from everything that is not its own, by what Linux offers without root.

In: which paths it may read, how much memory it may take.  Out: a process that can do no more, and which restrictions
hold on this machine.  Used by: the worker.
Each restriction is a file: landlock, seccomp, capabilities, namespaces, limits, environment; keeper watches from
outside.  None of them is relied on alone: machines lack one or the other.
"""
