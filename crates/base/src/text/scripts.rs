//! Recognises scripts without spaces between words, and splits a run of their letters into
//! searchable grams.

/// Whether a letter belongs to a script written without spaces (blocks of Unicode 16: Thai, Lao,
/// Myanmar, Khmer, Hangul, Hiragana, Katakana, Bopomofo, Han).
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e01}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17dd}' | '\u{3041}'..='\u{30fa}' | '\u{30fc}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns the grams of a run of such letters: its pairs, then its letters.
pub fn grams(run: &str) -> Vec<&str> {
    let mut found = pairs(run);
    found.extend(windows(run, 1));
    found
}

/// Returns the pairs of a run in order; they overlap.
pub fn pairs(run: &str) -> Vec<&str> {
    windows(run, 2).collect()
}

fn windows(run: &str, len: usize) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = run.char_indices().map(|start| start.0).chain([run.len()]).collect();
    let count = starts.len().saturating_sub(len);
    (0..count).map(move |idx| &run[starts[idx]..starts[idx + len]])
}

/// Splits a word where such letters begin or end. A word without them is one part.
pub fn parts(word: &str) -> Vec<&str> {
    let mut found = Vec::new();
    if word.is_ascii() {
        // This path is fast, because a search splits every word of its hits: no letter of these scripts is ASCII.
        found.extend((!word.is_empty()).then_some(word));
        return found;
    }
    let mut start = 0;
    let mut last = None;
    for (at, c) in word.char_indices() {
        let is_unspaced = is_unspaced(c);
        if last.is_some_and(|was_unspaced| was_unspaced != is_unspaced) {
            found.push(&word[start..at]);
            start = at;
        }
        last = Some(is_unspaced);
    }
    if start < word.len() {
        found.push(&word[start..]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_word() {
        for word in ["", "abc", "東京", "GPU加速x", "第3章"] {
            assert_eq!(parts(word).concat(), word);
        }
    }
}
