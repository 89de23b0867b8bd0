//! Tests what the bars and lines of progress say.

use super::*;
use crate::error::Error;
use crate::extract::detect::TextExtensions;

/// A terminal in memory.
#[derive(Debug)]
struct Blind;

impl indicatif::TermLike for Blind {
    fn width(&self) -> u16 {
        80
    }

    fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn write_line(&self, _: &str) -> std::io::Result<()> {
        Ok(())
    }

    fn write_str(&self, _: &str) -> std::io::Result<()> {
        Ok(())
    }

    fn clear_line(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn flush(&self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the text next to and below the bar after a tenth of 100 equal files took this long.
fn after_a_tenth(seconds: u64) -> (String, String) {
    let mut progress = IngestProgress::new(false);
    let target = ProgressDrawTarget::term_like(Box::new(Blind));
    progress.bar = ProgressBar::with_draw_target(Some(STEPS), target);
    progress
        .work
        .set(RemainingWork::new([("note.txt", 6_000); 100], &TextExtensions::NONE))
        .unwrap();
    for position in 0..10 {
        let elapsed = Duration::from_secs(seconds * (position as u64 + 1) / 10);
        progress.bar = progress.bar.with_elapsed(elapsed);
        progress.on_event(&ingest::IngestEvent::Read { position, num_chunks: Some(10) });
        progress.on_event(&ingest::IngestEvent::Embedded(10));
        let event = ingest::IngestEvent::Stored { path: None, num_chunks: 10, warnings: &[] };
        progress.on_event(&event);
    }
    (progress.bar.prefix(), progress.bar.message())
}

#[test]
fn a_long_run_shows_how_long_it_takes_and_how_to_stop_it() {
    // Nine tenths take nine times as long.
    let (prefix, below) = after_a_tenth(600);
    assert!(prefix.starts_with("1 h 30 min") && prefix.ends_with("10 of 100 files"), "{prefix}");
    assert!(below.contains("Ctrl-C stops after the current document"), "{below}");
    let (prefix, below) = after_a_tenth(20);
    assert!(prefix.contains("3 min 0") && !below.contains("Ctrl-C"), "{prefix} {below}");
}

#[test]
fn the_text_next_to_the_bar_counts_what_became_of_the_files() {
    let mut progress = IngestProgress::new(true);
    let target = ProgressDrawTarget::term_like(Box::new(Blind));
    progress.bar = ProgressBar::with_draw_target(Some(STEPS), target);
    let (path, error) = (Path::new("/a.md"), Error::EmptyFile { path: "/a.md".into() });
    let document_id = crate::store::DocumentId(1);
    for event in [
        ingest::IngestEvent::Found(9),
        ingest::IngestEvent::Read { position: 0, num_chunks: Some(2) },
        ingest::IngestEvent::Read { position: 1, num_chunks: None },
        ingest::IngestEvent::Embedded(2),
        ingest::IngestEvent::Stored { path: Some(path), num_chunks: 2, warnings: &[] },
        ingest::IngestEvent::Skipped { path: Some(path), document_id },
        ingest::IngestEvent::Ignored,
        ingest::IngestEvent::PassedOver,
        ingest::IngestEvent::Failed { path, error: &error },
    ] {
        progress.on_event(&event);
    }
    assert_eq!(progress.bar.prefix(), "5 files, 1 failed");
    assert_eq!(progress.bar.message(), "1 read, 2 chunks embedded, 1 stored");
    assert_eq!((progress.num_found, progress.num_done), (9, 5));
    progress
        .work
        .set(RemainingWork::new([("note.txt", 6_000); 2_000], &TextExtensions::NONE))
        .unwrap();
    progress.on_event(&ingest::IngestEvent::Ignored);
    assert_eq!(progress.bar.prefix(), "6 of 2,000 files, 1 failed");
    // Those in an archive were not counted before.
    let path = Path::new("/a.zip//b.md");
    progress.on_event(&ingest::IngestEvent::Stored {
        path: Some(path),
        num_chunks: 1,
        warnings: &[],
    });
    progress.on_event(&ingest::IngestEvent::Skipped { path: Some(path), document_id });
    progress.on_event(&ingest::IngestEvent::Failed { path, error: &error });
    assert_eq!(progress.bar.prefix(), "6 of 2,000 files, 2 failed");
}

#[test]
fn ten_notes_of_a_kind_are_printed_and_the_others_counted() {
    let mut progress = IngestProgress::new(false);
    for number in 0..12 {
        progress.note(Some(Path::new("/a.pdf")), &format!("{number} pages were not read"));
    }
    progress.note(None, "no title");
    let counts: Vec<_> = progress.notes.values().cloned().collect();
    assert_eq!(counts, [(12, "11 pages were not read".into()), (1, "no title".into())]);
    progress.finish();
}

#[test]
fn a_share_is_shown_in_thousandths() {
    for (share, expected) in
        [(0.0, 0), (0.0009, 0), (0.5, 500), (1.0, 1000), (1.5, 1000), (-1.0, 0)]
    {
        assert_eq!(steps(share), expected, "{share}");
    }
}

#[test]
fn a_count_ends_with_the_last_thing() {
    let progress = CountProgress::of("chunks", 10);
    progress.set(9, 10);
    assert_eq!((progress.bar.position(), progress.bar.is_finished()), (9, false));
    progress.set(11, 12);
    assert_eq!((progress.bar.length(), progress.bar.is_finished()), (Some(12), false));
    progress.set(12, 12);
    assert!(progress.bar.is_finished());
}

#[test]
fn the_bar_of_a_download_is_where_the_download_is() {
    let mut progress = FetchProgress::new();
    let mut arrived = |done_bytes| {
        let file = "weights".to_owned();
        progress.on_event(embed::ModelEvent::Progress { file, done_bytes, total_bytes: 10 });
        let bar = &progress.by_file["weights"];
        (bar.position(), bar.is_finished())
    };
    assert_eq!(arrived(0), (0, false));
    assert_eq!(arrived(9), (9, false));
    assert!(arrived(10).1);
}
