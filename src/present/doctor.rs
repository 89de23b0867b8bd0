//! Presents the checks of `kb doctor`, for programs and for people.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::present::json;
use crate::present::terminal::columns::padding;
use crate::present::terminal::number::counted;
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::json::Json;
use crate::text::printable::clean;

/// How something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// Worth knowing; nothing is wrong.
    Note,
    /// It was wrong and has been mended.
    Repaired,
    /// It is wrong.
    Fault,
}

impl Verdict {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Repaired => "repaired",
            Self::Fault => "fault",
        }
    }

    fn meaning(self) -> Meaning {
        match self {
            Self::Ok => Meaning::Good,
            Self::Note => Meaning::Plain,
            Self::Repaired => Meaning::Warning,
            Self::Fault => Meaning::Bad,
        }
    }
}

/// Something that was examined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it is about, in one word.
    pub name: &'static str,
    /// How it is.
    pub verdict: Verdict,
    /// A sentence without a stop at its end.
    pub message: String,
    /// What the user can do, if anything.
    pub fix: Option<String>,
}

/// What was examined and how it was found.
#[derive(Serialize, JsonSchema)]
pub(super) struct DoctorJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Whether there is no fault.
    sound: bool,
    /// Faults that are left.
    faults: usize,
    /// Faults that were mended.
    repaired: usize,
    /// In the order in which they were made.
    checks: Vec<CheckJson<'a>>,
}

/// Something that was examined.
#[derive(Serialize, JsonSchema)]
struct CheckJson<'a> {
    /// What it is about, in one word.
    name: &'a str,
    /// `ok`, `note`, `repaired` or `fault`.
    verdict: &'static str,
    /// How it was found, for people.
    message: &'a str,
    /// What to do next; null where nothing need be done.
    fix: Option<&'a str>,
}

fn count(checks: &[Check], verdict: Verdict) -> usize {
    checks.iter().filter(|it| it.verdict == verdict).count()
}

/// Writes what was examined as one object.
///
/// # Errors
///
/// What writing gives.
pub fn json(checks: &[Check], out: &mut Json<'_>) -> io::Result<()> {
    let faults = count(checks, Verdict::Fault);
    let json = DoctorJson {
        contract_version: json::CONTRACT_VERSION,
        sound: faults == 0,
        faults,
        repaired: count(checks, Verdict::Repaired),
        checks: checks
            .iter()
            .map(|it| CheckJson {
                name: it.name,
                verdict: it.verdict.as_str(),
                message: &it.message,
                fix: it.fix.as_deref(),
            })
            .collect(),
    };
    out.value(&json)
}

impl Human {
    /// Writes a line for each thing that was examined, and one for the whole.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn doctor(&self, checks: &[Check], out: &mut Sheet<'_>) -> io::Result<()> {
        let width = checks.iter().map(|it| it.name.len()).max().unwrap_or(0);
        for check in checks {
            self.paint(check.verdict.meaning(), check.verdict.as_str(), out)?;
            let space = padding(check.verdict.as_str(), 8);
            writeln!(out, "{space}  {:width$}  {}", check.name, clean(&check.message))?;
            if let Some(fix) = &check.fix {
                writeln!(out, "{:8}  {:width$}  hint: {}", "", "", clean(fix))?;
            }
        }
        match count(checks, Verdict::Fault) {
            0 => self.paint(Meaning::Good, "Sound.", out)?,
            faults => {
                let faults = format!("{}.", counted(faults, "fault"));
                self.paint(Meaning::Bad, &faults, out)?;
            }
        }
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_is_a_line_and_faults_are_counted() {
        let check = |name, verdict, fix: Option<&str>| Check {
            name,
            verdict,
            message: "it\u{1b}[31m is so".into(),
            fix: fix.map(str::to_owned),
        };
        let checks = [
            check("disk", Verdict::Ok, None),
            check("database", Verdict::Fault, Some("mend it")),
            check("skill", Verdict::Note, None),
        ];
        let mut out = Vec::new();
        Human::plain(80).doctor(&checks, &mut Sheet::new(&mut out)).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"
        ok        disk      it\u{fffd}[31m is so
        fault     database  it\u{fffd}[31m is so
                            hint: mend it
        note      skill     it\u{fffd}[31m is so
        1 fault.
        ");
        let mut out = Vec::new();
        json(&checks, &mut Json::new(&mut out)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("\"sound\": false") && text.contains("\"faults\": 1"), "{text}");
    }
}
