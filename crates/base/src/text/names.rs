//! Finds the words of a document's name. Pure.

/// Returns the words by which a document is found: of its file name, its aliases and its nearest
/// folder. Names in camel case and digits are divided, and each name is also one word.
pub fn words<'a>(path: Option<&'a str>, aliases: impl IntoIterator<Item = &'a str>) -> String {
    let mut found: Vec<String> = Vec::new();
    let mut parts = path.unwrap_or_default().rsplit(['/', '\\']).filter(|part| !part.is_empty());
    let file = parts.next().unwrap_or_default();
    // The extension is part of the name where it is asked for: `node.js`, `setup.py`.
    let names = [file, parts.next().unwrap_or_default()].into_iter().chain(aliases);
    for name in names {
        // The words keep their order, so that phrases are found.
        let plain: Vec<String> =
            name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
        found.extend(plain.into_iter().filter(|word| !word.is_empty()));
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let joined: String = stem.chars().filter(|c| c.is_alphanumeric()).collect();
        for word in name.split(|c: char| !c.is_alphanumeric()).flat_map(divided).chain([&*joined]) {
            let word = word.to_lowercase();
            if !word.is_empty() && !found.contains(&word) {
                found.push(word);
            }
        }
    }
    found.join(" ")
}

/// Divides a word before capitals that begin a word, and between letters and digits.
fn divided(word: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut starts = vec![0];
    for (idx, pair) in chars.windows(2).enumerate() {
        let ((_, before), (at, c)) = (pair[0], pair[1]);
        let is_before_small = chars.get(idx + 2).is_some_and(|next| next.1.is_lowercase());
        let begins =
            c.is_uppercase() && (before.is_lowercase() || before.is_uppercase() && is_before_small);
        if begins || c.is_numeric() != before.is_numeric() {
            starts.push(at);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([word.len()]);
    starts.iter().zip(ends).map(|(start, end)| &word[*start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, aliases: &[&str], expected: &str) {
        assert_eq!(words(Some(path), aliases.iter().copied()), expected);
    }

    #[test]
    fn names_are_divided_as_people_write_them() {
        check(
            "/notes/2024-03-05 Board meeting.md",
            &[],
            "2024 03 05 board meeting md 20240305boardmeeting notes",
        );
        check(
            "/d/ReviewingGuidelines.adoc",
            &[],
            "reviewingguidelines adoc reviewing guidelines d",
        );
        check("/d/HTTPServer2.py", &[], "httpserver2 py http server 2 d");
        check("/src/snake_case.rs", &[], "snake case rs snakecase src");
        check("C:\\docs\\Kyoto.md", &["Old capital"], "kyoto md docs old capital oldcapital");
        assert_eq!(words(None, []), "");
    }
}
