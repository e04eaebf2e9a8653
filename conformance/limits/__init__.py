"""What a candidate declares of its precision: a contract, which limits follow and probes check."""

from .contract import HEADER, Contract, Declaration
from .contract_files import ContractError, read_contract, shipped

__all__ = ["HEADER", "Contract", "ContractError", "Declaration", "read_contract", "shipped"]
