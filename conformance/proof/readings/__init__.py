"""Proves that the judge would notice: every wrong reading must fail a case, and the diagnosis must say what it is."""
