//! Tests what is read of lists of references.

use super::*;
use crate::markup::testing::{blocks, check};

#[test]
fn an_entry_of_bibtex_is_a_section() {
    check(
        bibtex::extract,
        "% tides\n@article{voss2019,\n  author = {Voss, Maren and {World Health Organization} and Jo\\~ao da Silva and others},\n  \
         title = \"{North} {S}ea 50\\% tides -- a r{\\'e}sum{\\'e}\",\n  journal = jocean # { Letters},\n  year = 2019, month = mar,\n  \
         pages = {45--67},\n  doi = {10.1000/a\\_b},\n  abstract = {Low water.\n  High 5% water.},\n  file = {/home/a.pdf}\n}\n",
        &[
            "## North Sea 50% tides – a résumé",
            "Authors: Maren Voss; World Health Organization; João da Silva; et al.\nJournal: jocean Letters\nYear: 2019\n\
             Month: March\nPages: 45–67\nDOI: 10.1000/a_b\nReference: article voss2019",
            "Low water. High 5% water.",
        ],
    );
}

#[test]
fn strings_are_replaced_and_comments_are_left_out() {
    let document = bibtex::extract(
        "@string{jo = \"Journal of Tides\"}\nfree text\n@comment{not this}\n@book(low, title = {Low}, publisher = jo)",
    );
    assert_eq!(blocks(&document), ["## Low", "Publisher: Journal of Tides\nReference: book low"]);
    let counts: Vec<(WordDestination, u32)> = document.metadata.words.unwrap().counts().collect();
    assert_eq!(counts, [(WordDestination::Markup, 4)]);
}

#[test]
fn an_entry_that_is_not_closed_ends_before_the_next_one() {
    check(
        bibtex::extract,
        "@misc{a, title = {Open\n@misc{b, title = {Next}}\n@misc{c, note = {Only a note}}",
        &[
            "## Open", "Reference: misc a", "## Next", "Reference: misc b", "## c",
            "Reference: misc c", "Only a note",
        ],
    );
    check(bibtex::extract, "words @ no entry", &[]);
}

#[test]
fn tagged_references_are_read() {
    check(
        ris::extract,
        "TY  - JOUR\nAU  - Voss, Maren\nAU  - Silva, João\nTI  - Tides of\n the sea\nJO  - Ocean\nPY  - 2019\nKW  - tide\nKW  - sea\n\
         DO  - 10.1/x\nN1  - Read twice\nXX  - seven\nID  - v19\nER  - \n\nTY  - BOOK\nTI  - Low\nER  -\n",
        &[
            "## Tides of the sea",
            "Authors: Maren Voss; João Silva\nJournal: Ocean\nYear: 2019\nKeywords: tide; sea\nDOI: 10.1/x\nXX: seven\n\
             Reference: JOUR v19",
            "Read twice",
            "## Low",
            "Reference: BOOK",
        ],
    );
}

#[test]
fn references_of_pubmed_are_read() {
    check(
        ris::extract,
        "PMID- 77\nOWN - NLM\nTI  - Tides and\n      hearts.\nAB  - Low.\nFAU - Voss, Maren\nAU  - Voss M\nJT  - Ocean\nMH  - Tide\n\n\
         PMID- 78\nTI  - Next\n",
        &[
            "## Tides and hearts.",
            "PMID: 77\nAuthors: Maren Voss\nJournal: Ocean\nKeywords: Tide",
            "Low.",
            "## Next",
            "PMID: 78",
        ],
    );
}
