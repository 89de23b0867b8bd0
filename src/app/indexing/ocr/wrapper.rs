//! Reads scripts that only start another program, as packages use them to set a variable.

use std::ffi::OsString;
use std::path::PathBuf;

/// The program that a script starts, and the variables that it gets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrappedProgram {
    /// The program, which gets the arguments of the script.
    pub(super) program: PathBuf,
    /// The variables that the script sets, if they are not set already.
    pub(super) defaults: Vec<(&'static str, OsString)>,
    /// The variables that it sets in any case.
    pub(super) variables: Vec<(&'static str, OsString)>,
}

/// The variables that a script may set: those that a confined program keeps.
const VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "TESSDATA_PREFIX"];

/// Returns the program that a script starts; `None` if it does more than to export variables to
/// fixed values and to replace itself by a program with a fixed path, with `exec PROGRAM "$@"`.
pub(super) fn read(script: &str) -> Option<WrappedProgram> {
    let (mut defaults, mut variables) = (Vec::new(), Vec::new());
    let lines = script.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(setting) = line.strip_prefix("export ") {
            let (name, value) = setting.split_once('=')?;
            let name = VARIABLES.into_iter().find(|known| *known == name)?;
            match default(name, value) {
                Some(value) => defaults.push((name, literal(value)?.into())),
                None => variables.push((name, literal(value)?.into())),
            }
            continue;
        }
        let started = line.strip_prefix("exec ")?.trim_start();
        // `-a` sets the name that the program sees, which does not matter to Tesseract.
        let started = started.strip_prefix("-a \"$0\" ").unwrap_or(started);
        let program = PathBuf::from(literal(started.strip_suffix("\"$@\"")?.trim())?);
        return program.is_absolute().then_some(WrappedProgram { program, defaults, variables });
    }
    None
}

/// Returns the value in `${NAME-VALUE}` or `${NAME:-VALUE}`, which is for a variable that is not set.
fn default<'a>(name: &str, value: &'a str) -> Option<&'a str> {
    let value = value.strip_prefix("${")?.strip_prefix(name)?.strip_suffix('}')?;
    value.strip_prefix(":-").or_else(|| value.strip_prefix('-'))
}

/// Returns the text of a word of the shell, if the shell would replace nothing in it.
fn literal(word: &str) -> Option<&str> {
    let quoted = |quote| word.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(word) = quoted('\'') {
        return (!word.contains('\'')).then_some(word);
    }
    if let Some(word) = quoted('"') {
        return (!word.contains(['"', '$', '`', '\\'])).then_some(word);
    }
    let is_plain = word.chars().all(|c| c.is_alphanumeric() || "/._-+:@,=%".contains(c));
    is_plain.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, program: &str, defaults: &[&str], variables: &[&str]) {
        let values = |values: Vec<(&'static str, OsString)>| -> Vec<String> {
            let shown = |(name, value): (&str, OsString)| format!("{name}={}", value.display());
            values.into_iter().map(shown).collect()
        };
        let wrapped = read(script).unwrap();
        assert_eq!(wrapped.program, PathBuf::from(program));
        assert_eq!(values(wrapped.defaults), defaults);
        assert_eq!(values(wrapped.variables), variables);
    }

    #[test]
    fn a_script_that_only_starts_a_program_is_followed() {
        check(
            "#!/bin/sh\nexec /opt/ocr/bin/tesseract \"$@\"\n",
            "/opt/ocr/bin/tesseract",
            &[],
            &[],
        );
        // As Nix writes it.
        let script = "#! /nix/store/a-bash/bin/bash -e\n\
            export TESSDATA_PREFIX=${TESSDATA_PREFIX-'/nix/store/b/share/tessdata'}\n\
            exec \"/nix/store/c/bin/tesseract\"  \"$@\" \n";
        let data = ["TESSDATA_PREFIX=/nix/store/b/share/tessdata"];
        check(script, "/nix/store/c/bin/tesseract", &data, &[]);
        let script = "#!/bin/bash\n\n# With its libraries.\nexport LD_LIBRARY_PATH=\"/opt/o c r\"\n\
            exec -a \"$0\" '/opt/o c r/tesseract' \"$@\"\nexit 1\n";
        check(script, "/opt/o c r/tesseract", &[], &["LD_LIBRARY_PATH=/opt/o c r"]);
    }

    #[test]
    fn a_script_that_does_more_is_not_followed() {
        for line in [
            "exec tesseract \"$@\"",
            "exec /bin/a --quiet \"$@\"",
            "exec /bin/a",
            "/bin/a \"$@\"",
            "cd /; exec /bin/a \"$@\"",
            "exec $HOME/bin/a \"$@\"",
            "exec \"$(which a)\" \"$@\"",
            "exec '/bin/a' '/bin/b' \"$@\"",
            "export PATH=/b\nexec /bin/a \"$@\"",
            "export LD_LIBRARY_PATH=/b:$LD_LIBRARY_PATH\nexec /bin/a \"$@\"",
            "export TESSDATA_PREFIX=${HOME-/b}\nexec /bin/a \"$@\"",
            "",
            "while :; do :; done",
        ] {
            assert_eq!(read(&format!("#!/bin/sh\n{line}\n")), None, "{line}");
        }
    }
}
