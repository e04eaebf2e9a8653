"""The packages that every benchmark needs, asked for before any is imported: import this first."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("numpy", "cffi", "ml_dtypes")

if missing := [name for name in PACKAGES if find_spec(name) is None]:
    raise SystemExit(f"the benchmarks need {', '.join(PACKAGES)}; not installed: {', '.join(missing)}")
