//! Tests how texts with commands and options are written.

use super::*;

/// Writes commands as `<...>`, and knows the words of one option.
fn in_angles(wording: &Wording) -> String {
    wording.in_words(|action| match action {
        UserAction::Command(command) => Some(format!("<{}>", command.typed())),
        UserAction::Option(name) => (*name == "--top").then(|| "top".to_owned()),
    })
}

#[track_caller]
fn check(wording: &Wording, typed: &str, angles: &str) {
    assert_eq!(wording.to_string(), typed);
    assert_eq!(in_angles(wording), angles);
}

#[test]
fn each_face_writes_commands_and_options_in_its_own_words() {
    let list = wording!("`{}` shows all ids", kb("list"));
    check(&list, "`kb list` shows all ids", "`<list>` shows all ids");
    let both = wording!("with `{}` or `{}`", option("--budget"), option("--top"));
    check(&both, "with `--budget` or `--top`", "with `--budget` or `top`");
    let values = wording!("the names are {}; `{} | less`", "a, b".to_owned(), kb("base list"));
    check(
        &values,
        "the names are a, b; `kb base list | less`",
        "the names are a, b; `<base list> | less`",
    );
    let then = list.then("; or ").then(wording!("`{}`", kb("show").arg(1)));
    check(
        &then,
        "`kb list` shows all ids; or `kb show 1`",
        "`<list>` shows all ids; or `<show 1>`",
    );
}

#[test]
fn text_that_looks_like_a_command_or_a_place_is_none() {
    for text in ["`kb list` of `--top`", "an odd ` mark", "{} and {", ""] {
        check(&text.into(), text, text);
        let inside = wording!("{}: `{}`", text, kb("list"));
        check(&inside, &format!("{text}: `kb list`"), &format!("{text}: `<list>`"));
    }
}

#[test]
fn arguments_are_quoted_where_a_shell_needs_it() {
    let typed = |command: KbCommand| command.typed();
    let add = kb("add").option("--note", phrase("to remember")).flag("--yes");
    assert_eq!(typed(add), "add --note \"to remember\" --yes");
    assert_eq!(typed(kb("search").arg(phrase("one"))), "search \"one\"");
    assert_eq!(typed(kb("search").arg(phrase("$HOME `x`"))), "search '$HOME `x`'");
    assert_eq!(typed(kb("search").arg(phrase("it's \"x\""))), "search 'it'\\''s \"x\"'");
    assert_eq!(typed(kb("search").arg("recipe -draft")), "search 'recipe -draft'");
    assert_eq!(typed(kb("update")), "update");
    let other = kb("reindex").option("--model-dir", r"C:\models\small");
    assert_eq!(typed(other), r"reindex --model-dir C:\models\small");
    assert_eq!(
        typed(kb("reindex").option("--model-dir", "/my models")),
        "reindex --model-dir '/my models'"
    );
}

#[test]
fn json_has_the_text_as_it_is_typed() {
    let wording = wording!("run `{}`", kb("config set").arg("a.b").arg("N"));
    assert_eq!(serde_json::to_value(wording).unwrap(), "run `kb config set a.b N`");
}
