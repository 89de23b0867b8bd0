//! Reads subtitles: SubRip and WebVTT.
//!
//! The words of a minute are one paragraph below a heading with its time, so a hit shows when they
//! were spoken.

use super::writer::{MarkupWriter, NumberedWords, SourceLine, paragraph_len};
use crate::document::Document;

/// The level of the headings; not one that begins a chunk.
const LEVEL: u8 = 4;

/// Reads a file.
pub(super) fn extract(text: &str) -> Document {
    let lines = SourceLine::all(text);
    let mut writer = MarkupWriter::default();
    let mut words = NumberedWords::default();
    let mut minute = None;
    let mut speaker = String::new();
    let mut last = String::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let Some(seconds) = start(line.text) else {
            // Notes and styles of WebVTT reach up to a blank line.
            let is_note =
                ["NOTE", "STYLE", "REGION"].iter().any(|name| line.text.starts_with(name));
            at += if is_note { paragraph_len(&lines[at..]).max(1) } else { 1 };
            continue;
        };
        let len = paragraph_len(&lines[at + 1..]);
        if minute != Some(seconds / 60) {
            flush(&mut writer, &mut words);
            minute = Some(seconds / 60);
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            writer.heading(line.number, LEVEL, &format!("{hours:02}:{minutes:02}:00"));
            speaker.clear();
        }
        for said in &lines[at + 1..=at + len] {
            let (voice, text) = plain(said.text);
            // Captions that roll up repeat their last line.
            if text.is_empty() || text == last {
                continue;
            }
            words.push(said.number, " ");
            if let Some(voice) = voice.filter(|voice| *voice != speaker) {
                words.push(said.number, &format!("{voice}: "));
                speaker = voice;
            }
            words.push(said.number, &text);
            last = text;
        }
        at += len + 1;
    }
    flush(&mut writer, &mut words);
    writer.finish_without_title()
}

fn flush(writer: &mut MarkupWriter, words: &mut NumberedWords) {
    let words = std::mem::take(words);
    if !words.is_blank() {
        writer.paragraph_of(words);
    }
}

/// Returns the second at which a cue begins: `00:01:20,000 --> 00:01:22,000`.
fn start(text: &str) -> Option<u32> {
    let (from, _) = text.split_once("-->")?;
    let clock = from.trim().split([',', '.']).next()?;
    let mut seconds: u32 = 0;
    let mut num_parts = 0;
    for part in clock.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.trim().parse().ok()?)?;
        num_parts += 1;
    }
    (2..=3).contains(&num_parts).then_some(seconds)
}

/// Returns who speaks, and the words without tags.
fn plain(text: &str) -> (Option<String>, String) {
    let mut out = String::new();
    let mut voice = None;
    let mut rest = text;
    // A tag that nothing closes is text.
    let last = [text.rfind('>'), text.rfind('}')];
    while let Some(open) = rest.find(['<', '{']) {
        out.push_str(&rest[..open]);
        let (close, last) =
            if rest[open..].starts_with('<') { ('>', last[0]) } else { ('}', last[1]) };
        let inside = &rest[open + 1..];
        // `{\an8}` is a position.
        let is_tag = close == '>' || inside.starts_with('\\');
        let is_closed = is_tag && last.is_some_and(|last| last >= text.len() - inside.len());
        let Some(end) = is_closed.then(|| inside.find(close)).flatten() else {
            out.push_str(&rest[open..=open]);
            rest = inside;
            continue;
        };
        if let Some(name) = inside[..end].strip_prefix("v ").or(inside[..end].strip_prefix("v.")) {
            let name = if inside.starts_with("v.") {
                name.split_once(' ').map_or("", |n| n.1)
            } else {
                name
            };
            voice = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        }
        rest = &inside[end + 1..];
    }
    out.push_str(rest);
    let out =
        out.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ");
    (voice, out.trim().to_owned())
}

#[cfg(test)]
mod tests;
