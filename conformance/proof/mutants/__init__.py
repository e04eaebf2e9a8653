"""Mutants that nobody chose: one token or statement changed by rule, everywhere; each must fail a case."""

from .mutator import Mutant, MutatorError, mutants_of

__all__ = ["Mutant", "MutatorError", "mutants_of"]
