//! Recognises bullets and dashes by their ink: Tesseract reads a bullet as `e` or `©`, a dash in a
//! cell as `=`.

use super::ink::Ink;
use super::tsv::RecognizedWord;

/// Smallest fraction of its box that a bullet and a bar fill: a disc fills .79, letters about half.
const DISC: f64 = 0.68;
const BAR: f64 = 0.85;

/// Largest ratio of the sides of a bullet.
const ROUND: f64 = 1.4;

/// Height of a bullet, as a fraction of that of the next word; an `e` is higher.
const BULLET: std::ops::Range<f64> = 0.15..0.66;

/// Replaces a word that is a bullet at the beginning of a line, or a bar, with this sign.
pub(super) fn repair(words: &mut [RecognizedWord], ink: &Ink) {
    let mut last_line = None;
    for at in 0..words.len() {
        let begins_line = last_line != Some(words[at].line);
        last_line = Some(words[at].line);
        if words[at].text.chars().count() != 1 {
            continue;
        }
        let (word, next) = (&words[at], words.get(at + 1));
        let share = ink.share(word.frame);
        let is_bullet = begins_line
            && share >= DISC
            && next.is_some_and(|next| next.line == word.line && looks_like_bullet(word, next));
        let sign = match word.text.as_str() {
            _ if is_bullet => "\u{2022}",
            "=" if share >= BAR => "-",
            _ => continue,
        };
        words[at].text = sign.to_owned();
    }
}

/// Whether a word is as round as a bullet, and above the base line of the next word.
fn looks_like_bullet(word: &RecognizedWord, next: &RecognizedWord) -> bool {
    let (width, height) = (word.frame.width() as f64, word.frame.height() as f64);
    width.max(height) <= ROUND * width.min(height)
        && BULLET.contains(&(height / next.frame.height() as f64))
        && word.frame.bottom < next.frame.bottom
        && word.frame.top > next.frame.top
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::ocr::ink::{Frame, pixel};
    use crate::pdf::ocr::raster::Raster;

    fn word(text: &str, [left, top, right, bottom]: [usize; 4]) -> RecognizedWord {
        let frame = Frame { left, top, right, bottom };
        RecognizedWord { text: text.to_owned(), frame, confidence: 90.0, line: 1 }
    }

    /// Reads `first`, whose box is black to the given fraction, before the word "tide".
    #[track_caller]
    fn check(first: &str, frame: [usize; 4], black: f64, expected: &str) {
        let [left, top, right, bottom] = frame;
        let mut raster = Raster { width: 100, height: 40, dpi: None, pixels: vec![255; 4_000] };
        for y in top..bottom {
            let num_black = pixel((right - left) as f64 * black);
            raster.pixels[y * 100 + left..y * 100 + left + num_black].fill(0);
        }
        let mut words = [word(first, frame), word("tide", [30, 5, 80, 27])];
        repair(&mut words, &Ink::of(&raster));
        assert_eq!(words.map(|word| word.text), [expected, "tide"]);
    }

    #[test]
    fn a_disc_is_a_bullet_and_a_bar_is_a_dash() {
        check("e", [5, 12, 15, 22], 0.8, "\u{2022}");
        check("=", [5, 14, 17, 17], 1.0, "-");
        // A letter, an equals sign, a stop.
        check("e", [5, 12, 20, 27], 0.5, "e");
        check("=", [5, 12, 17, 18], 0.6, "=");
        check(".", [5, 23, 9, 27], 0.8, ".");
    }
}
