"""Compiles every kernel for sm_70, which CUDA 13 dropped, by clang with the headers and ptxas of CUDA 12 from PyPI.

    python cuda/tools/volta.py --clang clang++-19 --site SITE_PACKAGES --to build/sm_70

prints the cubins.  A second compiler finds other mistakes than the first.  Whoever has a CUDA 12 toolkit builds a
library with sm_70 in it by CMake, without this.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

KERNELS = Path(__file__).parents[1] / "kernels"
INCLUDE = KERNELS.parent / "include"


def toolkit(site: Path, folder: Path) -> Path:
    """Lay the parts of CUDA 12 in site-packages out as clang expects a toolkit."""
    parts = site / "nvidia"
    include = folder / "include"
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("cuda_runtime", "cuda_cccl", "cuda_nvcc"):
        if (parts / part / "include").is_dir():
            shutil.copytree(parts / part / "include", include, dirs_exist_ok=True)
    (include / "curand_mtgp32_kernel.h").touch()  # clang's own header asks for it
    (folder / "bin").mkdir()
    (folder / "bin" / "ptxas").symlink_to(parts / "cuda_nvcc" / "bin" / "ptxas")
    (folder / "lib64").symlink_to(parts / "cuda_runtime" / "lib")
    (folder / "nvvm").symlink_to(parts / "cuda_nvcc" / "nvvm")
    return folder


def compile_kernels(clang: str, cuda: Path, to: Path) -> list[Path]:
    """Compile what is older than its sources; return every cubin."""
    to.mkdir(parents=True, exist_ok=True)
    headers = (*KERNELS.glob("*.cuh"), *INCLUDE.glob("*.h"), KERNELS.parent / "src" / "check.h")
    newest = max(header.stat().st_mtime for header in headers)
    command = [clang, "-x", "cuda", "-std=c++17", "-O3", "--cuda-gpu-arch=sm_70", f"--cuda-path={cuda}"]
    command += ["--cuda-device-only", "-Wno-unknown-cuda-version", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
    cubins = {source: to / f"{source.stem}.cubin" for source in sorted(KERNELS.glob("*.cu"))}

    def compile_one(source: Path) -> None:
        cubin = cubins[source]
        if not cubin.exists() or cubin.stat().st_mtime <= max(newest, source.stat().st_mtime):
            subprocess.run([*command, "-c", str(source), "-o", str(cubin)], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, cubins))  # as a list: the first failure is raised here
    return list(cubins.values())


def main() -> None:
    parser = argparse.ArgumentParser(description="Compile every kernel for sm_70.")
    parser.add_argument("--clang", required=True)
    parser.add_argument("--site", required=True, type=Path, help="site-packages with CUDA 12's parts")
    parser.add_argument("--to", required=True, type=Path)
    given = parser.parse_args()
    cuda = toolkit(given.site.resolve(), given.to.resolve().parent / "cuda12")
    for cubin in compile_kernels(given.clang, cuda, given.to):
        print(cubin)


if __name__ == "__main__":
    main()
