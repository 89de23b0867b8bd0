"""Has the questions of benches/policy, and decides whether what was read has the evidence for one.

- papers, paragraphs (covidqa, xquad): the answer, with the words around it.
- reports (financebench): the rows of tables, or the sentences, of policy.reports.jsonl. Each question has one or more
  groups of them, and all of a group must have been read. A row is read if its label and its numbers are on one line, in
  this order and close together: the same figures under a label that was lost do not count.
- manuals: the sentence of policy.manuals.jsonl.

Sentences are compared by letters and digits alone, and rows by words and numbers alone. So the rules of a Markdown
table, the columns of `pdftotext -layout`, quotes, signs, brackets and breaks of lines do not matter.
"""

import json
import pathlib
import re
import unicodedata

HERE = pathlib.Path(__file__).resolve().parent
MARGIN = 20
# Words between a label and its numbers, as of "Receivables, net of allowances of $21 and $25, 1,875".
BETWEEN = 16


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def plain(text):
    """Returns a text in one form: without marks of quotations and code, in one line."""
    return " ".join(re.sub(r"(?m)^(> ?|```.*$)", "", text).split()).casefold()


def bare(text):
    """Returns the letters and digits of a text."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()


def words(text):
    """Returns the words and numbers of a text, without signs, brackets and currencies."""
    return re.findall(r"\d[\d,.]*\d|\d|[^\W\d_]+", unicodedata.normalize("NFKC", text).casefold())


def has_row(line, row):
    """Decides if the words of a line have those of a row in their order, close together."""
    for start in (at for at, word in enumerate(line) if word == row[0]):
        known = 0
        for word in line[start:start + len(row) + BETWEEN]:
            known += word == row[known]
            if known == len(row):
                return True
    return False


class Answer:
    """A question, and the texts of which one must be read."""

    def __init__(self, kind, text, spans):
        self.kind, self.text, self.spans = kind, text, spans

    def is_answered(self, read):
        read = plain(read)
        return any(span in read for span in self.spans)


class Facts:
    """A question, and the groups of rows and sentences of which one must be read."""

    def __init__(self, kind, text, groups):
        self.kind, self.text, self.groups = kind, text, groups

    def is_answered(self, read):
        prose, rows = bare(read), [words(line) for line in read.splitlines()]

        def is_read(fact):
            if "sentence" in fact:
                return bare(fact["sentence"]) in prose
            row = words(" ".join([fact["label"], *fact["numbers"]]))
            return any(has_row(line, row) for line in rows)

        return any(all(is_read(fact) for fact in group) for group in self.groups)


def texts(folder, kind, files, number):
    """Writes the documents of a collection as files and returns some of its questions, evenly chosen."""
    documents = {}
    for at, document in enumerate(lines(folder / "corpus.jsonl")):
        documents[str(document["_id"])] = document["text"]
        title = document.get("title") or ""
        (files / f"{kind}-{at:03}.txt").write_text(f"{title}\n\n{document['text']}\n", encoding="utf-8")
    answers = {str(answer["query_id"]): answer for answer in lines(folder / "answers.jsonl")}
    found = []
    for query in lines(folder / "queries.jsonl"):
        answer = answers.get(str(query["_id"]))
        spans = [span(documents[str(answer["doc_id"])], known) for known in answer["answers"]] if answer else []
        if spans:
            found.append(Answer(kind, query["text"].replace("\n", " "), spans))
    step = len(found) / number
    return [found[int(at * step)] for at in range(number)]


def span(text, answer):
    """Returns an answer with the words around it, within its line."""
    start, end = answer["start"], answer["start"] + len(answer["text"])
    before = text[max(0, start - MARGIN):start].rpartition("\n")[2]
    after = text[end:end + MARGIN].partition("\n")[0]
    # Words that the margin cuts are left out.
    before = before.partition(" ")[2] if start > MARGIN else before
    return plain(before + text[start:end] + after.rpartition(" ")[0])


def reports(folder):
    """Returns the PDF files of financebench, and its questions."""
    groups = {line["id"]: line["evidence"] for line in lines(HERE / "policy.reports.jsonl")}
    asked = [Facts("reports", query["text"], groups[query["_id"]]) for query in lines(folder / "queries.jsonl")]
    return sorted((folder / "files").glob("*.pdf")), asked


def manuals(folder):
    """Returns the manuals as PDF files, and the questions about them."""
    asked = [Facts("manuals", line["question"], [[line]]) for line in lines(HERE / "policy.manuals.jsonl")]
    return sorted(folder.glob("*.pdf")), asked
