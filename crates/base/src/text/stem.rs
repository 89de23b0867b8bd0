//! Stems a word like FTS5's tokenizer `porter`, so that the marked words of a text are the found
//! ones (M. F. Porter, An algorithm for suffix stripping, 1980).
//!
//! Snowball's Porter is the paper of 1980; FTS5 has its author's later rules for `logi` and `bli` too. They differ in 195
//! of 417,921 words of the collections for measuring, such as `topology` and `assembly`.

/// Longer words keep their endings, as in FTS5 (`FTS5_PORTER_MAX_TOKEN`).
const MAX_LEN: usize = 64;

/// A suffix and its replacement, used if the rest of the word is long enough.
type Rule = (&'static str, &'static str);

/// Steps 2 and 3: compound suffixes.
const DOUBLE: [&[Rule]; 2] = [
    &[
        ("ational", "ate"),
        ("tional", "tion"),
        ("enci", "ence"),
        ("anci", "ance"),
        ("izer", "ize"),
        ("logi", "log"),
        ("bli", "ble"),
        ("alli", "al"),
        ("entli", "ent"),
        ("eli", "e"),
        ("ousli", "ous"),
        ("ization", "ize"),
        ("ation", "ate"),
        ("ator", "ate"),
        ("alism", "al"),
        ("iveness", "ive"),
        ("fulness", "ful"),
        ("ousness", "ous"),
        ("aliti", "al"),
        ("iviti", "ive"),
        ("biliti", "ble"),
    ],
    &[
        ("icate", "ic"),
        ("ative", ""),
        ("alize", "al"),
        ("iciti", "ic"),
        ("ical", "ic"),
        ("ful", ""),
        ("ness", ""),
    ],
];

/// Step 4: suffixes removed from long words.
const LONG: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

/// Returns the stem of a word in lower case.
pub fn stem(word: &str) -> String {
    if word.len() < 3 || word.len() > MAX_LEN || !word.is_ascii() {
        return word.to_owned();
    }
    let mut word = word.to_owned();
    // Steps 1a to 1c of the algorithm: plurals, the past, and `y` as `i`.
    plural(&mut word);
    past(&mut word);
    if word.strip_suffix('y').is_some_and(has_vowel) {
        replace(&mut word, "y", "i");
    }
    for rules in DOUBLE {
        if let Some((suffix, other)) = longest(rules, |rule| rule.0, &word)
            && measure(before(&word, suffix)) > 0
        {
            replace(&mut word, suffix, other);
        }
    }
    // Step 4: the last suffix of a long stem.
    if let Some(suffix) = longest(LONG, |suffix| suffix, &word) {
        let rest = before(&word, suffix);
        if measure(rest) > 1 && (*suffix != "ion" || rest.ends_with(['s', 't'])) {
            replace(&mut word, suffix, "");
        }
    }
    // Steps 5a and 5b: a final `e`, and a doubled `l`.
    if let Some(rest) = word.strip_suffix('e')
        && (measure(rest) > 1 || measure(rest) == 1 && !is_short(rest))
    {
        word.pop();
    }
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 {
        word.pop();
    }
    word
}

/// Step 1a.
fn plural(word: &mut String) {
    let rules = [("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")];
    if let Some((suffix, other)) = longest(&rules, |rule| rule.0, word) {
        replace(word, suffix, other);
    }
}

/// Step 1b.
fn past(word: &mut String) {
    if let Some(rest) = word.strip_suffix("eed") {
        if measure(rest) > 0 {
            word.pop();
        }
        return;
    }
    let Some(suffix) = ["ed", "ing"].into_iter().find(|suffix| word.ends_with(suffix)) else {
        return;
    };
    if !has_vowel(before(word, suffix)) {
        return;
    }
    replace(word, suffix, "");
    if ["at", "bl", "iz"].iter().any(|ending| word.ends_with(ending)) {
        word.push('e');
    } else if is_doubled(word) && !word.ends_with(['l', 's', 'z']) {
        word.pop();
    } else if measure(word) == 1 && is_short(word) {
        word.push('e');
    }
}

/// Returns the rule with the longest suffix that a word has.
fn longest<'a, T>(rules: &'a [T], suffix: impl Fn(&T) -> &str, word: &str) -> Option<&'a T> {
    let last = word.as_bytes().last();
    // The last letter decides nearly always.
    let matching = rules.iter().filter(|rule| {
        let suffix = suffix(rule);
        suffix.as_bytes().last() == last && word.ends_with(suffix)
    });
    matching.max_by_key(|rule| suffix(rule).len())
}

fn before<'a>(word: &'a str, suffix: &str) -> &'a str {
    &word[..word.len() - suffix.len()]
}

fn replace(word: &mut String, suffix: &str, other: &str) {
    word.truncate(word.len() - suffix.len());
    word.push_str(other);
}

/// Whether each letter is a vowel; `y` is one after a consonant.
fn vowels(word: &str) -> impl Iterator<Item = bool> {
    word.bytes().scan(false, |is_after_consonant, letter| {
        let is_vowel = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => true,
            b'y' => *is_after_consonant,
            _ => false,
        };
        *is_after_consonant = !is_vowel;
        Some(is_vowel)
    })
}

fn has_vowel(word: &str) -> bool {
    vowels(word).any(|is_vowel| is_vowel)
}

/// Counts how many times a consonant follows a vowel.
fn measure(word: &str) -> usize {
    let mut is_after_vowel = false;
    let follows = vowels(word).filter(|is_vowel| {
        let follows = is_after_vowel && !is_vowel;
        is_after_vowel = *is_vowel;
        follows
    });
    follows.count()
}

fn is_doubled(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() > 1
        && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
        && vowels(word).last() == Some(false)
}

/// Whether a word ends in consonant, vowel, consonant, with the last one not `w`, `x` or `y`.
fn is_short(word: &str) -> bool {
    let last_three = vowels(word).fold([true; 3], |[_, first, second], next| [first, second, next]);
    last_three == [false, true, false] && !word.ends_with(['w', 'x', 'y'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_removed() {
        for (word, expected) in [
            ("installation", "instal"),
            ("installing", "instal"),
            ("install", "instal"),
            ("ponies", "poni"),
            ("hopping", "hop"),
            ("hoping", "hope"),
            ("agreed", "agre"),
            ("relational", "relat"),
            ("adoption", "adopt"),
            ("sky", "sky"),
            ("is", "is"),
            ("größe", "größe"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_word_panics(word in "\\PC{0,20}") {
            stem(&word);
        }
    }
}
