"""Counts the work of every parser of a text format on each construct, at one size and at four times that size.

src/fuzzing/growth/constructs.toml lists the constructs: brackets, quotes, marks and blocks, each repeated in several
ways. More than six times the instructions for four times the text is a failure. Callgrind counts them in the
unit test `constructs_are_read`, so neither the load of the machine nor its speed matters. Without Valgrind, which
`make test` does not need, the class is skipped. A limit on the length of a construct looks steep if it is between
the two sizes. Steep constructs are therefore measured again at larger sizes, and the last of these counts.
"""

import json
import pathlib
import re
import shutil
import subprocess

from workers import in_parallel

ROOT = pathlib.Path(__file__).parents[2]
TEST = "fuzzing::growth::tests::constructs_are_read"
FUNCTION = "*growth::tests::read_construct"

# Most times the instructions for four times the text.
MOST = 6
# Bytes of the smaller text: at first, and as long as the growth is more than `STEEP`.
SIZES = [4_000, 32_000, 256_000]
STEEP = 5
# Constructs of one process; the test has about 5,500.
PARTS = 50
SAMPLED_PARTS = 500


def test_program():
    """Builds the unit tests and returns those of kb; `None` without cargo."""
    # All crates, as tests/run does: kb alone has other features, and compiles kb-embed and kb-reader once more.
    command = ["cargo", "test", "--workspace", "--locked", "--quiet", "--lib", "--no-run", "--message-format=json"]
    try:
        built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    except FileNotFoundError:
        return None
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith(b"{")]
    return next(message["executable"] for message in messages
                if message.get("executable") and message["target"]["name"] == "kb")


def counts(program, place, variables):
    """Returns the name of each construct with the instructions at both sizes."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={place}/counts",
               f"--toggle-collect={FUNCTION}", f"--dump-before={FUNCTION}",
               program, TEST, "--exact", "--nocapture", "--test-threads=1"]
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={"PATH": "/usr/bin:/bin", **variables})
    text = ran.stdout.decode(errors="replace")
    assert ran.returncode == 0, text[-2000:] + ran.stderr.decode(errors="replace")[-2000:]
    names = re.findall(r"^(?:test \S+ \.\.\. )?construct (.*)$", text, re.MULTILINE)
    # A dump before each call has the instructions of the call before it.
    files = [place / f"counts.{number}" for number in range(2, 2 * len(names) + 1)] + [place / "counts"]
    totals = [int(re.search(r"^totals: (\d+)", file.read_text(), re.MULTILINE)[1]) for file in files]
    return list(zip(names, totals[::2], totals[1::2], strict=True))


def growth(world, result, options):
    """Counts all constructs, or a sample of them."""
    if not shutil.which("valgrind"):
        result.skip("it needs Valgrind", "valgrind")
        return
    program = test_program()
    if program is None:
        result.skip("it needs cargo", "cargo")
        return
    num_parts = SAMPLED_PARTS if options.sample else PARTS
    parts = range(num_parts)
    if options.sample:
        parts = [options.random(f"{options.seed}/growth").randrange(num_parts)]
    if options.n is not None:
        parts = [options.n]
    steepest = []

    def count(part, place):
        variables = {"KB_GROWTH_PARTS": str(num_parts), "KB_GROWTH_PART": str(part)}
        for name, small, large in counts(program, place, {**variables, "KB_GROWTH_BYTES": str(SIZES[0])}):
            result.count()
            for size in SIZES[1:]:
                if large <= STEEP * small:
                    break
                again = {"KB_GROWTH_ONLY": name, "KB_GROWTH_PARTS": "1", "KB_GROWTH_BYTES": str(size)}
                [(_, small, large)] = counts(program, place, again)
            steepest.append((large / max(1, small), name))
            if large > MOST * small:
                result.fail(f"growth: part {part}: {name}", "wrong", f"{large / small:.1f} times for 4 times the text")

    in_parallel(world.work, options.workers, parts, count, result)
    times, name = max(steepest, default=(0, "none"))
    # A table of Markdown has it.
    result.note = f"at most {times:.1f} times for 4 times the text: {name}".replace("|", "\\|")
