"""The processes that train one model together; here, one."""

from training.ranks.alone import ALONE, Alone, Ranks

__all__ = ["ALONE", "Alone", "Ranks"]
