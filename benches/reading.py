"""The policies of benches/policy: what an agent reads for a question, in tokens that it pays for."""

import collections
import json
import math
import pathlib
import re
import subprocess

AROUND = 2
LINES_AROUND = 10
LISTED = 10
DEPTHS = [1, 2, 3, 5, 8, 13, 20]
STOP = set("""a about after all also an and any are as at be been between by can could did do does during for from had
has have how if in into is it its many may might more most much not of on or other over should some such than that the
their them there these they this to under up used using was were what when where which who whom whose why will with
within would""".split())


def by_kb(search, show, question, budget):
    """Returns what an agent reads that searches once, and reads on at most once."""
    read = search(question.text, budget)
    first = re.search(r"chunks? (\d+)", read)
    if confidence(read) != "high" and first:
        read += "\n" + show(int(first.group(1)))
    return read


def confidence(read):
    found = re.search(r"confidence (\w+)", read.partition("\n")[0])
    return found and found.group(1)


def over_mcp(server):
    """Returns the policy of one search and at most one look around, over MCP."""
    def call(tool, **arguments):
        return server.ask("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"]

    search = lambda text, budget: call("kb_search", query=text, budget=budget)
    show = lambda chunk: call("kb_show", chunk=chunk, around=AROUND)
    return lambda question, budget: by_kb(search, show, question, budget)


def by_command(base):
    """Returns the same policy on the command line."""
    search = lambda text, budget: base.printed("search", f"--budget={budget}", "--format=agent", "--", text)
    show = lambda chunk: base.printed("show", f"--chunk={chunk}", f"--around={AROUND}", "--format=md")
    return lambda question, budget: by_kb(search, show, question, budget)


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


def ranked(question, files, num_files):
    """Returns the files with words of a question, those with most and the rarest first."""
    scores = weighed([{file for file, _ in places} for places in matches(question, files).values()], num_files)
    return sorted(scores, key=lambda file: (-scores[file], file))


def by_rg(ranking):
    """Yields the list of the best files, and their texts."""
    yield "\n".join(ranking[:LISTED]) + "\n"
    for file in ranking[:LISTED]:
        yield pathlib.Path(file).read_text(encoding="utf-8")


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


def nearest(kb, environment, asked):
    """Returns the texts of the nearest passages to each question."""
    command = [kb, "search", "--batch", "-", "--vec-only", "--copies", f"--top={DEPTHS[-1]}"]
    typed = "".join(json.dumps({"query": question.text}) + "\n" for question in asked)
    answer = subprocess.run(command, input=typed, env=environment, capture_output=True, text=True, check=True)
    return [[hit["text"] for hit in json.loads(line)["results"]] for line in answer.stdout.split("\n") if line]


class Base:
    """A knowledge base of PDF files, made by one program and kept for its next run."""

    def __init__(self, kb, environment, home, files):
        self.kb, self.home, self.environment = kb, home, environment(home)
        (home / "project").mkdir(parents=True, exist_ok=True)
        for command in (["init"], ["add", *map(str, files)]):
            self.printed(*command, "--quiet")

    def printed(self, *arguments):
        return subprocess.run([self.kb, *arguments], env=self.environment, stdout=subprocess.PIPE, text=True, check=True).stdout

    def knows_agent(self):
        command = [self.kb, "search", "--format=agent", "--help"]
        return subprocess.run(command, env=self.environment, capture_output=True).returncode == 0


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
