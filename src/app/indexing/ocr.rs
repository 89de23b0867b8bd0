//! Selects the OCR program from the settings and `PATH`.

mod wrapper;

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Session;
use crate::config::{Environment, OcrMode};
use crate::extract::sandbox::{Ocr, Tesseract};
use crate::files::open::{SymlinkPolicy, open};
use crate::text::fields;

/// Name of the program.
const TESSERACT: &str = "tesseract";

/// The remedy for a script in place of the program.
pub const REMEDY: &str = "on the PATH, put the folder of the program that the script starts before the folder of the \
     script";

/// The OCR setup.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Ocr")]
pub struct OcrSetup {
    /// `ingestion.enable_ocr`: `auto`, `always` or `never`.
    pub mode: String,
    /// Where Tesseract is; null if it is not on this machine, or cannot run in its box.
    #[serde(serialize_with = "fields::path_or_null")]
    pub tesseract: Option<PathBuf>,
    /// Why the Tesseract on the `PATH` cannot run in its box; else null.
    pub problem: Option<String>,
    /// `ingestion.ocr_languages`.
    pub languages: String,
}

/// Returns the OCR options for ingestion.
pub fn options(session: &Session) -> Ocr {
    let settings = &session.config().ingestion;
    if settings.enable_ocr == OcrMode::Never {
        return Ocr::Never;
    }
    match find(session.environment()) {
        None => Ocr::Missing,
        Some(Err(script)) => Ocr::Unusable { reason: problem(&script) },
        Some(Ok(tesseract)) => Ocr::Tesseract {
            tesseract,
            languages: settings.ocr_languages.clone(),
            is_forced: settings.enable_ocr == OcrMode::Always,
        },
    }
}

/// Returns the OCR setup for `kb status`.
pub fn setup(session: &Session) -> OcrSetup {
    let settings = &session.config().ingestion;
    let (tesseract, problem) = match find(session.environment()) {
        None => (None, None),
        Some(Err(script)) => (None, Some(problem(&script))),
        Some(Ok(tesseract)) => (Some(tesseract.program), None),
    };
    OcrSetup {
        mode: settings.enable_ocr.as_str().to_owned(),
        tesseract,
        problem,
        languages: settings.ocr_languages.clone(),
    }
}

fn problem(script: &Path) -> String {
    format!("{} is a script, and the sandbox has no shell", script.display())
}

/// Returns the first Tesseract on `PATH`, which may be a script that only starts it. The error is the path of a
/// script that does more: a confined process can start no other program.
fn find(environment: &Environment) -> Option<Result<Tesseract, PathBuf>> {
    /// Most scripts that are followed. More are scripts that start each other without end.
    const MAX_SCRIPTS: usize = 8;
    let found = environment.program(TESSERACT)?;
    let mut tesseract = Tesseract { program: found.clone(), variables: Vec::new() };
    for _ in 0..MAX_SCRIPTS {
        let Some(script) = script(&tesseract.program) else { return Some(Ok(tesseract)) };
        let Some(wrapped) = wrapper::read(&script) else { break };
        for (name, value) in wrapped.variables {
            set(&mut tesseract.variables, name, value);
        }
        for (name, value) in wrapped.defaults {
            let is_set = tesseract.variables.iter().any(|(other, _)| *other == name);
            if !is_set && environment.get(name).is_none() {
                set(&mut tesseract.variables, name, value);
            }
        }
        tesseract.program = wrapped.program;
    }
    Some(Err(found))
}

fn set(variables: &mut Vec<(&'static str, OsString)>, name: &'static str, value: OsString) {
    variables.retain(|(other, _)| *other != name);
    variables.push((name, value));
}

/// Returns the text of a program that another one has to run, which its first line names. Only Linux has a box
/// in which that one cannot be started.
fn script(program: &Path) -> Option<String> {
    /// Much longer than a script that starts one program.
    const MAX_BYTES: u64 = 64 << 10;
    let mut bytes = Vec::new();
    let file = open(program, SymlinkPolicy::Follow).ok().filter(|_| cfg!(target_os = "linux"))?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    bytes.starts_with(b"#!").then(|| String::from_utf8_lossy(&bytes).into_owned())
}
