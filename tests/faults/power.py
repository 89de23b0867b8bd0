"""Cuts the power at any moment of a command: what was not flushed is lost, in any part and any order.

shim.c records every change of a run. A replay up to some change keeps what was flushed; of the rest each
sector of 512 bytes may be on disk or not, and of the names in a folder the first few are.
"""

import copy
import os
import pathlib
import shutil
import signal

import shim
from commands import ALL
from stage import Stage
from workers import in_parallel

SECTOR = 512


class Disk:
    """Files and folders as the disk has them, and the changes that are not flushed yet."""

    def __init__(self, root):
        # Per file its flushed bytes and the changes since; per folder its flushed names and the changes since.
        self.files, self.pending, self.folders, self.renamed = {}, {}, {}, {}
        self.by_inode, self.names, self.links = {}, {}, {}
        self.next = 0
        for folder, folders, files in os.walk(root):
            self.folders[folder] = {}
            self.renamed[folder] = []
            for name in folders:
                path = os.path.join(folder, name)
                self.folders[folder][name] = ("link", os.readlink(path)) if os.path.islink(path) else ("folder",)
            for name in files:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    self.folders[folder][name] = ("link", os.readlink(path))
                    continue
                file = self.make(os.stat(path).st_ino)
                self.files[file] = pathlib.Path(path).read_bytes()
                self.folders[folder][name] = ("file", file)

    def make(self, inode):
        self.next += 1
        self.by_inode[inode] = self.next
        self.files[self.next], self.pending[self.next] = b"", []
        return self.next

    def current(self, folder):
        """Returns the names in a folder as running programs see them."""
        names = dict(self.folders.get(folder, {}))
        for change in self.renamed.get(folder, []):
            change(names)
        return names

    def rename(self, folder, change):
        self.renamed.setdefault(folder, []).append(change)

    def apply(self, change):
        """Takes a change over, unflushed; or flushes."""
        folder, name = os.path.split(change.path)
        kind = change.kind
        if kind == "C":
            entry = ("file", self.make(change.inode))
            self.rename(folder, lambda names: names.update({name: entry}))
        elif kind in "WT":
            self.pending[self.by_inode[change.inode]].append(change)
        elif kind == "S" and change.inode in self.by_inode and change.path not in self.folders:
            file = self.by_inode[change.inode]
            self.files[file] = everything(self.files[file], self.pending[file])
            self.pending[file] = []
        elif kind == "S":
            self.folders[change.path] = self.current(change.path)
            self.renamed[change.path] = []
        elif kind == "M":
            self.folders.setdefault(change.path, {})
            self.rename(folder, lambda names: names.update({name: ("folder",)}))
        elif kind in "UD":
            self.rename(folder, lambda names: names.pop(name, None))
        elif kind == "Y":
            self.rename(folder, lambda names: names.update({name: ("link", change.other)}))
        elif kind == "R":
            self.move(folder, name, *os.path.split(change.other))
        else:
            raise ValueError(f"a change that replays do not know: {kind} {change.path}")

    def move(self, folder, name, to_folder, to_name):
        entry = self.current(folder)[name]
        if entry[0] == "folder":
            # What is in a folder moves with it.
            old, new = os.path.join(folder, name), os.path.join(to_folder, to_name)
            for places in (self.folders, self.renamed):
                for path in [it for it in places if it == old or it.startswith(old + "/")]:
                    places[new + path[len(old):]] = places[path]
        self.rename(to_folder, lambda names: names.update({to_name: entry}))
        if folder == to_folder:
            # One change: never both names, never none.
            second = self.renamed[folder].pop()
            self.rename(folder, lambda names: (names.pop(name, None), second(names)))
        else:
            self.rename(folder, lambda names: names.pop(name, None))

    def write(self, root, names_of, bytes_of):
        """Writes the files to `root`, as `names_of` and `bytes_of` say what is on disk."""
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root)

        def write_folder(folder):
            for name, entry in names_of(folder).items():
                path = os.path.join(folder, name)
                if entry[0] == "folder":
                    os.mkdir(path)
                    write_folder(path)
                elif entry[0] == "link":
                    os.symlink(entry[1], path)
                elif not name.endswith("-shm"):
                    pathlib.Path(path).write_bytes(bytes_of(entry[1]))

        write_folder(str(root))

    def write_all(self, root):
        """Writes everything as running programs see it."""
        self.write(root, self.current, lambda file: everything(self.files[file], self.pending[file]))

    def write_cut(self, root, rng):
        """Writes what is on disk when the power goes now."""
        share = rng.choice([0, 0.3, 0.7, 0.95, 1])

        def names_of(folder):
            names = dict(self.folders.get(folder, {}))
            changes = self.renamed.get(folder, [])
            for change in changes[: rng.randint(0, len(changes))]:
                change(names)
            return names

        self.write(root, names_of, lambda file: torn(self.files[file], self.pending[file], share, rng))


def everything(data, changes):
    """Applies all changes to the bytes of a file."""
    data = bytearray(data)
    for change in changes:
        if change.kind == "T":
            resize(data, change.offset)
        else:
            put(data, change.offset, change.data)
    return bytes(data)


def torn(data, changes, share, rng):
    """Applies some sectors of some changes to the bytes of a file."""
    whole = len(everything(data, changes))
    data = bytearray(data)
    for change in changes:
        if change.kind == "T":
            if rng.random() < share:
                resize(data, change.offset)
            continue
        at = 0
        while at < len(change.data):
            end = min(len(change.data), at + SECTOR - (change.offset + at) % SECTOR)
            if rng.random() < share:
                put(data, change.offset + at, change.data[at:end])
            at = end
    # Some file systems have the length of a file on disk before its bytes.
    if len(data) < whole and rng.random() < 0.3:
        resize(data, whole)
    return bytes(data)


def resize(data, size):
    del data[size:]
    data.extend(bytes(size - len(data)))


def put(data, offset, new):
    if len(data) < offset:
        data.extend(bytes(offset - len(data)))
    data[offset : offset + len(new)] = new


class Cuts:
    """The cuts of one command on one worker's stage."""

    def __init__(self, kb, place, library, command):
        self.stage = Stage(kb, place, command())
        self.stage.restore()
        self.start = place / "start"
        # Inodes are those of the recorded run.
        self.disk = Disk(self.stage.place)
        record = place / "record"
        env = shim.variables(library, [self.stage.place], record=record)
        status, out, err = self.stage.run(env=env)
        assert status == command.status, f"{command.name}: recorded: {status}: {out}{err}"
        self.changes = shim.read_record(record)
        self.check_replay(place)

    def check_replay(self, place):
        """Requires that a replay of everything gives the very bytes that the run left."""
        left = place / "left"
        self.stage.place.rename(left)
        disk = self.replayed(len(self.changes))
        disk.write_all(self.stage.place)
        found, expected = (bytes_below(it) for it in (self.stage.place, left))
        wrong = sorted(it for it in found.keys() | expected.keys() if found.get(it) != expected.get(it))
        assert not wrong, f"{self.stage.command.name}: the replay differs: {wrong[:3]}"

    def replayed(self, end):
        disk = copy.deepcopy(self.disk)
        for change in self.changes[:end]:
            disk.apply(change)
        return disk

    def try_cut(self, number, rng):
        """Returns problems as (kind, message)."""
        edges = [at for at, change in enumerate(self.changes) if change.kind in "SRUCT"]
        if edges and number % 2:
            end = min(len(self.changes), rng.choice(edges) + rng.randint(0, 1))
        else:
            end = rng.randint(0, len(self.changes))
        if number == 0:
            end = len(self.changes)
        self.replayed(end).write_cut(self.stage.place, rng)
        command = self.stage.command
        problems = []
        if end == len(self.changes) and command.is_durable and command.state(self.stage) != self.stage.after:
            problems.append(("lost", "the command had ended with status 0"))
        problems += self.stage.examine(-signal.SIGKILL, "", "", is_killed=True)
        return [(what, f"after change {end} of {len(self.changes)}: {message}") for what, message in problems]


def bytes_below(root):
    found = {}
    for path in pathlib.Path(root).rglob("*"):
        if path.name.endswith("-shm"):
            continue
        name = str(path.relative_to(root))
        found[name] = os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
    return found


def cuts(world, result, options, count):
    """Cuts the power `count` times in each command that changes files."""
    library = shim.build(world.work)
    commands = [it for it in ALL if it.power and options.command in (None, it.name)]

    def try_all(command, place):
        cases = Cuts(world.kb, place, library, command)
        for number in range(count) if options.n is None else [options.n]:
            result.count()
            rng = options.random(f"{options.seed}/{command.name}/{number}")
            for what, message in cases.try_cut(number, rng):
                result.fail(f"power: {command.name}: n={number}", what, message)

    in_parallel(world.work, options.workers, commands, try_all, result)
    result.note = f"{len(commands)} commands"
