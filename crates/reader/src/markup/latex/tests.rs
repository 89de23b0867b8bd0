//! Checks what becomes of LaTeX.

use crate::markup::testing::check;

#[test]
fn the_preamble_states_the_title_and_sections_are_headings() {
    let document = super::extract(
        "\\documentclass{article}\n\\usepackage{x}\n\\title{The \\emph{Gauge}}\n\\author{A. Writer}\n\\begin{document}\n\\maketitle\n\\section{Float}\\label{a}\nWords.\n\n\\subsection{Arm}\nMore.\n\\end{document}\nnot this\n",
    );
    assert_eq!(document.title.as_deref(), Some("The Gauge"));
    assert_eq!(document.metadata.author.as_deref(), Some("A. Writer"));
    assert_eq!(document.text, "# The Gauge\n\n# Float\n\nWords.\n\n## Arm\n\nMore.");
    assert_eq!(document.line_numbers, [3, 3, 7, 7, 8, 8, 10, 10, 11]);
}

#[test]
fn commands_become_the_words_they_set() {
    for (text, expected) in [
        ("A \\textbf{b} {\\it c} \\unknown[x]{d}~e % no\n", "A b c d e"),
        (
            "G\\\"odel, Erd\\H{o}s, \\'{e}t\\'e, \\ss, 5\\,\\%, a--b, ``c''",
            "Gödel, Erdős, été, ß, 5 %, a–b, “c”",
        ),
        (
            "\\href{https://a.org}{The page}, \\url{https://b.org}, \\cite{x}see \\ref{y}\\footnote{A note.}",
            "The page, https://b.org, see [y] (A note.)",
        ),
        ("Cost \\$5 of $a^2 \\le b$ and \\(c\\).", "Cost $5 of $a^2 \\le b$ and $c$."),
        (
            "\\newcommand{\\tide}[2][high]{#1 #2}\\tide{water} \\tide[low]{sand} \\verb|\\x|",
            "high water low sand `\\x`",
        ),
    ] {
        check(super::extract, text, &[expected]);
    }
}

#[test]
fn environments_keep_their_structure() {
    let text = "\\begin{itemize}\n\\item one\n\\item[two] more\n\\begin{enumerate}\\item inner\\end{enumerate}\n\\end{itemize}\n\\begin{tabular}{ll}\n\\hline a & b \\\\ 1 & \\textbf{2} \\\\\n\\end{tabular}\n\\begin{lstlisting}[language=C]\nint \\a;\n\\end{lstlisting}\n\\begin{comment}\nhidden\n\\end{comment}\n\\begin{equation}\nx = 1\n\\end{equation}\n";
    check(
        super::extract,
        text,
        &[
            "- one",
            "- two: more\n  1. inner",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
            "```C\nint \\a;\n```",
            "$$\nx = 1$$",
        ],
    );
}

#[test]
fn macros_that_grow_end() {
    let text = "\\newcommand{\\a}{\\a\\a\\a\\a}\\newcommand{\\b}{word \\b}\\a \\b end";
    let document = super::extract(text);
    assert!(document.text.ends_with("end"), "{}", document.text.len());
    assert!(document.text.len() < 1000);
}
