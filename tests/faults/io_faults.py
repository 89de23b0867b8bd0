"""Makes the N-th file operation of a command fail, stop short or be its last one, for every N."""

import shim
from commands import ALL, not_covered
from stage import Stage
from workers import in_parallel

# The faults to try at each kind of operation. A sweep uses one per operation in turn; another seed
# starts with another.
KINDS = {
    "open": ["eio", "emfile", "emfile+"],
    "read": ["eio", "short", "eio+"],
    "write": ["eio", "before", "enospc", "half", "short", "enospc+", "half", "eio+"],
    "sync": ["eio", "before", "enospc", "eio+"],
    "truncate": ["eio", "before", "enospc", "after"],
    "rename": ["before", "eio", "after", "enospc+"],
    "unlink": ["before", "eio", "after", "eio+"],
    "mkdir": ["eio", "after", "enospc"],
    "rmdir": ["eio", "after"],
    "link": ["eio", "after"],
    "map": ["eio"],
}


class Sweep:
    """The cases of one command on one worker's stage."""

    def __init__(self, kb, place, library, command):
        self.library = library
        self.stage = Stage(kb, place, command())
        self.stage.restore()
        trace = place / "trace"
        status, out, err = self.stage.run(env=self.variables(trace=trace))
        assert status == self.stage.command.status, f"{command.name}: traced: {status}: {out}{err}"
        self.operations = shim.read_trace(trace)
        self.trace = place / "hit"

    def variables(self, **more):
        return shim.variables(self.library, self.stage.command.roots(self.stage), **more)

    def faults(self, rng, are_all):
        """Returns faults as (number of the operation, kind): one at each operation, or all possible ones."""
        found = []
        start = rng.randrange(60)
        for operation in self.operations:
            kinds = KINDS[operation.kind]
            if not are_all:
                kinds = [kinds[(start + operation.number) % len(kinds)]]
            found += [(operation.number, kind) for kind in kinds]
        return found

    def try_fault(self, number, kind):
        """Returns problems as (kind, message)."""
        self.stage.restore()
        self.trace.unlink(missing_ok=True)
        status, out, err = self.stage.run(env=self.variables(fault=f"{number}:{kind}", trace=self.trace))
        is_killed = kind in ("before", "half", "after")
        hit = shim.read_trace(self.trace)
        where = f"{hit[0].kind} {hit[0].path}" if hit else "not reached"
        problems = self.stage.examine(status, out, err, is_killed)
        return [(what, f"{where}: {message}") for what, message in problems]


def sweep(world, result, options):
    """Tries the faults of all commands, or `options.sample` of each."""
    for name in not_covered(world.ok(world.work / "none", "--help")):
        result.fail(name, "broken", "commands.py does not have this command")
    library = shim.build(world.work)
    commands = [command for command in ALL if options.command in (None, command.name)]
    # A full sweep of one command takes minutes: all processors share it.
    share = 1 if options.sample else options.workers

    def try_all(part, place):
        command, number = part
        cases = Sweep(world.kb, place, library, command)
        rng = options.random(f"{options.seed}/{command.name}")
        faults = cases.faults(rng, options.thorough or options.n is not None)
        if options.n is not None:
            faults = [fault for fault in faults if fault[0] == options.n]
        elif options.sample:
            faults = sorted(rng.sample(faults, min(options.sample, len(faults))))
        for at, kind in faults[number::share]:
            result.count()
            for what, message in cases.try_fault(at, kind):
                result.fail(f"I/O: {command.name}: n={at} {kind}", what, message)

    parts = [(command, number) for command in commands for number in range(share)]
    in_parallel(world.work, options.workers, parts, try_all, result)
    result.note = f"{len(commands)} commands"
