//! Says when documents are in languages that the model cannot read, and what would change that.

use std::time::Duration;

use crate::app::Observer;
use crate::embed::{self, ModelChoice};
use crate::error::Result;
use crate::ingest::IngestReport;
use crate::store::Store;
use crate::text::language::NaturalLanguage;
use crate::text::number;
use crate::wording::{kb, wording};

/// Fewer passages in other languages are not worth another model: a few quotations are no reason to compute all vectors
/// again.
const MIN_PASSAGES: usize = 10;

/// The same as a share of a run's passages: one in this many.
const MIN_SHARE: usize = 10;

/// Languages that are named.
const NUM_NAMED: usize = 3;

/// How much longer a multilingual model takes than the default one: it has twice as many layers.
const COST: u32 = 2;

/// Reports the languages of a run's documents if the model knows only English and enough of the text
/// is in others. `elapsed` is how long the run took.
pub(crate) fn note(
    name: &str,
    report: &IngestReport,
    elapsed: Duration,
    store: &Store,
    observer: &dyn Observer,
) -> Result<()> {
    let choice = ModelChoice::named(name).ok();
    let is_english_only =
        choice.as_ref().and_then(ModelChoice::spec).is_some_and(|spec| !spec.is_multilingual());
    let Some(other) = embed::models().find(|spec| spec.is_multilingual()) else {
        return Ok(());
    };
    let Some((num_foreign, languages, verb)) =
        foreign(report).filter(|found| is_english_only && is_worth_a_line(found.0, report))
    else {
        return Ok(());
    };
    let num_chunks = u32::try_from(report.num_chunks.max(1)).unwrap_or(u32::MAX);
    let num_stored = store.stats()?.total_chunks;
    let again = elapsed.mul_f64(f64::from(num_stored) / f64::from(num_chunks)) * COST;
    let download = other.download_mb.map(|size| format!("{size} MB to download, then "));
    let download = download.unwrap_or_default();
    let takes = format!("{download}about {}", number::duration(again.as_secs().max(1)));
    let text = format!(
        "{} of {} are in {languages}, which {name} {verb}",
        number::thousands(num_foreign),
        number::counted(report.num_chunks, "passage"),
    );
    observer.info(wording!(
        "{}: search finds them by keyword only, not by meaning. To change that, run `{}` ({})",
        text,
        kb("reindex").option("--model", other.name.as_str()),
        takes
    ));
    Ok(())
}

fn is_worth_a_line(num_foreign: usize, report: &IngestReport) -> bool {
    num_foreign >= MIN_PASSAGES && num_foreign.saturating_mul(MIN_SHARE) >= report.num_chunks
}

/// Returns the number of passages in other languages than English, the most frequent of these languages,
/// and how well a model that knows English reads the most frequent one.
fn foreign(report: &IngestReport) -> Option<(usize, String, &'static str)> {
    let mut found: Vec<(NaturalLanguage, usize)> = Vec::new();
    for (code, count) in &report.languages {
        let language = NaturalLanguage::from_code(code);
        if let Some(language) = language.filter(|language| !language.is_english()) {
            found.push((language, *count));
        }
    }
    found.sort_by_key(|(language, count)| (usize::MAX - count, language.name()));
    let (most, _) = *found.first()?;
    let names: Vec<&str> =
        found.iter().take(NUM_NAMED).map(|(language, _)| language.name()).collect();
    let verb = if most.is_latin() { "reads only in part" } else { "cannot read" };
    Some((found.iter().map(|(_, count)| count).sum(), names.join(", "), verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(languages: &[(&str, usize)], expected: Option<(usize, &str, &str)>) {
        let languages = languages.iter().map(|(code, count)| ((*code).to_owned(), *count));
        let report = IngestReport { languages: languages.collect(), ..IngestReport::default() };
        let found = foreign(&report);
        let found = found.as_ref().map(|(count, names, verb)| (*count, names.as_str(), *verb));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_most_frequent_languages_are_named_and_english_is_not() {
        check(&[("en", 90)], None);
        check(&[("en", 90), ("de", 5)], Some((5, "German", "reads only in part")));
        let many = [("ar", 2), ("fr", 3), ("ru", 9), ("zh", 2)];
        check(&many, Some((16, "Russian, French, Arabic", "cannot read")));
    }

    #[test]
    fn a_few_passages_among_many_are_not_worth_a_line() {
        for (num_foreign, num_chunks, expected) in
            [(9, 9, false), (10, 10, true), (10, 100, true), (10, 101, false)]
        {
            let report = IngestReport { num_chunks, ..IngestReport::default() };
            assert_eq!(is_worth_a_line(num_foreign, &report), expected);
        }
    }
}
