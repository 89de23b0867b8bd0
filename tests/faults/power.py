"""Cuts the power at any moment of a command: unflushed changes are lost, in any part and any order.

shim.c records every change of a run. A replay up to some change keeps what was flushed. For the other changes,
each sector of 512 bytes may or may not be on disk, and the first few changes of names in each folder are.
"""

import contextlib
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


class Naming:
    """A change of names, in one folder or in two at once; on disk in all of these folders or in none."""

    def __init__(self, *parts):
        # A folder and the changes of its names.
        self.parts = parts
        self.is_flushed = False


class Disk:
    """The files and folders on disk, and the changes that are not flushed yet."""

    def __init__(self, root):
        self.root, self.last = str(root), 0
        # By number: bytes of files, names in folders, and the changes of both since the last flush.
        self.bytes, self.writes, self.names, self.namings = {}, {}, {}, {}
        self.by_inode = {}
        self.top = self.read_folder(self.root)

    def read_folder(self, folder):
        number = self.make_folder()
        for found in os.scandir(folder):
            if found.is_symlink():
                entry = ("link", os.readlink(found.path))
            elif found.is_dir():
                entry = ("folder", self.read_folder(found.path))
            else:
                entry = ("file", self.make_file(found.inode()))
                self.bytes[entry[1]] = pathlib.Path(found.path).read_bytes()
            self.names[number][found.name] = entry
        return number

    def make_folder(self):
        self.last += 1
        self.names[self.last], self.namings[self.last] = {}, []
        return self.last

    def make_file(self, inode):
        self.last += 1
        self.bytes[self.last], self.writes[self.last] = b"", []
        self.by_inode[inode] = self.last
        return self.last

    def current(self, folder):
        """Returns the names in a folder as running programs see them."""
        return self.named(folder, len(self.namings[folder]))

    def named(self, folder, count):
        names = dict(self.names[folder])
        for naming in self.namings[folder][:count]:
            for part, apply in naming.parts:
                if part == folder:
                    apply(names)
        return names

    def find(self, path):
        """Returns the folder at a path."""
        number = self.top
        for name in pathlib.Path(path).relative_to(self.root).parts:
            number = self.current(number)[name][1]
        return number

    def split(self, path):
        folder, name = os.path.split(path)
        return self.find(folder), name

    def put(self, *parts):
        naming = Naming(*parts)
        for folder in {folder for folder, _ in parts}:
            self.namings[folder].append(naming)

    def name(self, path, entry):
        folder, name = self.split(path)
        self.put((folder, lambda names: names.update({name: entry})))

    def is_folder(self, path):
        with contextlib.suppress(KeyError):
            return self.find(path) in self.names
        return False

    def apply(self, change):
        """Applies a change without flushing it; or flushes."""
        kind, path = change.kind, change.path
        if kind == "C":
            self.name(path, ("file", self.make_file(change.inode)))
        elif kind in "WT":
            self.writes[self.by_inode[change.inode]].append(change)
        elif kind == "S" and self.is_folder(path):
            self.flush_folder(self.find(path))
        elif kind == "S":
            file = self.by_inode[change.inode]
            self.bytes[file] = everything(self.bytes[file], self.writes[file])
            self.writes[file] = []
        elif kind == "M":
            self.name(path, ("folder", self.make_folder()))
        elif kind in "UD":
            folder, name = self.split(path)
            self.put((folder, lambda names: names.pop(name, None)))
        elif kind == "Y":
            self.name(path, ("link", change.other))
        elif kind == "L":
            self.name(change.other, self.entry(path))
        elif kind in "RE":
            self.move(path, change.other, kind == "E")
        else:
            raise ValueError(f"a change that replays do not know: {kind} {path}")

    def entry(self, path):
        folder, name = self.split(path)
        return self.current(folder)[name]

    def move(self, path, other, is_exchange):
        (folder, name), (to_folder, to_name) = self.split(path), self.split(other)
        entry, old = self.entry(path), self.entry(other) if is_exchange else None

        def leave(names):
            names.update({name: old}) if old else names.pop(name, None)

        self.put((folder, leave), (to_folder, lambda names: names.update({to_name: entry})))

    def flush_folder(self, folder):
        self.names[folder] = self.current(folder)
        for naming in self.namings[folder]:
            naming.is_flushed = True
        self.namings[folder] = []

    def write(self, names_of, bytes_of):
        """Writes the files that `names_of` and `bytes_of` return as on disk."""
        shutil.rmtree(self.root, ignore_errors=True)

        def write_folder(number, folder):
            os.mkdir(folder, mode=0o700)
            for name, (kind, value) in names_of(number).items():
                path = os.path.join(folder, name)
                if kind == "folder":
                    write_folder(value, path)
                elif kind == "link":
                    os.symlink(value, path)
                elif not name.endswith("-shm"):
                    pathlib.Path(path).write_bytes(bytes_of(value))
                    os.chmod(path, 0o600)

        write_folder(self.top, self.root)

    def write_all(self):
        """Writes everything as running programs see it."""
        self.write(self.current, lambda file: everything(self.bytes[file], self.writes[file]))

    def write_cut(self, rng):
        """Writes what is on disk if the power is cut now."""
        share = rng.choice([0, 0.3, 0.7, 0.95, 1])
        counts = {folder: rng.randint(0, len(namings)) for folder, namings in self.namings.items()}
        # If the change is on disk in one folder, it is also in the other, with all earlier changes
        # there.
        is_settled = False
        while not is_settled:
            on_disk = {id(naming) for folder, namings in self.namings.items()
                       for naming in namings[: counts[folder]]}
            is_settled = True
            for folder, namings in self.namings.items():
                for at, naming in enumerate(namings):
                    if (naming.is_flushed or id(naming) in on_disk) and at >= counts[folder]:
                        counts[folder], is_settled = at + 1, False
        self.write(lambda folder: self.named(folder, counts[folder]),
                   lambda file: torn(self.bytes[file], self.writes[file], share, rng))


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
    # Some file systems write the length of a file before its bytes.
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
        """Requires that a replay of everything gives exactly the bytes that the run left."""
        left = place / "left"
        self.stage.place.rename(left)
        self.replayed(len(self.changes)).write_all()
        found, expected = (bytes_below(folder) for folder in (self.stage.place, left))
        wrong = sorted(path for path in found.keys() | expected.keys() if found.get(path) != expected.get(path))
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
        self.replayed(end).write_cut(rng)
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
    commands = [command for command in ALL if command.power and options.command in (None, command.name)]

    def try_all(command, place):
        cases = Cuts(world.kb, place, library, command)
        for number in range(count) if options.n is None else [options.n]:
            result.count()
            rng = options.random(f"{options.seed}/{command.name}/{number}")
            for what, message in cases.try_cut(number, rng):
                result.fail(f"power: {command.name}: n={number}", what, message)

    in_parallel(world.work, options.workers, commands, try_all, result)
    result.note = f"{len(commands)} commands"
