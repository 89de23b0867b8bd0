"""Names the machine that a table was made on."""

import os
import pathlib
import platform

SETS = ["avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimd", "i8mm"]
NUMBERS = {1: "one processor", 2: "two processors"}


def facts():
    """Returns what the system says of the first processor."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        lines = []
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def describe(only_avx2=False):
    """Returns the number of processors, their name and the instruction sets that programs find."""
    said = facts()
    name = said.get("model name") or platform.processor() or platform.machine()
    flags = (said.get("flags") or said.get("Features") or "").split()
    known = "avx2, with all newer instruction sets hidden from the programs" if only_avx2 else " ".join(it for it in SETS if it in flags)
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{NUMBERS.get(number, f'{number} processors')} of {name} ({known}), {platform.system()}"
