"""Names the machine that a table was made on, and makes it look older to programs."""

import os
import pathlib
import platform
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
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


def can_hide():
    """Whether the processor can refuse to tell programs what it has."""
    return "cpuid_fault" in facts().get("flags", "").split()


def hide_all_but_avx2(folder):
    """Hides from the programs that are started from now on what came after AVX2; needs Linux, `can_hide` and `cc`."""
    library = folder / "hide.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "hide.c"], check=True)
    os.environ["LD_PRELOAD"] = str(library)
