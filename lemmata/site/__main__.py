"""``python -m lemmata.site FOLDER``: the site in a folder; exit 2 with one sentence if it cannot be built."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from lemmata.site.build import SiteError, build_site


def main(arguments: list[str]) -> int:
    """The command; its exit status."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m lemmata.site FOLDER", file=sys.stderr)
        return 2
    started = time.monotonic()
    target = Path(arguments[0])
    try:
        counts = build_site(target)
    except (SiteError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    words = ", ".join(f"{count} {name}" for name, count in counts.items())
    print(f"{target / 'index.html'}: {words}, every link leads somewhere ({time.monotonic() - started:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
