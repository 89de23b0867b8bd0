//! Tests changes of settings, each in the form that the program's documentation shows.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::stale::{Problem, find};
use super::*;

mod documented;
mod forms;

use documented::DOCUMENTED;

const SYSTEM: System = System::Linux;

fn environment(home: &Path, vars: &[(&str, &str)]) -> Environment {
    let home = [("HOME", home.to_str().unwrap())];
    let all = home.iter().chain(vars);
    all.map(|(name, value)| ((*name).to_owned(), (*value).into())).collect()
}

fn server(words: &[&str]) -> ServerEntry {
    let args = words.iter().map(|word| (*word).to_owned()).collect();
    ServerEntry { command: "/opt/kb".into(), args }
}

/// Plans a change of the user's settings where no program says its version.
fn planned(
    environment: &Environment,
    client: &'static Client,
    entry: Option<&ServerEntry>,
) -> Result<SettingsPlan> {
    plan(client, Settings::OfUser(environment, SYSTEM), entry, &|_| None)
}

/// Writes settings, plans a change, makes it, and returns the action and the new settings.
fn changed(name: &str, settings: &str, entry: Option<&ServerEntry>) -> (Action, String) {
    let home = TempDir::new().unwrap();
    let environment = environment(home.path(), &[]);
    let client = Client::named(name).unwrap();
    let path = client.settings(&environment, SYSTEM);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, settings).unwrap();
    let plan = planned(&environment, client, entry).unwrap();
    plan.apply().unwrap();
    (plan.action, fs::read_to_string(&path).unwrap_or_default())
}

fn refusal(name: &str, settings: &str) -> String {
    let home = TempDir::new().unwrap();
    let environment = environment(home.path(), &[]);
    let client = Client::named(name).unwrap();
    let path = client.settings(&environment, SYSTEM);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, settings).unwrap();
    let error = planned(&environment, client, Some(&server(&["mcp"]))).unwrap_err();
    assert!(matches!(error, Error::Config { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), settings);
    error.to_string()
}

/// Returns settings without the entry of kb.
fn without(settings: &str) -> String {
    let mut all: Vec<&str> = settings.lines().collect();
    let first = all.iter().position(|line| {
        let line = line.trim_start();
        line.starts_with("\"kb\"") || line == "[mcp_servers.kb]" || line == "kb:"
    });
    let first = first.unwrap();
    if all[first] == "  kb:" {
        let inner = all[first + 1..].iter().take_while(|line| line.starts_with("    ")).count();
        all.drain(first..=first + inner);
        return all.iter().map(|line| format!("{line}\n")).collect();
    }
    let last = match all[first].starts_with('[') {
        true => all.len() - 1,
        false => {
            first
                + all[first..]
                    .iter()
                    .position(|line| line.trim() == "}" || line.trim() == "},")
                    .unwrap()
        }
    };
    let has_comma = all[last].ends_with(',');
    let mut before = all[..first].to_vec();
    let shortened = before.last().map(|line| line.strip_suffix(',').unwrap_or(line)).unwrap();
    if !has_comma {
        *before.last_mut().unwrap() = shortened;
    }
    while before.last().is_some_and(|line| line.is_empty()) {
        before.pop();
    }
    let rest = all[last + 1..].iter();
    before.iter().chain(rest).map(|line| format!("{line}\n")).collect()
}

#[test]
fn each_program_gets_the_form_that_its_documentation_states() {
    assert_eq!(DOCUMENTED.map(|(name, _)| name), CLIENTS.each_ref().map(|client| client.name));
    for (name, settings) in DOCUMENTED {
        let entry = server(&["mcp"]);
        let old = without(settings);
        assert!(!old.contains("/opt/kb"), "{old}");
        let (action, new) = changed(name, &old, Some(&entry));
        assert_eq!((action, new.as_str()), (Action::Added, settings), "{name}\n{new}");
    }
}

#[test]
fn a_second_time_changes_nothing_and_removing_gives_the_old_bytes() {
    for (name, settings) in DOCUMENTED {
        let entry = server(&["mcp"]);
        let again = changed(name, settings, Some(&entry));
        assert_eq!(again, (Action::Unchanged, settings.to_owned()), "{name}");
        let removed = changed(name, settings, None);
        assert_eq!(removed, (Action::Removed, without(settings)), "{name}");
        let absent = changed(name, &removed.1, None);
        assert_eq!(absent, (Action::Absent, removed.1), "{name}");
    }
}

#[test]
fn an_entry_that_is_there_keeps_its_other_fields() {
    let (action, new) = changed(
        "cursor",
        "{\n  \"mcpServers\": {\n    \"kb\": {\n      // old\n      \"command\": \"/old/kb\",\n      \
         \"args\": [\"mcp\"],\n      \"env\": {\"A\": \"b\"}\n    }\n  }\n}",
        Some(&server(&["mcp", "--data-dir", "/d"])),
    );
    assert_eq!(action, Action::Updated);
    let kept =
        ["// old", "\"env\": {\"A\": \"b\"}", "\"/opt/kb\"", "\"--data-dir\", \"/d\"", "\"stdio\""];
    for text in kept {
        assert!(new.contains(text), "{text}: {new}");
    }
    assert!(!new.contains("/old/kb") && !new.ends_with('\n'), "{new}");
    let old = "[mcp_servers.kb]\ncommand = \"/old/kb\" # here\nargs = []\ntool_timeout_sec = 5\n\
               [mcp_servers.kb.env]\nA = \"b\"\n";
    let (_, new) = changed("codex", old, Some(&server(&["mcp"])));
    let wanted = old.replace("/old/kb", "/opt/kb").replace("[]", "[\"mcp\"]");
    assert_eq!(new, wanted);
    // A remote server is something else: nothing of it may be kept.
    let remote = "{\"mcpServers\": {\"kb\": {\"url\": \"http://example.com\"}}}";
    let (action, new) = changed("cursor", remote, Some(&server(&["mcp"])));
    assert!(action == Action::Updated && !new.contains("url"), "{new}");
}

#[test]
fn empty_and_missing_settings_are_made() {
    for (name, settings) in DOCUMENTED {
        let home = TempDir::new().unwrap();
        let environment = environment(home.path(), &[]);
        let client = Client::named(name).unwrap();
        let missing = planned(&environment, client, Some(&server(&["mcp"]))).unwrap();
        assert!(!missing.path.exists());
        missing.apply().unwrap();
        let made = fs::read_to_string(&missing.path).unwrap();
        assert!(made.contains("/opt/kb") && made.ends_with('\n'), "{settings}: {made}");
        for empty in ["", "\n", if ["codex", "goose"].contains(&name) { "# x\n" } else { "{}" }] {
            let (action, new) = changed(name, empty, Some(&server(&["mcp"])));
            assert!(action == Action::Added && new.contains("/opt/kb"), "{name}: {new}");
        }
        let nothing = planned(&environment, client, None).unwrap();
        assert_eq!(nothing.action, Action::Removed);
    }
}

#[test]
fn broken_settings_are_refused_with_the_line() {
    let cases = [
        ("cursor", "{\n  \"a\": 1,\n  b\n}", "line 3: "),
        ("claude-desktop", "{\n  // no comments here\n}", "line 2: key must be a string"),
        ("claude-code", "{\n  \"a\": 1,\n}", "line 3: trailing comma"),
        ("vscode", "{\"servers\": []}", "`servers` is not an object"),
        ("zed", "[]", "it is not an object"),
        ("gemini", "{\"mcpServers\": {\"kb\": {}, \"\\u006bb\": {}}}", "`kb` appears twice"),
        ("gemini", "{\"mcpServers\": {}, \"mcpServers\": {}}", "`mcpServers` appears twice"),
        ("codex", "a = 1\nb = \n", "line 2: "),
        ("codex", "mcp_servers = 1\n", "`mcp_servers` is not a table"),
        ("goose", "extensions: {a: {cmd: b}}\n", "`extensions` is not in block style"),
        ("goose", "- a\n", "it is not a mapping"),
        ("goose", "a: 1\nb: [\n", "line "),
    ];
    for (name, settings, message) in cases {
        let told = refusal(name, settings);
        assert!(told.contains(message) && told.contains("nothing was changed"), "{name}: {told}");
    }
    let deep = "[".repeat(100_000);
    for name in ["cursor", "codex"] {
        let settings = if name == "codex" { format!("a = {deep}") } else { deep.clone() };
        refusal(name, &settings);
    }
}

#[test]
fn marks_line_ends_and_one_line_are_kept() {
    let entry = server(&["mcp"]);
    let (_, new) = changed("cursor", "\u{feff}{\r\n  \"a\": 1\r\n}\r\n", Some(&entry));
    assert!(new.starts_with("\u{feff}{\r\n  \"a\": 1,\r\n"), "{new:?}");
    assert!(!new.replace("\r\n", "").contains('\n'), "{new:?}");
    let (_, new) = changed("codex", "a = 1\r\n", Some(&entry));
    assert!(!new.replace("\r\n", "").contains('\n'), "{new:?}");
    let (_, new) = changed("codex", "a = 1\r\nb = 2\n[c]\r\n", Some(&entry));
    assert!(new.starts_with("a = 1\r\nb = 2\n[c]\r\n"), "{new:?}");
    // Letters of every script, escaped as JSON needs it.
    let quoted = ServerEntry { command: "/ü \"x\"\\kb".into(), args: vec!["mcp".into()] };
    let (_, new) = changed("cursor", "{}", Some(&quoted));
    let value: Value = serde_json::from_str(&new).unwrap();
    assert_eq!(value["mcpServers"]["kb"]["command"], "/ü \"x\"\\kb");
}

#[test]
fn comments_above_a_removed_table_stay() {
    let settings =
        "a = 1\n\n# about b\n\n[mcp_servers.kb]\ncommand = \"kb\"\n\n# about c\n[c]\nd = 1\n";
    let (_, new) = changed("codex", settings, None);
    assert!(new.contains("# about b") && new.contains("# about c\n[c]\nd = 1\n"), "{new}");
    let (_, new) = changed("codex", "# first\n[mcp_servers.kb]\ncommand = \"kb\"\n# last\n", None);
    assert!(new.contains("# first") && new.contains("# last"), "{new}");
}

#[test]
fn the_newer_form_of_opencode_is_kept() {
    let entry = server(&["mcp"]);
    let newer = "{\"mcp\": {\"servers\": {\"a\": {\"type\": \"local\", \"command\": [\"a\"]}}}}";
    let (_, new) = changed("opencode", newer, Some(&entry));
    let value: Value = serde_json::from_str(&new).unwrap();
    let entry_of_newer = serde_json::json!({ "type": "local", "command": ["/opt/kb", "mcp"] });
    assert_eq!(value["mcp"]["servers"]["kb"], entry_of_newer);
    // A server may have this name.
    let older = "{\"mcp\": {\"servers\": {\"type\": \"local\", \"command\": [\"a\"]}}}";
    let (_, new) = changed("opencode", older, Some(&entry));
    let value: Value = serde_json::from_str(&new).unwrap();
    assert_eq!(value["mcp"]["kb"]["command"][0], "/opt/kb");
}

#[test]
fn settings_are_where_each_system_has_them() {
    let home = Path::new("/home/u");
    let at = |name: &str, system, vars: &[(&str, &str)]| {
        let environment = environment(home, vars);
        Client::named(name).unwrap().settings(&environment, system).display().to_string()
    };
    let (linux, mac, windows) = (System::Linux, System::MacOs, System::Windows);
    let roaming = [("APPDATA", "/r")];
    let support = "/home/u/Library/Application Support";
    assert_eq!(at("claude-code", windows, &roaming), "/home/u/.claude.json");
    assert_eq!(at("claude-code", linux, &[("CLAUDE_CONFIG_DIR", "/c")]), "/c/.claude.json");
    let desktop = "Claude/claude_desktop_config.json";
    assert_eq!(at("claude-desktop", linux, &[]), format!("/home/u/.config/{desktop}"));
    assert_eq!(at("claude-desktop", mac, &[]), format!("{support}/{desktop}"));
    assert_eq!(at("claude-desktop", windows, &roaming), format!("/r/{desktop}"));
    assert_eq!(at("codex", mac, &[]), "/home/u/.codex/config.toml");
    assert_eq!(at("codex", mac, &[("CODEX_HOME", "/c")]), "/c/config.toml");
    assert_eq!(at("codex", mac, &[("CODEX_HOME", "c")]), "/home/u/.codex/config.toml");
    assert_eq!(at("cursor", windows, &roaming), "/home/u/.cursor/mcp.json");
    assert_eq!(at("gemini", linux, &[("GEMINI_CLI_HOME", "/g")]), "/g/.gemini/settings.json");
    let xdg = [("XDG_CONFIG_HOME", "/x")];
    assert_eq!(at("opencode", linux, &xdg), "/x/opencode/opencode.json");
    assert_eq!(at("vscode", linux, &xdg), "/x/Code/User/mcp.json");
    assert_eq!(at("vscode", mac, &[]), format!("{support}/Code/User/mcp.json"));
    assert_eq!(at("vscode", windows, &[]), "/home/u/AppData/Roaming/Code/User/mcp.json");
    assert_eq!(at("zed", linux, &xdg), "/x/zed/settings.json");
    assert_eq!(at("zed", mac, &[]), "/home/u/.config/zed/settings.json");
    assert_eq!(at("zed", windows, &roaming), "/r/Zed/settings.json");
}

#[cfg(unix)]
#[test]
fn links_are_followed_permissions_stay_and_a_change_meanwhile_is_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = TempDir::new().unwrap();
    let environment = environment(home.path(), &[]);
    let client = Client::named("cursor").unwrap();
    let file = home.path().join("dotfiles/mcp.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::create_dir_all(home.path().join(".cursor")).unwrap();
    fs::write(&file, "{}").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let link = home.path().join(".cursor/mcp.json");
    symlink("../dotfiles/mcp.json", &link).unwrap();
    let plan = || planned(&environment, client, Some(&server(&["mcp"]))).unwrap();
    let early = plan();
    plan().apply().unwrap();
    assert!(link.is_symlink() && fs::read_to_string(&file).unwrap().contains("/opt/kb"));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let error = early.apply().unwrap_err().to_string();
    assert!(error.contains("changed in the meantime"), "{error}");
    // A link to itself is an error and no endless loop.
    fs::remove_file(&link).unwrap();
    symlink("mcp.json", &link).unwrap();
    assert!(planned(&environment, client, None).is_err());
}

#[test]
fn stale_entries_are_found() {
    let home = TempDir::new().unwrap();
    let environment = environment(home.path(), &[]);
    let this = home.path().join("kb");
    let other = home.path().join("other/kb");
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::write(&this, "").unwrap();
    fs::write(&other, "").unwrap();
    let write = |name: &str, settings: Value| {
        let path = Client::named(name).unwrap().settings(&environment, SYSTEM);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, settings.to_string()).unwrap();
    };
    let servers = |command: &Path, args: &[&str]| serde_json::json!({"mcpServers": {"kb": {"command": command, "args": args}}});
    write("claude-code", servers(&this, &["mcp"]));
    write("claude-desktop", servers(&this, &["mcp", "--data-dir", "/nowhere/d"]));
    write("cursor", servers(Path::new("/nowhere/kb"), &["mcp"]));
    write("gemini", servers(&other, &["mcp"]));
    write(
        "zed",
        serde_json::json!({"context_servers": {"mine": {"command": "/nowhere/kb", "args": ["mcp"]},
        "others": {"command": "/nowhere/x", "args": ["mcp"]}}}),
    );
    write("vscode", serde_json::json!("broken"));
    let (found, errors) = find(&environment, SYSTEM, &this);
    let found: Vec<_> = found.into_iter().map(|found| (found.client, found.problem)).collect();
    let gone = || Some(Problem::NoProgram("/nowhere/kb".into()));
    let wanted = [
        ("claude-code", None),
        ("claude-desktop", Some(Problem::NoDataDir("/nowhere/d".into()))),
        ("cursor", gone()),
        ("gemini", Some(Problem::OtherProgram(other.display().to_string()))),
        ("zed", gone()),
    ];
    assert_eq!(found, wanted);
    assert_eq!(errors.len(), 1);
}

#[test]
fn settings_that_are_no_text_are_refused_with_the_line() {
    for (bytes, line) in [(&b"\xff"[..], "line 1"), (b"{\n\n\"a\xff", "line 3")] {
        let error = text(bytes, Path::new("/settings")).unwrap_err().to_string();
        assert!(error.contains(line) && error.contains("it is not UTF-8"), "{error}");
    }
    assert_eq!(text("\u{feff}{}".as_bytes(), Path::new("/x")).unwrap(), ("\u{feff}", "{}"));
}
