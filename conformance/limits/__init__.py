"""How far off an honest implementation may be, element by element; nothing here knows a candidate.

In: an operation's arguments and the contract (what precision is declared).
Out: the expectation, every number with the variance and the bound of its error; the envelope of a training run.
Used by: every other room.
"""

from .contract import HEADER, Contract, Declaration
from .contract_files import ContractError, read_contract, shipped

__all__ = ["HEADER", "Contract", "ContractError", "Declaration", "read_contract", "shipped"]
