"""Converts files to Markdown with another program, called as kb is:
`peers.py NAME convert --format md --output DIR FILE...` writes DIR/<file name>.md per file that can be read.
"""

import pathlib
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 120
# The names that pandoc has for formats that it does not recognise by their extension.
PANDOC_FORMATS = {".htm": "html"}


def trafilatura():
    from trafilatura import extract
    return lambda path: extract(path.read_bytes())


def readability():
    from lxml import html
    from readability import Document
    from trafilatura.utils import decode_file
    # It has no separate decoder; it gets the one of trafilatura.
    return lambda path: html.fromstring(Document(decode_file(path.read_bytes())).summary()).text_content()


def markitdown():
    from markitdown import MarkItDown
    converter = MarkItDown()
    return lambda path: converter.convert(str(path)).text_content


def pdf_oxide():
    from pdf_oxide import PdfDocument
    return lambda path: PdfDocument(str(path)).to_markdown_all()


def opendataloader():
    import opendataloader_pdf

    def convert(path):
        with tempfile.TemporaryDirectory() as folder:
            opendataloader_pdf.convert([str(path)], output_dir=folder, format="markdown", quiet=True)
            return "\n".join(found.read_text(errors="replace") for found in pathlib.Path(folder).rglob("*.md"))
    return convert


def pandoc():
    def convert(path):
        known = PANDOC_FORMATS.get(path.suffix.lower())
        command = ["pandoc", "-t", "gfm", "--wrap=none", *(["-f", known] if known else []), str(path)]
        result = subprocess.run(command, capture_output=True, timeout=LIMIT_SECONDS)
        return result.stdout.decode("utf-8", "replace") if result.returncode == 0 else None
    return convert


PEERS = {function.__name__: function for function in [trafilatura, readability, markitdown, pdf_oxide, opendataloader, pandoc]}


def main():
    name, output, files = sys.argv[1], pathlib.Path(sys.argv[6]), sys.argv[7:]
    convert = PEERS[name]()
    output.mkdir(parents=True, exist_ok=True)
    for file in map(pathlib.Path, files):
        try:
            text = convert(file)
        except Exception as error:
            print(f"failed: {file}: {error}", file=sys.stderr)
            continue
        if text is not None:
            (output / f"{file.name}.md").write_text(text, errors="replace")


if __name__ == "__main__":
    main()
