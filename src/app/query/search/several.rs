//! Searches several knowledge bases, and merges their answers into one.
//!
//! Each base is searched as if it were alone, but a word is as rare as it is in all of them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::app::query::search::merging::MergeOptions;
use crate::app::query::search::rerank::Reranker;
use crate::app::query::search::{SearchRequest, search_by};
use crate::app::session::absent;
use crate::app::session::message::{AppMessage, MessageLevel};
use crate::app::session::observer::{AppEvent, NoteKeeper};
use crate::app::{Observer, Session};
use crate::error::Result;
use crate::search::{Reranking, SearchAnswer, TermStatistics, term_statistics};

/// Answers a query from several knowledge bases, in the order in which they are given.
pub fn search_several(
    sessions: &[&Session],
    request: &SearchRequest,
    observer: &dyn Observer,
) -> Result<SearchAnswer> {
    let mut request = request.clone();
    let statistics = statistics(sessions, &request)?;
    if sessions.iter().any(|session| request.options(session).recency.is_some()) {
        // Ages count from the newest document of all bases, so that they can be compared.
        for store in sessions.iter().map(|session| session.open_existing()) {
            let newest = store?.map(|store| store.newest(&request.filter)).transpose()?;
            request.newest = request.newest.max(newest.flatten());
        }
    }
    let notes = NoteKeeper::new(observer);
    let mut models: Vec<String> = Vec::new();
    let mut answers: Vec<SearchAnswer> = Vec::new();
    for (base, session) in sessions.iter().enumerate() {
        request.elsewhere = all_but(base, &statistics);
        let of_base = OfBase { name: &session.place().name, observer: &notes };
        let mut found = search_by(None, session, &request, &of_base)?;
        found.name_base(&session.place().name);
        models.extend(session.binding()?.map(|binding| binding.model_name));
        answers.push(found);
    }
    models.dedup();
    let settings = sessions.first().map(|session| &session.config().search);
    let merging = MergeOptions {
        form: request.form,
        limit: request.limit.or(settings.map(|search| search.default_top)).unwrap_or_default(),
        rrf_k: settings.map_or(60.0, |search| search.rrf_k),
        is_comparable: models.len() < 2,
        reranking: sessions.first().and_then(|session| Reranker::of(session)).map(|_| {
            Reranking::Failed("results from several knowledge bases are ordered by score".into())
        }),
    };
    let merged = merging.merge(answers);
    let mut first = absent::phrases(&merged, &notes);
    first.extend(sessions.iter().flat_map(|session| session.notices().to_vec()));
    Ok(SearchAnswer { notes: notes.kept(first), ..merged })
}

/// Counts the terms of a query in each base.
fn statistics(sessions: &[&Session], request: &SearchRequest) -> Result<Vec<TermStatistics>> {
    let phrasings = request.phrasings()?;
    let mut statistics = Vec::with_capacity(sessions.len());
    for session in sessions {
        let Some(store) = session.store()? else {
            statistics.push(TermStatistics::default());
            continue;
        };
        let counted = term_statistics(&store, &phrasings);
        session.give_back(store);
        statistics.push(counted?);
    }
    Ok(statistics)
}

/// Adds up the statistics of the other bases.
fn all_but(base: usize, statistics: &[TermStatistics]) -> TermStatistics {
    let mut all = TermStatistics::default();
    for (_, others) in statistics.iter().enumerate().filter(|(other, _)| *other != base) {
        all.add(others);
    }
    all
}

/// Passes events on; notes, such as that no document passes a filter, name the base that they are about.
struct OfBase<'a> {
    name: &'a str,
    observer: &'a dyn Observer,
}

impl Observer for OfBase<'_> {
    fn on_event(&self, event: AppEvent<'_>) {
        use MessageLevel::{Info, Note};
        self.observer.on_event(match event {
            // Even that nothing was added is only a note on the answer of all.
            AppEvent::Message(AppMessage { level: Info | Note, text, .. }) => {
                AppEvent::Message(AppMessage { level: Note, base: Some(self.name), text })
            }
            other => other,
        });
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.observer.cancel_flag()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    #[track_caller]
    fn check(level: MessageLevel, line: &str, kept: &[&str]) {
        let world = World::new();
        let notes = NoteKeeper::new(&world);
        let observer: &dyn Observer = &OfBase { name: "work", observer: &notes };
        observer.say(level, "ebb");
        assert_eq!(world.lines(), [line]);
        assert_eq!(notes.kept(Vec::new()), kept);
    }

    #[test]
    fn notes_name_their_base_and_answers_have_them_without_a_label() {
        check(MessageLevel::Info, "note: work: ebb", &["work: ebb"]);
        check(MessageLevel::Note, "note: work: ebb", &["work: ebb"]);
        check(MessageLevel::Warning, "warning: ebb", &["ebb"]);
        check(MessageLevel::Failure, "failed: ebb", &[]);
    }
}
