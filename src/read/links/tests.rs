//! Tests of where links lead and of what leads to a document.

use super::*;

/// Names of documents: path, title and aliases. Ids count from 1.
fn names(documents: &[(Option<&str>, &str, &[&str])]) -> LinkTargetIndex {
    let all = documents.iter().zip(1..).map(|((path, title, aliases), id)| {
        let (title, path) = ((*title).into(), path.map(str::to_owned));
        let aliases = aliases.iter().map(|&alias| alias.into()).collect();
        (DocumentName { id: DocumentId(id), title, path }, aliases)
    });
    LinkTargetIndex::new(all.collect(), &["/vault".into(), "/vault/inner".into(), "/other".into()])
}

/// Follows the only link of a text.
#[track_caller]
fn check(names: &LinkTargetIndex, from: &str, text: &str, expected: Option<usize>) {
    let links = note_links(text);
    let [link] = links.as_slice() else { panic!("{links:?}") };
    let found = names.resolve(Some(from), link).map(|idx| idx + 1);
    assert_eq!(found, expected, "{text} in {from}");
}

#[test]
fn a_wikilink_names_a_file_an_alias_or_a_title_in_its_folder() {
    let names = names(&[
        (Some("/vault/places/Kyoto.md"), "Trips", &["Old capital", "A/B"]),
        (Some("/vault/tea.md"), "Kyoto", &[]),
        (Some("/vault/chart v1.2.png"), "chart", &[]),
        (Some("/other/Alone.md"), "Far away", &[]),
        (None, "A note", &[]),
    ]);
    let from = "/vault/inner/a.md";
    for (text, expected) in [
        ("[[kyoto]]", Some(1)),
        ("[[Kyoto.md|x]]", Some(1)),
        ("[[places/Kyoto#Autumn]]", Some(1)),
        ("[[../places/kyoto]]", Some(1)),
        ("[[/places/kyoto]]", Some(1)),
        ("[[old CAPITAL]]", Some(1)),
        ("[[a/b]]", Some(1)),
        ("[[trips]]", Some(1)),
        ("![[chart v1.2.png]]", Some(3)),
        ("[[chart v1.2]]", Some(3)),
        ("[[A note]]", Some(5)),
        ("[[laces/Kyoto]]", None),
        ("[[yoto]]", None),
        ("[[Alone]]", None),
    ] {
        check(&names, from, text, expected);
    }
    // A note is in no folder.
    check(&names, "", "[[Alone]]", Some(4));
    check(&names, "/other/b.md", "[[kyoto]]", None);
}

#[test]
fn a_relative_link_is_a_path() {
    let names = names(&[(Some("/vault/b c.md"), "B", &["Bee"]), (Some("/other/d.pdf"), "D", &[])]);
    for (text, expected) in [
        ("[x](../b%20c.md#y)", Some(1)),
        ("[x](../B%20C)", Some(1)),
        ("[x](../../other/d.pdf)", Some(2)),
        ("[x](b%20c.md)", None),
        ("[x](Bee)", None),
    ] {
        check(&names, "/vault/inner/a.md", text, expected);
    }
}

#[test]
fn a_link_to_a_folder_leads_to_its_index() {
    let names = names(&[
        (Some("/vault/guides/README.md"), "Guides", &[]),
        (Some("/vault/index.md"), "Start", &[]),
        (Some("/vault/plain/a.md"), "A", &[]),
    ]);
    for (text, expected) in [
        ("[x](../guides/)", Some(1)),
        ("[x](../Guides#y)", Some(1)),
        ("[x](../guides/readme.md)", Some(1)),
        ("[x](../)", Some(2)),
        ("[x](..)", Some(2)),
        ("[x](../plain/)", None),
        ("[x](guides/)", None),
        ("[[plain]]", None),
    ] {
        check(&names, "/vault/inner/a.md", text, expected);
    }
}

#[test]
fn the_nearest_document_is_meant_then_the_one_with_the_shortest_path() {
    let names = names(&[
        (Some("/vault/deep/er/n.md"), "1", &[]),
        (Some("/vault/n.md"), "2", &[]),
        (Some("/vault/n.canvas"), "3", &[]),
        (Some("/vault/bb/n.md"), "4", &[]),
        (Some("/vault/a/n.md"), "5", &[]),
        (Some("/vault/x.md"), "n", &["n"]),
    ]);
    for (from, expected) in [
        ("/vault/deep/er/z.md", 1),
        ("/vault/deep/z.md", 2),
        ("/vault/z.md", 2),
        ("/vault/bb/z.md", 4),
        ("/vault/c/z.md", 2),
        ("/vault/deep/er/est/z.md", 1),
    ] {
        check(&names, from, "[[N]]", Some(expected));
    }
}

#[test]
fn names_are_written_as_they_are_or_with_escapes() {
    let (_, mut document) = crate::read::testing::stored(crate::document::Format::Markdown, &[]);
    document.title = "Tee".into();
    document.path = Some("/a/Grüner Tee.md".into());
    let expected = ["Tee", "Grüner Tee", "Tee", "Tee", "Gr%C3%BCner%20Tee", "Grüner%20Tee"];
    assert_eq!(written_names(&document), expected);
}
