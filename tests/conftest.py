"""What all tests share."""

from __future__ import annotations

import hypothesis

# A busy machine is slow, not wrong: no example has a deadline.
hypothesis.settings.register_profile("assayer", deadline=None)
hypothesis.settings.load_profile("assayer")
