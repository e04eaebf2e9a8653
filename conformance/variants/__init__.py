"""The same operations carried out by others: honest variants must pass, wrong ones must fail.

In: the reference.  Out: functions by name with the operations' own arguments.
Used by: judging (which compares failures with them), proof.
"""
