//! Computes the new text of the configuration file when a key is set.

use std::collections::BTreeMap;
use std::path::Path;

use figment::Figment;
use figment::providers::Serialized;

use crate::config::faults::{check, nearest_hint, wrong_value};
use crate::config::file::{parse_yaml, read};
use crate::config::values::{is_text, keys};
use crate::config::yaml::Yaml;
use crate::config::{Config, Environment, SettingOrigin};
use crate::error::{Error, Result};
use crate::limits;
use crate::wording::{kb, wording};

/// Returns the text of `file` with `key` set to `value` and every other line unchanged; `None` if
/// the file already has the value.
pub fn set(
    file: &Path,
    key: &str,
    value: &str,
    environment: &Environment,
) -> Result<Option<String>> {
    let defaults = Config::defaults(&environment.home());
    let keys = keys(&defaults);
    if !keys.iter().any(|known| known == key) {
        let message = format!("unknown configuration key `{key}`").into();
        return Err(Error::Usage { message, hint: nearest_hint(key, &keys) });
    }
    let old = read(file)?.unwrap_or_default();
    parse_yaml(file, &old)?;
    let text = with_key(&old, key, &scalar(value, is_text(&defaults, key)));
    let Ok(document) = parse_yaml(file, &text) else {
        // `search: {default_top: 3}`, for example, can be read, but the key has no separate line.
        return Err(Error::usage(format!(
            "cannot set `{key}` in {}: its style is not block YAML",
            file.display()
        ))
        .with_hint("set it by hand"));
    };
    let merged = Figment::from(Serialized::defaults(&defaults)).merge(Yaml(&document));
    // An invalid value is reported for the command, as the file is not yet changed.
    let typed = SettingOrigin::Flag(wording!("`{}`", kb("config set")).to_string());
    let origins = BTreeMap::from([(key.to_owned(), typed)]);
    let config: Config = merged.extract().map_err(|error| wrong_value(&error, &origins, file))?;
    check(&config, &origins, file)?;
    Ok((text != old).then_some(text))
}

/// Sets one key to a scalar in block-style YAML, line by line, so that comments and order are kept.
fn with_key(text: &str, key: &str, value: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut start, mut end, mut indent) = (0, lines.len(), 0);
    let parts: Vec<&str> = key.split('.').collect();
    for (depth, part) in parts.iter().enumerate() {
        let siblings =
            lines[start..end].iter().find(|line| is_entry(line)).map(|line| indent_of(line));
        indent = siblings.unwrap_or(if depth == 0 { 0 } else { indent + 2 });
        let at = (start..end).find(|&idx| {
            let line = &lines[idx];
            is_entry(line)
                && indent_of(line) == indent
                && line.trim_start().strip_prefix(part).is_some_and(|rest| rest.starts_with(':'))
        });
        let is_leaf = depth + 1 == parts.len();
        let line = format!(
            "{:indent$}{part}:{}",
            "",
            if is_leaf { format!(" {value}") } else { String::new() }
        );
        let at = match at {
            Some(at) if is_leaf => {
                lines[at] = line;
                at
            }
            Some(at) => at,
            None => {
                let last = (start..end).rev().find(|&idx| is_entry(&lines[idx]));
                let at = last.map_or(start, |idx| idx + 1);
                lines.insert(at, line);
                end = at + 1;
                at
            }
        };
        start = at + 1;
        end = (start..end.max(start))
            .find(|&idx| is_entry(&lines[idx]) && indent_of(&lines[idx]) <= indent)
            .unwrap_or(end.max(start));
    }
    lines.join("\n") + "\n"
}

/// Whether a line is neither blank nor a comment.
pub(crate) fn is_entry(line: &str) -> bool {
    let text = line.trim_start();
    !text.is_empty() && !text.starts_with('#')
}

/// Returns the number of spaces before a line.
pub(crate) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns a typed value as a YAML scalar. Numbers and booleans are unquoted unless the key holds text; text is quoted
/// where YAML would interpret it.
fn scalar(typed: &str, is_text: bool) -> String {
    let parsed = Some(typed).filter(|typed| !is_text && limits::is_readable_yaml(typed));
    match parsed.and_then(|typed| yaml_serde::from_str(typed).ok()) {
        Some(yaml_serde::Value::Bool(_) | yaml_serde::Value::Number(_)) => typed.to_owned(),
        _ if typed.is_empty() => "\"\"".into(),
        _ => yaml_serde::to_string(typed).unwrap_or_default().trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FILE_NAME;
    use crate::config::load::load;

    fn environment(home: &Path, values: &[(&str, &str)]) -> Environment {
        let home = ("HOME".to_owned(), home.as_os_str().to_owned());
        values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.into()))
            .chain([home])
            .collect()
    }

    #[track_caller]
    fn check_set(before: &str, key: &str, value: &str, after: &str) {
        let value = scalar(value, key.starts_with("embedding"));
        assert_eq!(with_key(before, key, &value), after);
    }

    #[test]
    fn setting_a_key_keeps_the_rest_of_the_file() {
        check_set("", "search.default_top", "5", "search:\n  default_top: 5\n");
        check_set(
            "# mine\nsearch:\n    # how many\n    default_top: 3 # few\n\ndata_dir: ~/x\n",
            "search.default_top",
            "5",
            "# mine\nsearch:\n    # how many\n    default_top: 5\n\ndata_dir: ~/x\n",
        );
        check_set(
            "search:\n  rrf_k: 60\ndata_dir: ~/x\n",
            "search.default_top",
            "5",
            "search:\n  rrf_k: 60\n  default_top: 5\ndata_dir: ~/x\n",
        );
        check_set(
            "chunking:\n  pdf:\n    max_tokens: 9\n",
            "chunking.code.max_tokens",
            "7",
            "chunking:\n  pdf:\n    max_tokens: 9\n  code:\n    max_tokens: 7\n",
        );
        check_set(
            "",
            "embedding.query_prefix",
            "query: ",
            "embedding:\n  query_prefix: 'query: '\n",
        );
        // A key of the same name in another group, or deeper, is another key.
        check_set("a:\n  b: 1\nc:\n  b: 2\n", "c.b", "3", "a:\n  b: 1\nc:\n  b: 3\n");
        check_set("a:\n  b:\n    c: 1\n", "a.c", "2", "a:\n  b:\n    c: 1\n  c: 2\n");
        check_set("ab: 1\n", "a", "2", "ab: 1\na: 2\n");
        // A new key comes after the last entry of its group, not after the comments that follow.
        check_set(
            "a:\n  b: 1\n\n# next\nc: 2\n",
            "a.d",
            "3",
            "a:\n  b: 1\n  d: 3\n\n# next\nc: 2\n",
        );
        check_set("a:\n# nothing yet\n", "a.b", "1", "a:\n  b: 1\n# nothing yet\n");
        check_set("a:\n  b:\nc: 1\n", "a.b.d", "2", "a:\n  b:\n    d: 2\nc: 1\n");
    }

    #[test]
    fn a_typed_value_is_quoted_where_yaml_would_read_something_else() {
        for (typed, is_text, expected) in [
            ("5", false, "5"),
            ("5", true, "'5'"),
            ("true", false, "true"),
            ("true", true, "'true'"),
            ("1.5", false, "1.5"),
            ("", false, "\"\""),
            ("", true, "\"\""),
            ("plain words", false, "plain words"),
            ("a: b", false, "'a: b'"),
            ("[1]", false, "'[1]'"),
        ] {
            assert_eq!(scalar(typed, is_text), expected, "{typed:?}");
        }
        let deep = "[".repeat(limits::YAML_DEPTH + 1);
        assert_eq!(scalar(&deep, false), format!("'{deep}'"));
    }

    #[test]
    fn a_file_that_is_not_changed_or_cannot_be_is_not_written() {
        let home = tempfile::tempdir().unwrap();
        let env = environment(home.path(), &[]);
        let file = home.path().join(FILE_NAME);
        let text = "search:\n  default_top: 7\n";
        std::fs::write(&file, text).unwrap();
        let set = |key: &str, value: &str| set(&file, key, value, &env);
        assert_eq!(set("search.default_top", "7").unwrap(), None);
        assert_eq!(set("search.default_top", "8").unwrap().unwrap(), text.replace('7', "8"));
        // A value that is out of range is reported for the command; one that is not typed, for the file.
        let place = |outcome: Result<Option<String>>| match outcome {
            Err(Error::Config { path, .. }) => path.display().to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(place(set("search.default_top", "0")), "`kb config set`");
        std::fs::write(&file, "search:\n  default_top: 0\n").unwrap();
        assert_eq!(place(set("search.rrf_k", "1")), file.display().to_string());
        std::fs::write(&file, "search: {default_top: 3}\n").unwrap();
        let refusal = set("search.default_top", "7").unwrap_err();
        assert!(refusal.to_string().contains("its style is not block YAML"), "{refusal}");
    }

    #[test]
    fn setting_refuses_unknown_keys_and_wrong_values() {
        let home = tempfile::tempdir().unwrap();
        let env = environment(home.path(), &[]);
        let file = home.path().join(FILE_NAME);
        assert!(matches!(set(&file, "search.top", "1", &env), Err(Error::Usage { .. })));
        assert!(matches!(set(&file, "search.default_top", "x", &env), Err(Error::Config { .. })));
        assert!(set(&file, "search.default_top", "7", &env).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn a_value_that_was_set_is_read_back(top in 1_u32..1000, model in "[a-z][a-z0-9/-]{0,20}") {
            let home = tempfile::tempdir().unwrap();
            let env = environment(home.path(), &[]);
            let file = home.path().join(".kb").join(FILE_NAME);
            std::fs::create_dir(home.path().join(".kb")).unwrap();
            for (key, value) in [("search.default_top", top.to_string()), ("embedding.model", model.clone())] {
                if let Some(text) = set(&file, key, &value, &env).unwrap() {
                    std::fs::write(&file, text).unwrap();
                }
            }
            let config = load(&env, &Vec::new()).unwrap().config;
            proptest::prop_assert_eq!(config.search.default_top, top);
            proptest::prop_assert_eq!(config.embedding.model, model);
        }
    }
}
