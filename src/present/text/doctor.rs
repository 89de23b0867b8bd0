//! Writes the checks of `kb doctor` as text.

use std::io;

use crate::app::doctor::{Findings, Verdict};
use crate::present::terminal::columns::padding;
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::number::counted;
use crate::text::printable::clean;

fn meaning(verdict: Verdict) -> Meaning {
    match verdict {
        Verdict::Ok => Meaning::Good,
        Verdict::Note => Meaning::Plain,
        Verdict::Repaired => Meaning::Warning,
        Verdict::Fault => Meaning::Bad,
    }
}

/// Columns of a verdict.
const VERDICT_COLUMNS: usize = 8;

impl Human {
    /// Writes one line per check, and a summary line.
    pub fn doctor(&self, findings: &Findings, out: &mut Sheet<'_>) -> io::Result<()> {
        let checks = &findings.checks;
        let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
        for check in checks {
            let verdict = check.verdict.as_str();
            self.paint(meaning(check.verdict), verdict, out)?;
            let space = padding(verdict, VERDICT_COLUMNS);
            write!(out, "{space}  {:width$}  ", check.name)?;
            self.hanging(&clean(&check.message), VERDICT_COLUMNS + width + 4, out)?;
            if let Some(fix) = &check.fix {
                write!(out, "{:VERDICT_COLUMNS$}  {:width$}  ", "", "")?;
                let fix = match fix.strip_prefix("kb ") {
                    Some(rest) => self.command(None, &clean(rest)),
                    None => self.with_base(&clean(fix), None),
                };
                self.hanging(&format!("hint: {fix}"), VERDICT_COLUMNS + width + 4, out)?;
            }
        }
        match findings.count(Verdict::Fault) {
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
    use crate::app::doctor::Check;
    use crate::present::json;
    use crate::text::json::Json;

    #[test]
    fn each_check_is_a_line_and_faults_are_counted() {
        let check = |name, verdict, fix: Option<&str>| Check {
            name,
            verdict,
            message: "it\u{1b}[31m is so".into(),
            fix: fix.map(str::to_owned),
        };
        let checks = vec![
            check("disk", Verdict::Ok, None),
            check("database", Verdict::Fault, Some("repair it")),
            check("skill", Verdict::Note, None),
        ];
        let findings = Findings { checks, is_beyond_repair: false };
        let mut out = Vec::new();
        Human::plain(80).doctor(&findings, &mut Sheet::new(&mut out)).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"
        ok        disk      it\u{fffd}[31m is so
        fault     database  it\u{fffd}[31m is so
                            hint: repair it
        note      skill     it\u{fffd}[31m is so
        1 fault.
        ");
        let mut out = Vec::new();
        json::doctor(&findings, &mut Json::new(&mut out)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("\"sound\": false") && text.contains("\"faults\": 1"), "{text}");
    }
}
