//! Answers the questions of the screen in a thread, so that typing never waits.
//!
//! Each slot holds one question. A newer one replaces it, so that a search for a word that has been typed on
//! is never begun, or stops before its second half.

use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::app::query::facets::{self, Facet, FacetValue};
use crate::app::query::read::{self, NeighbourText, PartSelection, ShowRequest};
use crate::app::query::search::{LegSelection, SearchRequest, SimilarRequest};
use crate::app::session::message::MessageLevel;
use crate::app::session::observer::{AppEvent, Observer, SilentObserver};
use crate::app::{self, Session};
use crate::document::Filter;
use crate::error::{Error, Result};
use crate::present::find::{Listing, PartReading};
use crate::store::{ChunkId, DocumentId};

/// A search that takes longer shows its keyword hits first. So long a wait is not felt.
const AT_ONCE: Duration = Duration::from_millis(30);

/// Similar passages to list.
const SIMILAR: u32 = 30;

/// The beginning of queries on which a debug build panics here, so that tests see how the terminal is left.
const PANIC: &str = "test-panic-worker";

/// A question that the screen asks.
#[derive(Debug, Clone)]
pub(super) enum Question {
    /// The hits of a query.
    Search(Box<SearchRequest>),
    /// The passages that are similar to a chunk.
    Similar(ChunkId),
    /// The parts of a document, under the path that is shown; the words of the query are marked in them.
    Outline(DocumentId, Option<String>, String),
    /// A part of a document, for reading from a passage on; the words of the query are marked.
    Part {
        document: DocumentId,
        path: Option<String>,
        selection: PartSelection,
        typed: String,
        passage: Option<String>,
    },
    /// The text next to a chunk.
    Around(ChunkId),
    /// The values to filter by.
    Values(Facet, Box<Filter>),
}

#[derive(Debug)]
pub(super) enum WorkerAnswer {
    /// A list, with the text around its first chunk.
    Listing(Listing, Option<NeighbourText>),
    Part(Box<PartReading>),
    Around(NeighbourText),
    Values(Vec<FacetValue>),
}

/// Where an answer is shown. Questions of different slots do not replace each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerPane {
    /// The list, or a text that takes its place.
    Main,
    /// The text of the selected entry.
    Beside,
}

/// A question with its number in its slot.
#[derive(Debug, Clone)]
pub(super) struct NumberedQuestion {
    pub(super) slot: AnswerPane,
    pub(super) number: u64,
    pub(super) question: Question,
}

/// A message from the worker.
#[derive(Debug)]
pub(super) enum WorkerReply {
    Answer {
        slot: AnswerPane,
        number: u64,
        answer: Result<WorkerAnswer>,
        took: Duration,
        /// Whether a better answer follows.
        is_first: bool,
    },
    /// A message about the answer that follows.
    Message(String),
    /// The worker has ended before it was asked to.
    Lost,
}

/// The questions that wait.
#[derive(Debug, Default)]
pub(super) struct Questions {
    waiting: Mutex<WaitingQuestions>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct WaitingQuestions {
    /// By slot.
    asked: [Option<NumberedQuestion>; 2],
    is_closed: bool,
}

impl Questions {
    /// Adds a question in place of the one that waits in its slot.
    pub(super) fn ask(&self, asked: NumberedQuestion) {
        let mut waiting = self.lock();
        let slot = asked.slot as usize;
        waiting.asked[slot] = Some(asked);
        self.changed.notify_one();
    }

    /// Ends the worker after its current question.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Waits for the next question; `None` if there will be none.
    fn next(&self) -> Option<NumberedQuestion> {
        let mut waiting = self.lock();
        loop {
            if waiting.is_closed {
                return None;
            }
            if let Some(asked) = waiting.asked.iter_mut().find_map(Option::take) {
                return Some(asked);
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether a question would be answered for nothing.
    fn is_stale(&self, asked: &NumberedQuestion) -> bool {
        let waiting = self.lock();
        let is_replaced = waiting.asked[AnswerPane::Main as usize].is_some();
        waiting.is_closed || asked.slot == AnswerPane::Main && is_replaced
    }

    fn lock(&self) -> MutexGuard<'_, WaitingQuestions> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers questions until there will be no more.
pub(super) fn serve<T: From<WorkerReply> + Send>(
    session: &Session,
    questions: &Questions,
    sender: &Sender<T>,
) {
    let mut lost = PanicNotice { sender, is_well: false };
    let worker = FindWorker { session, questions, sender };
    let mut is_slow = true;
    while let Some(asked) = questions.next() {
        is_slow = worker.answer(&asked, is_slow);
    }
    lost.is_well = true;
}

/// Loads the model, while the first questions are answered by keywords.
pub(super) fn warm(session: &Session) {
    // An error is ignored: it occurs again with the first question, and is reported then.
    let _ = session.binding().map(|bound| session.embedder(bound.as_ref(), &SilentObserver));
}

/// Tells the screen if the worker ends by a panic.
struct PanicNotice<'a, T: From<WorkerReply>> {
    sender: &'a Sender<T>,
    is_well: bool,
}

impl<T: From<WorkerReply>> Drop for PanicNotice<'_, T> {
    fn drop(&mut self) {
        if !self.is_well {
            // Sending fails if the screen has been left.
            let _ = self.sender.send(WorkerReply::Lost.into());
        }
    }
}

struct FindWorker<'a, T> {
    session: &'a Session,
    questions: &'a Questions,
    sender: &'a Sender<T>,
}

impl<T: From<WorkerReply> + Send> FindWorker<'_, T> {
    /// Answers a question, and returns whether the next search is expected to be slow.
    fn answer(&self, asked: &NumberedQuestion, is_slow: bool) -> bool {
        let begin = Instant::now();
        let is_both = match &asked.question {
            Question::Search(request) => request.legs.is_none(),
            _ => false,
        };
        if let Question::Search(request) = &asked.question
            && is_both
            && is_slow
        {
            let keyword =
                SearchRequest { legs: Some(LegSelection::Keyword), ..(**request).clone() };
            let answer = self.search(&keyword, &SilentObserver);
            if answer.is_ok() {
                self.tell(asked, answer, begin, true);
            }
            if self.questions.is_stale(asked) {
                return is_slow;
            }
        }
        let answer = self.work(&asked.question);
        let took = begin.elapsed();
        self.tell(asked, answer, begin, false);
        if is_both { took > AT_ONCE } else { is_slow }
    }

    /// Sends an answer; after the screen was left, it is lost.
    fn tell(
        &self,
        asked: &NumberedQuestion,
        answer: Result<WorkerAnswer>,
        begin: Instant,
        is_first: bool,
    ) {
        let (slot, number, took) = (asked.slot, asked.number, begin.elapsed());
        let _ =
            self.sender.send(WorkerReply::Answer { slot, number, answer, took, is_first }.into());
    }

    fn work(&self, question: &Question) -> Result<WorkerAnswer> {
        match question {
            Question::Search(request) => {
                debug_assert!(!request.query.starts_with(PANIC), "typed by a test");
                self.search(request, &Messages(Mutex::new(self.sender.clone())))
            }
            Question::Similar(chunk) => {
                let limit = Some(SIMILAR);
                let request =
                    SimilarRequest { chunk: Some(*chunk), limit, ..SimilarRequest::default() };
                let found = app::query::search::similar(self.session, &request, &SilentObserver)?;
                self.listing(Listing::of_similar(found.hits))
            }
            Question::Outline(document, path, typed) => {
                let id = document.to_string();
                let outline = read::outline(self.session, &id, path.as_deref(), None)?;
                Ok(WorkerAnswer::Listing(Listing::of_outline(outline, typed), None))
            }
            Question::Part { document, path, selection, typed, passage } => {
                let request = ShowRequest {
                    document: Some(document.to_string()),
                    within: path.clone(),
                    selection: selection.clone(),
                    max_lines: None,
                };
                let shown = read::show(self.session, &request)?;
                Ok(WorkerAnswer::Part(Box::new(PartReading::new(shown, typed, passage.as_deref()))))
            }
            Question::Around(chunk) => read::around(self.session, *chunk).map(WorkerAnswer::Around),
            Question::Values(facet, filter) => {
                facets::values(self.session, *facet, filter).map(WorkerAnswer::Values)
            }
        }
    }

    fn search(&self, request: &SearchRequest, observer: &dyn Observer) -> Result<WorkerAnswer> {
        self.listing(Listing::of_search(app::query::search::search(
            self.session, request, observer,
        )?))
    }

    fn listing(&self, listing: Listing) -> Result<WorkerAnswer> {
        let around = listing.chunk(0).map(|chunk| read::around(self.session, chunk)).transpose();
        match around {
            Ok(around) => Ok(WorkerAnswer::Listing(listing, around)),
            // The chunk was removed since it was found.
            Err(Error::UnknownChunk { .. }) => Ok(WorkerAnswer::Listing(listing, None)),
            Err(error) => Err(error),
        }
    }
}

/// Sends the messages of a use case to the screen.
struct Messages<T>(Mutex<Sender<T>>);

impl<T: From<WorkerReply> + Send> Observer for Messages<T> {
    fn on_event(&self, event: AppEvent<'_>) {
        let AppEvent::Message(message) = event else { return };
        let text = match message.level {
            MessageLevel::Info | MessageLevel::Note => message.line(),
            // The colour says it.
            MessageLevel::Warning | MessageLevel::Failure => message.unlabelled(),
            MessageLevel::Detail => return,
        };
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Sending fails if the screen has been left.
        let _ = sender.send(WorkerReply::Message(text.to_string()).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(slot: AnswerPane, number: u64) -> NumberedQuestion {
        NumberedQuestion { slot, number, question: Question::Around(ChunkId(1)) }
    }

    #[test]
    fn a_newer_question_replaces_the_one_that_waits() {
        let questions = Questions::default();
        questions.ask(asked(AnswerPane::Beside, 1));
        questions.ask(asked(AnswerPane::Main, 1));
        questions.ask(asked(AnswerPane::Main, 2));
        let first = questions.next().unwrap();
        assert_eq!((first.slot, first.number), (AnswerPane::Main, 2));
        assert!(!questions.is_stale(&first));
        questions.ask(asked(AnswerPane::Main, 3));
        assert!(questions.is_stale(&first));
        assert_eq!(questions.next().unwrap().number, 3);
        assert_eq!(questions.next().unwrap().slot, AnswerPane::Beside);
        questions.close();
        assert!(questions.next().is_none());
    }
}
