"""Variables that a candidate's process has: the judge's own, without what opens doors elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SECRET = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|(^|_)API_?KEY|ACCESS_KEY|PRIVATE_KEY|^ACTIONS_|^SSH_|"
    r"^GPG_|^DOCKER_|^KUBE|_AUTH($|_)|^DBUS_|^GIT_ASKPASS|^PYTEST_CURRENT_TEST"
)


def without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """Leave out what is named as tokens, passwords and keys are, and the sockets of agents."""
    return {name: value for name, value in variables.items() if not _SECRET.search(name.upper())}


def at_home(folder: str) -> dict[str, str]:
    """Variables by which programs find a folder to write to: this one."""
    return {
        "HOME": folder,
        "TMPDIR": folder,
        "XDG_CACHE_HOME": f"{folder}/.cache",
        "XDG_CONFIG_HOME": f"{folder}/.config",
    }
