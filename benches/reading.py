"""The policies of benches/policy: what an agent reads for a question, in tokens that it pays for."""

import collections
import functools
import json
import math
import re
import subprocess

LINES_AROUND = 10
DEPTH = 100
STOP = set("""a about after all also an and any are as at be been between by can could did do does during for from had
has have how if in into is it its many may might more most much not of on or other over should some such than that the
their them there these they this to under up used using was were what when where which who whom whose why will with
within would""".split())


def by_kb(server, question, budget):
    """Returns what one call of kb_search answers."""
    call = {"name": "kb_search", "arguments": {"query": question.text, "budget": budget}}
    return server.ask("tools/call", call)["content"][0]["text"]


def texts_in(read):
    """Yields the texts of documents in an answer of kb: what is fenced or quoted."""
    fence = None
    for line in read.splitlines():
        mark = re.match(r"`{3,}", line)
        if fence and line == fence:
            fence = None
        elif fence:
            yield line
        elif mark:
            fence = mark.group()
        elif line.startswith("> "):
            yield line[2:]


def packed(hits):
    """Yields passages in order; a document is named before its first one."""
    seen = set()
    for hit in hits:
        source = hit["source"]
        is_new = source["document_id"] not in seen
        seen.add(source["document_id"])
        yield (f"{source['title']}\n" if is_new else "") + hit["text"] + "\n\n"


@functools.cache
def matches(question, files):
    """Returns where the words of a question are: file and line, by word."""
    words = {word for word in re.findall(r"[\w-]+", question.text.casefold()) if len(word) > 1 and word not in STOP}
    command = ["rg", "--line-number", "--no-heading", "--ignore-case", "--word-regexp", "--fixed-strings", "--"]
    found = {}
    for word in sorted(words):
        printed = subprocess.run([*command, word, files], capture_output=True, text=True).stdout
        found[word] = [tuple(line.split(":", 2)[:2]) for line in printed.split("\n") if line]
    return found


def weighed(found, num_all):
    """Returns the places with words of a question, each with the weights of its words, of which rare ones have more."""
    scores = collections.Counter()
    for places in found:
        for place in places:
            scores[place] += math.log(1 + num_all / len(places))
    return scores


def by_files(question, files, texts):
    """Yields the texts of the files with most of a question's words, rare ones counting more."""
    found = matches(question, next(iter(files)).parent)
    scores = weighed([{file for file, _ in places} for places in found.values()], len(files))
    for file in sorted(scores, key=lambda file: (-scores[file], file)):
        yield texts[file]


def by_lines(question, texts):
    """Yields the lines around those with most words of a question, from texts by their file."""
    found = matches(question, next(iter(texts)).rpartition("/")[0])
    of_files = weighed([{file for file, _ in places} for places in found.values()], len(texts))
    of_lines = weighed([set(places) for places in found.values()], sum(map(len, texts.values())))
    seen = set()
    for file, line in sorted(of_lines, key=lambda place: (-of_lines[place] - of_files[place[0]], place[0], int(place[1]))):
        around = range(max(0, int(line) - 1 - LINES_AROUND), min(len(texts[file]), int(line) + LINES_AROUND))
        if (file, int(line) - 1) not in seen:
            unseen = [at for at in around if (file, at) not in seen]
            seen |= {(file, at) for at in unseen}
            yield f"{file}:{unseen[0] + 1}\n" + "\n".join(texts[file][at] for at in unseen) + "\n"


def filled(parts, budget, encoding):
    """Returns as much of the parts as fits."""
    tokens = []
    for part in parts:
        if len(tokens) >= budget:
            break
        tokens += encoding.encode(part)
    return encoding.decode(tokens[:budget])


def ranked(base, asked, flags):
    """Returns the first passages for each question."""
    command = [base.kb, "search", "--batch", "-", f"--top={DEPTH}", *flags]
    typed = "".join(json.dumps({"query": question.text}) + "\n" for question in asked)
    answer = subprocess.run(command, input=typed, env=base.environment, capture_output=True, text=True, check=True)
    return [json.loads(line)["results"] for line in answer.stdout.split("\n") if line]


class Base:
    """A knowledge base of PDF files, made by one program and kept for its next run."""

    def __init__(self, kb, environment, home, files):
        self.kb, self.home, self.environment = kb, home, environment(home)
        (home / "project").mkdir(parents=True, exist_ok=True)
        for command in (["init"], ["add", *map(str, files)]):
            self.printed(*command, "--quiet")

    def printed(self, *arguments):
        return subprocess.run([self.kb, *arguments], env=self.environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def layouts(files, folder):
    """Converts PDF files with pdftotext, once, and returns the lines of each text."""
    folder.mkdir(exist_ok=True)
    texts = {}
    for file in files:
        text = folder / f"{file.stem}.txt"
        if not text.exists():
            subprocess.run(["pdftotext", "-layout", file, text], check=True)
        # Lines end as for rg, not at the breaks of pages.
        texts[str(text)] = text.read_text(encoding="utf-8", errors="replace").split("\n")
    return texts
