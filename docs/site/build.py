"""Builds the site: `python docs/site/build.py build/site`; warnings are errors, and every link within it is checked.

It opens from the disk, without a network: build/site/html/index.html.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from command_pages import write_commands
from links import broken
from operation_pages import write_operations
from stage import FRONT, StageError, stage

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the documentation as a static site.")
    parser.add_argument("folder", type=Path, help="where; its folders source and html are made anew")
    folder: Path = parser.parse_args().folder.resolve()
    source, html = folder / "source", folder / "html"
    for made in (source, html):
        shutil.rmtree(made, ignore_errors=True)
    try:
        stage(source)
    except StageError as error:
        print(error)
        return 1
    write_operations(source / "operations")
    write_commands(source / "commands")
    front = source / FRONT
    front.write_text(front.read_text(encoding="utf-8") + (HERE / "contents.md").read_text(encoding="utf-8"), "utf-8")
    words = ("-q", "-W", "--keep-going", "-n", "-b", "html", "-c", str(HERE), "-d", str(folder / "doctrees"))
    done = subprocess.run([sys.executable, "-m", "sphinx", *words, str(source), str(html)], check=False)
    if done.returncode:
        return done.returncode
    _name_language(html / "docs" / "ja", "ja")
    found = broken(html)
    print(*found, sep="\n", end="\n" * bool(found))
    print(f"{len(list(html.rglob('*.html')))} pages: {html / 'index.html'}")
    return 1 if found else 0


def _name_language(folder: Path, language: str) -> None:
    """Say in which language pages are: Sphinx knows one for a whole site, and browsers choose letters by it."""
    for path in folder.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        if text.count(' lang="en"') != 1:
            raise ValueError(f"{path}: expected one language, English, got {text.count(' lang=')}")
        path.write_text(text.replace(' lang="en"', f' lang="{language}"'), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
