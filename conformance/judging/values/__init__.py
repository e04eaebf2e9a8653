"""Of which values of an input a result is wrong: measured in one case, and said of several together.

What a kernel does past a bound of its own, or with zeros, NaN and infinities alone, shows in no place and no size: only
elements whose input lies there are wrong.
"""

from .measured import Numbers, Values, values
from .told import told

__all__ = ["Numbers", "Values", "told", "values"]
