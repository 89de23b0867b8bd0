//! Converts all documents of a request into a folder, in parallel and in the order of the walk.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::convert::parallel::{self, ConversionInput};
use crate::app::convert::{ConversionJob, ConvertRequest, ConvertedDocument, prepare};
use crate::app::indexing::add;
use crate::app::indexing::ingestion::request::DocumentSource;
use crate::app::session::observer::AppEvent;
use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::files::open::SymlinkPolicy;
use crate::files::{open, private, write};
use crate::ingest::{UNNAMED, guarded};
use crate::text::fields;
use crate::text::number::thousands;
use crate::wording::{option, wording};

/// The name of the result of a document from a stream, without its extension.
const STREAM_NAME: &str = "stdin";

/// A converted document in the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Written")]
pub struct WrittenFile {
    /// The file that was read; null for standard input.
    #[serde(serialize_with = "fields::path_or_null")]
    pub path: Option<PathBuf>,
    /// The file that was written.
    #[serde(serialize_with = "fields::path")]
    pub output: PathBuf,
    /// Whether it has another name, because an earlier file of the run has the same one.
    #[serde(rename = "renamed")]
    pub is_renamed: bool,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct ConvertReport {
    /// The written files, in the order in which their sources were found.
    pub written: Vec<WrittenFile>,
    /// Files in folders that kb does not read.
    pub ignored: usize,
    /// Files that could not be converted, in the order they were found.
    pub failed: Vec<(PathBuf, Error)>,
    /// The warnings of the readers, each with its file.
    pub warnings: Vec<(PathBuf, String)>,
}

/// Returns the bytes of a converted document.
pub type Render<'a> = dyn Fn(&ConvertedDocument) -> Result<Vec<u8>> + Sync + 'a;

/// Converts all documents of a request into its folder, in parallel.
pub fn to_folder(
    session: &Session,
    request: &ConvertRequest,
    render: &Render<'_>,
    observer: &dyn Observer,
) -> Result<ConvertReport> {
    let (roots, job) = prepare(session, request, observer)?;
    let folder = request.output.as_deref().unwrap_or(Path::new("."));
    let cannot = |source| Error::of_file(folder, source);
    private::create_output_folder(folder).map_err(cannot)?;
    let inputs = parallel::inputs(&request.files.source, &roots, &job.options.walk);
    let is_single =
        !matches!(roots.as_slice(), [_, _, ..]) && !roots.iter().any(|root| root.is_dir());
    let num_files = inputs.len();
    let targets = targets(&inputs, folder, request.extension);
    let (replaces, is_stopped) = (request.replaces, AtomicBool::new(false));
    let run = FolderConversion { job: &job, render, replaces, is_stopped };
    let is_cancelled = observer.cancel_flag();
    let mut report = ConvertReport::default();
    let mut fatal = None;
    let mut num_done = 0;
    let converted = parallel::in_order(
        inputs.into_iter().zip(targets),
        job.options.num_workers,
        &|| run.is_stopped.load(Ordering::Relaxed) || is_cancelled.load(Ordering::Relaxed),
        &|(input, target)| {
            let outcome = run.convert(input, &target);
            (target, outcome)
        },
        |(target, outcome)| {
            if let WriteOutcome::Stopped(error) = outcome {
                run.is_stopped.store(true, Ordering::Relaxed);
                fatal.get_or_insert(error);
                return;
            }
            num_done += 1;
            report.count(target, outcome, is_single, observer);
            let (things, total) = ("files", num_files as u64);
            observer.on_event(AppEvent::Counted { things, num_done, total });
        },
    );
    converted.map_err(cannot)?;
    if is_cancelled.load(Ordering::Relaxed) {
        let num_left = (num_files - report.num_files()) as u64;
        observer.info(format!("Files not converted: {}", thousands(num_left)));
        return Err(Error::Cancelled);
    }
    match fatal.or_else(|| report.failure(request, is_single)) {
        Some(error) => Err(error),
        None => Ok(report),
    }
}

impl ConvertReport {
    /// Whether at least one document was converted.
    pub fn is_success(&self) -> bool {
        !self.written.is_empty()
    }

    fn num_files(&self) -> usize {
        self.written.len() + self.ignored + self.failed.len()
    }

    /// Counts the outcome of one file and reports it.
    fn count(
        &mut self,
        target: OutputFile,
        outcome: WriteOutcome,
        is_single: bool,
        observer: &dyn Observer,
    ) {
        let OutputFile { path, output, is_renamed, .. } = target;
        let named = path.clone().unwrap_or_else(|| UNNAMED.into());
        match outcome {
            WriteOutcome::Written(warnings) => {
                let name = named.display();
                for warning in warnings {
                    observer.note(format!("{name}: {warning}"));
                    self.warnings.push((named.clone(), warning));
                }
                if is_renamed {
                    observer.note(format!(
                        "{name}: the result was written to {}, because an earlier file has the \
                         same name",
                        output.display()
                    ));
                }
                self.written.push(WrittenFile { path, output, is_renamed });
            }
            WriteOutcome::Ignored | WriteOutcome::Stopped(_) => self.ignored += 1,
            WriteOutcome::Failed(error @ Error::IgnoreFile { .. }) => {
                observer.warn(error.message());
                self.warnings.push((named, error.to_string()));
            }
            WriteOutcome::Failed(error) => {
                if !is_single {
                    observer.failure(error.text_about(&named));
                }
                self.failed.push((named, error));
            }
        }
    }

    /// Returns the error of a run that converted nothing: that of the only file, or that there are no
    /// files. In other cases the report says more.
    fn failure(&mut self, request: &ConvertRequest, is_single: bool) -> Option<Error> {
        if self.is_success() {
            return None;
        }
        if is_single && let Some((path, error)) = self.failed.pop() {
            return Some(error.in_file(&path));
        }
        let source = &request.files.source;
        let is_empty = matches!(source, DocumentSource::Paths(_)) && self.num_files() == 0;
        is_empty.then(|| add::no_files(source.paths()))
    }
}

/// The place of the result of a file.
struct OutputFile {
    path: Option<PathBuf>,
    output: PathBuf,
    is_renamed: bool,
    /// Whether the result would replace a file of this run.
    is_input: bool,
}

/// Gives every result its name: that of the file and the extension; the second of a name gets `~2`.
/// Upper and lower case count as the same, because they are on many disks.
fn targets(inputs: &[ConversionInput], folder: &Path, extension: &str) -> Vec<OutputFile> {
    let known: HashSet<(u64, u64)> =
        inputs.iter().filter_map(ConversionInput::path).filter_map(open::identity).collect();
    let mut taken = HashSet::new();
    let mut targets = Vec::with_capacity(inputs.len());
    for input in inputs {
        let path = input.path().map(Path::to_owned);
        let name = path.as_deref().map_or(Some(OsStr::new(STREAM_NAME)), Path::file_name);
        let name = name.unwrap_or_default();
        let mut number = 1_u64;
        let (output, is_renamed) = loop {
            let mut candidate = name.to_os_string();
            if number > 1 {
                candidate.push(format!("~{number}"));
            }
            candidate.push(format!(".{extension}"));
            if taken.insert(candidate.to_string_lossy().to_lowercase()) {
                break (folder.join(candidate), number > 1);
            }
            number += 1;
        };
        let is_input = open::identity(&output).is_some_and(|id| known.contains(&id));
        targets.push(OutputFile { path, output, is_renamed, is_input });
    }
    targets
}

/// The outcome of a file.
enum WriteOutcome {
    /// Its result is in the folder; the warnings of the reader.
    Written(Vec<String>),
    /// kb does not read files like it.
    Ignored,
    Failed(Error),
    /// The folder cannot be written to, or the run was cancelled.
    Stopped(Error),
}

/// Converts the files of a run.
struct FolderConversion<'a> {
    job: &'a ConversionJob,
    render: &'a Render<'a>,
    replaces: bool,
    is_stopped: AtomicBool,
}

impl FolderConversion<'_> {
    fn convert(&self, input: ConversionInput, target: &OutputFile) -> WriteOutcome {
        match guarded(|| self.bytes(input, target)) {
            Ok(Some((bytes, _))) if !self.replaces && is_other(&target.output, &bytes) => {
                WriteOutcome::Failed(
                    Error::usage(format!("{} exists with other content", target.output.display()))
                        .with_hint(wording!(
                            "`{}` replaces it; or name another folder",
                            option("--force")
                        )),
                )
            }
            Ok(Some((bytes, warnings))) => match write::replace_output(&target.output, &bytes) {
                Ok(()) => WriteOutcome::Written(warnings),
                Err(source) => not_written(&target.output, source),
            },
            Ok(None) => WriteOutcome::Ignored,
            Err(error @ Error::Cancelled) => WriteOutcome::Stopped(error),
            Err(error) => WriteOutcome::Failed(error),
        }
    }

    /// Returns the result of a file and the warnings of the reader; `None` if it is to be ignored.
    fn bytes(
        &self,
        input: ConversionInput,
        target: &OutputFile,
    ) -> Result<Option<(Vec<u8>, Vec<String>)>> {
        if target.is_input {
            let output = target.output.display();
            return Err(Error::usage(format!(
                "its result would replace {output}, which is also an input"
            ))
            .with_hint(wording!("choose another folder for `{}`", option("--output"))));
        }
        let is_named = input.is_named();
        let converted = match self.job.input(input) {
            Err(Error::EmptyFile { .. }) if !is_named => None,
            converted => converted?,
        };
        let Some(converted) = converted else { return Ok(None) };
        let bytes = (self.render)(&converted)?;
        Ok(Some((bytes, converted.document.metadata.warnings)))
    }
}

/// Whether a file other than the result of an earlier run would be replaced.
fn is_other(output: &Path, result: &[u8]) -> bool {
    let Ok(found) = output.symlink_metadata() else { return false };
    // A folder is not compared: writing the result reports that it cannot be replaced.
    if found.is_dir() {
        return false;
    }
    // A longer file is an error of `read`, and differs.
    let content = open::read(output, SymlinkPolicy::Follow, result.len() as u64);
    !found.is_file() || content.map_or(true, |content| content != result)
}

/// Returns the outcome of a result that could not be written: a name that does not fit concerns one
/// file, anything else all of them.
fn not_written(output: &Path, source: io::Error) -> WriteOutcome {
    use io::ErrorKind::{InvalidFilename, InvalidInput, IsADirectory};
    let is_about_name = matches!(source.kind(), InvalidFilename | InvalidInput | IsADirectory);
    let error = Error::of_file(output, source);
    if is_about_name { WriteOutcome::Failed(error) } else { WriteOutcome::Stopped(error) }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::app::session::message::MessageLevel;

    /// Keeps failures.
    #[derive(Default)]
    struct Failures(Mutex<Vec<String>>);

    impl Observer for Failures {
        fn on_event(&self, event: AppEvent<'_>) {
            if let AppEvent::Message(message) = event
                && message.level == MessageLevel::Failure
            {
                self.0.lock().unwrap().push(message.text.to_string());
            }
        }
    }

    fn failed(path: &str) -> ConversionInput<'static> {
        ConversionInput::Failed(Error::PathNotFound { path: path.into() })
    }

    #[test]
    fn the_second_result_of_a_name_gets_a_number() {
        let inputs =
            [failed("/a/x.md"), failed("/b/X.md"), failed("/c/x.md"), ConversionInput::Stream(&[])];
        let found: Vec<(PathBuf, bool)> = targets(&inputs, Path::new("/out"), "json")
            .into_iter()
            .map(|target| (target.output, target.is_renamed))
            .collect();
        let expected = [
            ("/out/x.md.json", false),
            ("/out/X.md~2.json", true),
            ("/out/x.md~3.json", true),
            ("/out/stdin.json", false),
        ];
        assert_eq!(found, expected.map(|(path, is_renamed)| (path.into(), is_renamed)));
    }

    #[test]
    fn a_failure_is_reported_unless_it_is_the_result() {
        for (is_single, expected) in [(false, 1), (true, 0)] {
            let observer = Failures::default();
            let mut report = ConvertReport::default();
            let target = targets(&[failed("/a/x.md")], Path::new("/out"), "md").remove(0);
            let error = Error::PathNotFound { path: "/a/x.md".into() };
            report.count(target, WriteOutcome::Failed(error), is_single, &observer);
            assert_eq!((report.failed.len(), report.num_files()), (1, 1));
            assert_eq!(observer.0.lock().unwrap().len(), expected);
        }
    }
}
