"""Describes each command that reads or writes the user's data: the state before it, its arguments, what it
may leave when it is disturbed, and how it is repeated.
"""

import hashlib
import json
import os
import pathlib
import shutil
import sqlite3

from world import DRAFT, SHORT_CHUNKS, text, write


class Command:
    """A command that changes the database and can be repeated with the same arguments."""

    name = ""
    words = []
    # The status of an undisturbed run, and whether it changes anything that `state` returns.
    status = 0
    changes = True
    # Whether it goes on until a signal ends it.
    is_endless = False
    # Whether there is something to repair before the command.
    starts_damaged = False
    # Whether power cuts are also tried, and whether the result of a run is on disk when it ends.
    power, is_durable = False, False

    def prepare(self, stage):
        add_folder(stage, "old", 4, "first")

    def args(self, _stage):
        return self.words

    def state(self, stage):
        return {("document", path): document for path, document in stage.content().items()}

    def roots(self, stage):
        """Returns the folders whose files are disturbed."""
        return [stage.place]

    def is_right(self, _state):
        """Whether an undisturbed run left the expected state."""
        return True

    def may_be(self, _stage, _key, _value):
        """Whether something may differ both from the state before and from the one after."""
        return False

    def is_partial(self, _text):
        """Whether a run that ended with status 0 reports that it left something out."""
        return False

    def again(self, stage, _state):
        return self.args(stage)

    def write_more(self, stage):
        """Makes kb write once more where the command does, if repeating it finds nothing to do; returns whether
        it did. By default, to the list of known databases, which every command that makes one writes.
        """
        return stage.run(["base", "add", "more"])[0] == 0

    def may_stay(self, name):
        """Whether a file that no undisturbed run leaves may stay: the list of files that could not be read, the line
        of a killed run, which the next one deletes, and copies that kb made, whose names have the time in them.
        """
        return name.endswith(("ingest-errors.log", "/kb.db-run")) or "/kb-before-" in name

    def is_done(self, _stage):
        """Whether a command that goes on for ever has done its work."""
        return False


def add_folder(stage, name, count, tags):
    folder = stage.world.folder(name, count, name)
    stage.world.ok(stage.db, "add", folder, "--tags", tags)
    return folder


def tree(folder):
    """Returns a hash over the names and bytes of all files below a folder; `None` if it is missing."""
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(os.fsencode(path.relative_to(folder)) + b"\0")
        digest.update(path.read_bytes() if path.is_file() else b"folder")
    return digest.hexdigest()


def files_of(folder):
    """Returns the hash of each file below a folder, by its name; files that kb has not finished are not listed."""
    folder = pathlib.Path(folder)
    found = (path for path in folder.rglob("*") if path.is_file() and DRAFT not in str(path.relative_to(folder)))
    return {str(path.relative_to(folder)): file_hash(path) for path in sorted(found)}


def file_hash(path):
    path = pathlib.Path(path)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def one(key, value):
    """Returns a state with one entry; an empty one without a value."""
    return {} if value is None else {key: value}


class FirstAdd(Command):
    name, words, power = "first add", ["add", "docs"], True

    def prepare(self, stage):
        stage.world.folder("docs", 4, "docs")

    def is_partial(self, text):
        return "failed" in text


class Add(Command):
    name, words, power = "add", ["add", "new", "--tags", "second"], True

    def prepare(self, stage):
        super().prepare(stage)
        stage.world.folder("new", 6, "new")

    def is_partial(self, text):
        return "failed" in text


class Update(Command):
    name, words, power = "update", ["update", "--prune", "--force"], True

    def prepare(self, stage):
        files = sorted(add_folder(stage, "old", 8, "first").rglob("*.md"))
        write(files[0], text("changed", 3))
        files[1].rename(files[1].with_name("moved.md"))
        files[2].unlink()
        write(files[3].with_name("added.md"), text("added"))

    def may_be(self, stage, _key, now):
        # A moved document has its old path until the new one is seen.
        return now is not None and any(was[0] == now[0] and was[5] == now[5] for was in stage.before.values())

    def is_partial(self, text):
        return " 0 failed" not in text


class Reread(Command):
    """Documents are made again with other settings, each in one transaction; ids and tags stay."""

    name, words, power = "update --reread", ["update", "--reread"], True

    def prepare(self, stage):
        add_folder(stage, "old", 6, "first")
        write(stage.db / "config.yaml", SHORT_CHUNKS)

    def is_partial(self, text):
        return " 0 failed" not in text


class Watch(Update):
    """Ends when it is stopped: after it has done what `kb update` does, or when it does no more."""

    name, words, power = "watch", ["watch"], False
    is_endless = True

    def is_done(self, stage):
        files = {str(path): file_hash(path) for path in (stage.home / "old").rglob("*.md")}
        found = stage.content()
        # The missing file stays until `kb update --prune`.
        return (len(found) == len(files) + 1
                and all(path in found and found[path][0] == digest and found[path][4] == (path,)
                        for path, digest in files.items()))

    def is_partial(self, _text):
        # It reports a failure and goes on.
        return True


class Remove(Command):
    name, words, power = "remove", ["remove", "--yes", "--format", "json"], True
    ids = ["2", "3", "5"]

    def prepare(self, stage):
        add_folder(stage, "old", 6, "first")

    def args(self, _stage):
        return self.words + self.ids

    def again(self, stage, _state):
        listed = json.loads(stage.world.ok(stage.db, "list", "--format", "json"))
        left = [str(document["id"]) for document in listed if str(document["id"]) in self.ids]
        # Removing a document twice would be an error.
        return self.words + left if left else None


class Reindex(Command):
    name, words, changes, power = "reindex", ["reindex"], False, True


class Tag(Command):
    name, words, power = "tag", ["tag", "2", "--add", "x,y", "--remove", "first"], True


class ConfigSet(Command):
    name, words, power = "config set", ["config", "set", "search.default_top", "7"], True
    is_durable = True

    def prepare(self, stage):
        super().prepare(stage)
        write(stage.db / "config.yaml", "# mine\nsearch:\n  default_top: 3 # few\n")

    def state(self, stage):
        return super().state(stage) | one("config.yaml", file_hash(stage.db / "config.yaml"))

    def write_more(self, stage):
        return stage.run(["config", "set", "search.default_top", "8"])[0] == 0


class Backup(Command):
    name, words, power, is_durable = "backup", ["backup", "copy.db"], True, True
    copy_name = "copy.db"

    def state(self, stage):
        copy = stage.home / self.copy_name
        if not copy.exists():
            return super().state(stage)
        value = ("unsound", stage.faults(copy)) if stage.faults(copy) else stage.content(copy)
        return super().state(stage) | {"backup": value}

    def is_right(self, state):
        documents = {key[1]: document for key, document in state.items() if key[0] == "document"}
        return self.status != 0 or state["backup"] == documents

    def again(self, stage, state):
        # Without --force a backup that is already complete is refused.
        return None if state.get("backup") == stage.after["backup"] else self.args(stage)


class BackupForce(Backup):
    name, words = "backup --force", ["backup", "copy.db", "--force"]

    def prepare(self, stage):
        super().prepare(stage)
        stage.world.ok(stage.db, "backup", "copy.db")
        add_folder(stage, "new", 2, "second")

    def again(self, stage, _state):
        return self.args(stage)


class BackupOverLog(Backup):
    """Remains of a killed process next to the target must not be taken for part of the new copy."""

    name, words = "backup --force over a leftover log", ["backup", "other/kb.db", "--force"]
    copy_name = "other/kb.db"

    def prepare(self, stage):
        super().prepare(stage)
        folder = stage.world.folder("other-docs", 3, "other")
        made = stage.place / "made"
        stage.world.ok(made, "add", folder)
        reader = sqlite3.connect(made / "kb.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM documents").fetchone()
        stage.world.ok(made, "tag", "1", "--add", "x")
        (stage.home / "other").mkdir(mode=0o700)
        for name in ("kb.db", "kb.db-wal"):
            shutil.copyfile(made / name, stage.home / "other" / name)
        reader.close()
        shutil.rmtree(made)

    def again(self, stage, _state):
        return self.args(stage)


class Verify(Backup):
    name, words, changes, power = "backup --verify", ["backup", "--verify", "copy.db"], False, False

    def prepare(self, stage):
        super().prepare(stage)
        stage.world.ok(stage.db, "backup", "copy.db")

    def again(self, stage, _state):
        return self.args(stage)


class VerifyDamaged(Verify):
    """A damaged copy must never be reported as sound, whatever fails while it is checked."""

    name, status = "backup --verify of a damaged file", 2

    def prepare(self, stage):
        super().prepare(stage)
        db = sqlite3.connect(stage.home / "copy.db", isolation_level=None)
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("DELETE FROM documents WHERE id = 1")
        db.close()


class Import(Command):
    name, words, power = "import", ["import", "export.jsonl"], True

    def prepare(self, stage):
        other = stage.place / "other-db"
        folder = stage.world.folder("other", 4, "other")
        stage.world.ok(other, "add", folder)
        stage.world.ok(other, "export", "export.jsonl", "--vectors")
        shutil.rmtree(other)
        super().prepare(stage)

    def is_partial(self, text):
        return "failed" in text and " 0 failed" not in text


class MergingImport(Command):
    """Each document has the edits of one side or of both, and nothing is lost."""

    name, words, power = "merging import", ["import", "export.jsonl"], True

    def prepare(self, stage):
        super().prepare(stage)
        stage.world.ok(stage.db, "add", "--note", text("note"), "--title", "Note")
        other = stage.place / "other-db"
        shutil.copytree(stage.db, other)
        stage.world.ok(other, "tag", "1", "2", "5", "--add", "other")
        stage.world.ok(other, "edit", "2", "--title", "Theirs")
        stage.world.ok(other, "add", "--replace", "5", "--note", text("their note"))
        stage.world.ok(other, "export", "export.jsonl", "--vectors")
        shutil.rmtree(other)
        stage.world.ok(stage.db, "tag", "2", "3", "--add", "mine")

    def is_partial(self, text):
        return "failed" in text and " 0 failed" not in text


class Relocate(Command):
    """Either all documents are at their new path, or none is."""

    name, words, power = "relocate", ["relocate", "old", "moved"], True

    def prepare(self, stage):
        folder = add_folder(stage, "old", 8, "first")
        folder.rename(folder.with_name("moved"))

    def is_right(self, state):
        return all("/moved/" in key[1] for key in state)

    def again(self, stage, state):
        # A folder that has been relocated is unknown.
        return None if state == stage.after else self.args(stage)


class Export(Command):
    name, words, power, is_durable = "export", ["export", "export.jsonl", "--vectors"], True, True

    def state(self, stage):
        return super().state(stage) | one("export.jsonl", file_hash(stage.home / "export.jsonl"))

    def again(self, stage, state):
        # An export that is already complete is not overwritten.
        return None if state.get("export.jsonl") == stage.after["export.jsonl"] else self.args(stage)


class DoctorFix(Command):
    name, words, starts_damaged = "doctor --fix", ["doctor", "--fix"], True

    def prepare(self, stage):
        super().prepare(stage)
        db = sqlite3.connect(stage.db / "kb.db", isolation_level=None)
        db.execute("INSERT INTO tags (name) VALUES ('loose')")
        db.execute("UPDATE chunks_sizes_blocks SET sizes = zeroblob(2048)")
        db.close()

    def state(self, stage):
        state = super().state(stage)
        db = sqlite3.connect(stage.copy(stage.db / "kb.db") / "kb.db")
        for table, query in (("tags", "SELECT name FROM tags ORDER BY name"),
                             ("sizes", "SELECT hex(sizes) FROM chunks_sizes_blocks ORDER BY block")):
            state[table] = tuple(db.execute(query))
        db.close()
        return state

    def may_be(self, _stage, key, value):
        # Parts are rebuilt one after the other.
        return key == "sizes" and value is not None

    def is_partial(self, _text):
        return False


class SkillBuild(Command):
    """An index is either unusable, and reported as such, or it answers correctly."""

    name, words, power = "skill build", ["skill", "build", "skill"], True

    def prepare(self, stage):
        write_skill(stage.home / "skill", "skill")

    def state(self, stage):
        status, out, err = stage.run(["skill", "search", "skill", "harbour", "--format", "json"])
        if status == 0:
            return {"index": [result["snippet"] for result in json.loads(out)["results"]]}
        return {"index": "unusable" if status == 1 and "E002" in err else f"status {status}: {out}{err}"}

    def may_be(self, _stage, _key, value):
        return value == "unusable"

    def write_more(self, stage):
        write(stage.home / "skill" / "references" / "more.md", text("more"))
        return stage.run()[0] == 0

    def may_stay(self, name):
        # Searches are logged in the skill's runtime directory, or in the fallback log.
        return "logs.db" in name or "/.skillc/logs" in name


class SkillRebuild(SkillBuild):
    name = "skill build of a changed skill"

    def prepare(self, stage):
        super().prepare(stage)
        stage.world.ok(stage.db, "skill", "build", "skill")
        write(stage.home / "skill" / "references" / "1.md", text("skill/changed", 3))


class SkillImport(SkillBuild):
    name, words = "skill build --import --force", ["skill", "build", "skill", "--import", "--force"]
    power = True

    def prepare(self, stage):
        super().prepare(stage)
        stage.world.ok(stage.db, "skill", "build", "skill", "--import")
        write(stage.home / "skill" / "references" / "1.md", text("skill/changed", 3))
        write(stage.home / "skill" / "references" / "new.md", text("skill/new", 2))

    def state(self, stage):
        return one("skill", tree(stage.home / ".skillc/skills/skill"))


class SkillSearch(SkillBuild):
    name, words = "skill search", ["skill", "search", "skill", "salt", "--format", "json"]
    changes, power = False, False

    def prepare(self, stage):
        super().prepare(stage)
        stage.world.ok(stage.db, "skill", "build", "skill")


class Search(Command):
    """Only reads; under a fault it prints the right answer or an error."""

    name, words, changes = "search", ["search", "harbour salt", "--fts-only"], False


class Restore(Command):
    """The database is the one from before or the restored one, whole."""

    name, words, power, is_durable = "restore", ["restore", "copy.db"], True, True

    def prepare(self, stage):
        super().prepare(stage)
        stage.world.ok(stage.db, "backup", "copy.db")
        add_folder(stage, "new", 3, "second")
        stage.world.ok(stage.db, "remove", "1", "--yes")

    def state(self, stage):
        documents = tuple(sorted(stage.content().items()))
        return {"database": documents} | one("backup", file_hash(stage.home / "copy.db"))


class AddNote(Command):
    # The same text twice is one note.
    name, words, power = "add --note", ["add", "--note", text("note"), "--title", "Note", "--tags", "new"], True


class Edit(Command):
    """The title is also in the context of the chunks, which are embedded again."""

    name, power = "edit", True
    words = ["edit", "2", "--title", "Other", "--tags", "x,y", "--date", "2026-02-03"]


class TagsRename(Command):
    name, words, power = "tags rename", ["tags", "rename", "first", "third"], True

    def again(self, stage, state):
        # A tag that has been renamed is unknown.
        return None if state == stage.after else self.args(stage)


class RemoveIgnore(Command):
    """A rule that keeps a file away is written before the document goes, so that it never comes back."""

    name, words, power = "remove --ignore", ["remove", "2", "--ignore", "--yes"], True

    def state(self, stage):
        rules = stage.home / "old/.kbignore"
        return super().state(stage) | one("rules", rules.read_text() if rules.exists() else None)

    def again(self, stage, state):
        # Removing a document twice would be an error.
        return None if state == stage.after else self.args(stage)


class Waive(Command):
    name, words, power = "files --waive", ["files", "--waive", "old"], True

    def prepare(self, stage):
        super().prepare(stage)
        (stage.home / "old/bad.md").write_bytes(bytes(range(4)) * 64)
        stage.world.ok(stage.db, "update")

    def state(self, stage):
        db = sqlite3.connect(stage.copy(stage.db / "kb.db") / "kb.db")
        state = super().state(stage) | {"ledger": tuple(db.execute("SELECT path, outcome FROM ledger ORDER BY path"))}
        db.close()
        return state


class Convert(Command):
    """Each result is complete, or not there."""

    name, words, power = "convert", ["convert", "docs", "--output", "out"], True

    def prepare(self, stage):
        super().prepare(stage)
        stage.world.folder("docs", 3, "docs")

    def state(self, stage):
        return super().state(stage) | files_of(stage.home / "out")

    def is_partial(self, text):
        return "failed" in text

    def write_more(self, stage):
        write(stage.home / "docs/sub0/more.md", text("more"))
        return stage.run()[0] == 0


class BaseAdd(Command):
    name, words, power = "base add", ["base", "add", "work", "--description", "of the office"], True

    def state(self, stage):
        listed = json.loads(stage.world.ok(stage.db, "base", "list", "--format", "json"))["bases"]
        return super().state(stage) | {"bases": tuple(sorted(base["name"] for base in listed))}


class BaseRename(BaseAdd):
    name, words = "base rename", ["base", "rename", "work", "office"]

    def prepare(self, stage):
        super().prepare(stage)
        stage.world.ok(stage.db, "base", "add", "work")

    def again(self, stage, state):
        # A base that has been renamed is unknown.
        return None if state == stage.after else self.args(stage)


class McpInstall(Command):
    """The user's other settings stay, byte for byte."""

    name, words = "mcp install", ["mcp", "install", "--client", "cursor", "--yes"]
    power = True

    def prepare(self, stage):
        super().prepare(stage)
        write(stage.home / ".cursor/mcp.json", '{ "mcpServers": { "mine": { "command": "x" } } } // mine\n')

    def state(self, stage):
        return super().state(stage) | one("settings", file_hash(stage.home / ".cursor/mcp.json"))

    def write_more(self, stage):
        return stage.run([*self.words, "--allow-write"])[0] == 0


class SkillInit(Command):
    name, words, power = "skill init", ["skill", "init", "tides", "--global"], True

    def state(self, stage):
        return super().state(stage) | files_of(stage.home / ".skillc/skills/tides")

    def again(self, stage, state):
        # A skill that exists is not made again.
        return None if state == stage.after else self.args(stage)


class SkillInstall(Command):
    name, words, power = "skill install", ["skill", "install", "--target", "claude", "--yes"], True

    def state(self, stage):
        return super().state(stage) | files_of(stage.home / ".claude/skills/kb")


def write_skill(folder, seed):
    write(folder / "SKILL.md", "---\nname: skill\ndescription: faults\n---\n" + text(seed))
    for number in range(4):
        write(folder / "references" / f"{number}.md", text(f"{seed}/{number}"))


ALL = [FirstAdd, Add, AddNote, Update, Reread, Watch, Remove, RemoveIgnore, Reindex, Edit, Tag, TagsRename, Waive,
       ConfigSet, Backup, BackupForce, BackupOverLog, Verify, VerifyDamaged, Restore, Import, MergingImport, Relocate,
       Export, Convert, BaseAdd, BaseRename, DoctorFix, McpInstall, SkillBuild, SkillRebuild, SkillImport, SkillSearch,
       SkillInit, SkillInstall, Search]

# Groups in `kb --help` whose commands only read, or write what the same command makes again, and other commands that
# are not disturbed here, with the reason.
READING_GROUPS = {"Find", "Read", "Learn more"}
READS, OTHER_CLASS = "it only reads", "another class disturbs it"
NOT_DISTURBED = {
    **dict.fromkeys(["status", "eval", "embed", "model"], READS),
    "init": "it makes a database as `first add` does",
    "push": "it writes to PostgreSQL",
    "cache": OTHER_CLASS,
}


def not_covered(help_text):
    """Returns the commands in the text of `kb --help` that are not disturbed, and for which there is no reason."""
    group, named = None, set()
    for line in help_text.split("Options:")[0].splitlines():
        if line.endswith(":"):
            group = line[:-1]
        elif line.startswith("  ") and group not in READING_GROUPS:
            named.add(line.split()[0])
    return sorted(named - {words[0] for words in (command.words for command in ALL)} - NOT_DISTURBED.keys())
