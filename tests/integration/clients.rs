//! Tests `kb mcp install`, and that the entries it writes start a server.

use std::fs;
use std::io::Write;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::contract::{self, ClientChanged};
use crate::env::{TestEnv, variables_of_user};
use crate::printed_paths::without_links;

const CLINE: &str =
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";

/// The programs and their settings in a home without variables.
pub(crate) const SETTINGS: [(&str, &str); 13] = [
    ("claude-code", ".claude.json"),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
    ("cline", CLINE),
    ("codex", ".codex/config.toml"),
    ("copilot", ".copilot/mcp-config.json"),
    ("cursor", ".cursor/mcp.json"),
    ("gemini", ".gemini/settings.json"),
    ("goose", ".config/goose/config.yaml"),
    ("lm-studio", ".lmstudio/mcp.json"),
    ("opencode", ".config/opencode/opencode.json"),
    ("vscode", ".config/Code/User/mcp.json"),
    ("windsurf", ".codeium/windsurf/mcp_config.json"),
    ("zed", ".config/zed/settings.json"),
];

/// Returns the entry of kb in settings that kb made.
fn entry(env: &TestEnv, client: &str, path: &str) -> Value {
    let text = fs::read_to_string(env.path(path)).unwrap();
    let settings: Value = match client {
        "codex" => toml::from_str(&text).unwrap(),
        "goose" => yaml_serde::from_str(&text).unwrap(),
        _ => serde_json::from_str(&text).unwrap(),
    };
    let servers = settings.as_object().unwrap().values().next().unwrap();
    servers["kb"].clone()
}

/// Returns the command line of an entry.
fn line(entry: &Value) -> Vec<String> {
    let texts = |value: &Value| match value {
        Value::String(text) => vec![text.clone()],
        value => value
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| item.as_str().unwrap().to_owned())
            .collect(),
    };
    [texts(&entry["command"]), texts(&entry["cmd"]), texts(&entry["args"])].concat()
}

fn install(env: &TestEnv, args: &[&str]) -> ClientChanged {
    let all = [&["mcp", "install", "--format", "json", "--yes"], args].concat();
    contract::read(&env.ok(&all))
}

#[test]
fn each_entry_starts_a_server_and_is_removed_again() {
    let env = TestEnv::with_corpus();
    for (client, path) in SETTINGS {
        let done = install(&env, &["--client", client]);
        assert_eq!((done.client.as_str(), done.action.as_str()), (client, "added"));
        // On Windows, where several are in another folder, it must be that of the user.
        let home = env.path("").display().to_string();
        let path = if cfg!(windows) { done.path.strip_prefix(&home).unwrap() } else { path };
        assert_eq!(PathBuf::from(&done.path), without_links(&env.path(path)));
        let line = line(&entry(&env, client, path));
        assert_eq!(line[1..], ["mcp"], "{client}");
        assert_eq!(env.as_written(line[0].clone()), done.command.unwrap());
        // The entry as the program starts it: in another folder, with hardly any variables.
        let mut server = Command::new(&line[0])
            .args(&line[1..])
            .env_clear()
            .envs(variables_of_user(&env.path("")))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        writeln!(server.stdin.take().unwrap(), "{hello}").unwrap();
        let answer = server.wait_with_output().unwrap().stdout;
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["result"]["serverInfo"]["name"], "kb", "{client}");
        let before = fs::read(env.path(path)).unwrap();
        assert_eq!(install(&env, &["--client", client]).action, "unchanged");
        assert_eq!(fs::read(env.path(path)).unwrap(), before);
        let removed = install(&env, &["--client", client, "--remove"]);
        assert_eq!((removed.action.as_str(), removed.command), ("removed", None));
        assert_eq!(install(&env, &["--client", client, "--remove"]).action, "absent");
    }
}

#[test]
fn what_is_named_for_the_run_is_in_the_entry() {
    let env = TestEnv::with_corpus();
    let dir = env.path("data");
    let dir = dir.to_str().unwrap();
    let path = ".cursor/mcp.json";
    let args = |args: &[&str]| {
        install(&env, &[&["--client", "cursor"], args].concat());
        env.as_written(line(&entry(&env, "cursor", path))[1..].join(" "))
    };
    assert_eq!(args(&["--data-dir", "data"]), format!("mcp --data-dir {dir}"));
    assert_eq!(args(&["--allow-write"]), "mcp --allow-write");
    env.ok(&["base", "add", "work"]);
    assert_eq!(args(&["--base", "work"]), "mcp --base work");
    let variable = [("KB_DATA_DIR", dir)];
    let all = ["mcp", "install", "--client", "cursor", "--yes"];
    env.kb_with(&variable, &all).expect(0);
    let line = line(&entry(&env, "cursor", path)).into_iter().map(|word| env.as_written(word));
    assert_eq!(line.skip(1).collect::<Vec<_>>(), ["mcp", "--data-dir", dir]);
}

#[test]
fn nothing_is_changed_before_a_yes() {
    let env = TestEnv::with_corpus();
    let settings = "{\"mcpServers\": {}}";
    env.write(".cursor/mcp.json", settings);
    let refused = env.kb(&["mcp", "install", "--client", "cursor"]).expect(1);
    // The change is shown in the syntax of the file, and the error is the last line.
    assert!(refused.stderr.contains("+ \"kb\": {"), "{}", refused.stderr);
    assert!(refused.stderr.contains("requires `--yes`"), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    let json = env.kb(&["mcp", "install", "--client", "cursor", "--format", "json"]).expect(1);
    assert_eq!(json.json_error()["code"], "usage");
    assert_eq!(fs::read_to_string(env.path(".cursor/mcp.json")).unwrap(), settings);
    env.write(".cursor/mcp.json", "{\n\"mcpServers\": }");
    let broken = ["mcp", "install", "--client", "cursor", "--yes", "--format", "json"];
    let error = env.kb(&broken).expect(1).json_error();
    assert_eq!(error["code"], "config");
    assert!(error.to_string().contains("line 2"), "{error}");
    let unknown = env.kb(&["mcp", "install", "--client", "emacs"]).expect(1).stderr;
    assert!(unknown.contains("claude-code") && unknown.contains("zed"), "{unknown}");
    env.kb(&["mcp", "install"]).expect(1);
}

#[test]
fn doctor_finds_entries_that_no_longer_work() {
    let env = TestEnv::with_corpus();
    env.ok(&["doctor", "--fix"]);
    install(&env, &["--client", "codex"]);
    let clients = |env: &TestEnv, status: i32| {
        let report = env.kb(&["doctor", "--format", "json"]).expect(status).json();
        let checks = report["checks"].as_array().unwrap().clone();
        let is_client = |check: &Value| check["name"] == "client";
        checks.into_iter().filter(is_client).collect::<Vec<_>>()
    };
    assert_eq!(clients(&env, 0)[0]["verdict"], "ok");
    env.write(
        ".codex/config.toml",
        "[mcp_servers.kb]\ncommand = \"/nowhere/kb\"\nargs = [\"mcp\"]\n",
    );
    let found = clients(&env, 1);
    assert_eq!((found.len(), &found[0]["verdict"]), (1, &Value::from("fault")));
    let fix = found[0]["fix"].as_str().unwrap();
    assert!(fix.contains("kb mcp install --client codex"), "{fix}");
    install(&env, &["--client", "codex"]);
    install(&env, &["--client", "zed", "--data-dir", "gone"]);
    let found = clients(&env, 1);
    assert!(found[1]["message"].as_str().unwrap().contains("gone"), "{found:?}");
}

#[test]
fn a_project_gets_an_entry_that_it_can_share() {
    let env = TestEnv::with_corpus();
    let done = install(&env, &["--client", "vscode", "--project"]);
    assert_eq!(PathBuf::from(&done.path), without_links(&env.path(".vscode/mcp.json")));
    assert_eq!(line(&entry(&env, "vscode", ".vscode/mcp.json")), ["kb", "mcp"]);
    assert!(!env.path(".config/Code").exists());
    assert_eq!(install(&env, &["--client", "vscode", "--project", "--remove"]).action, "removed");
    assert!(!env.path(".vscode").exists());
    let args = ["mcp", "install", "--client", "codex", "--project", "--yes"];
    let refused = env.kb(&args).expect(1).stderr;
    assert!(refused.contains("--project` works for claude-code, cursor, vscode"), "{refused}");
}

#[cfg(unix)]
#[test]
fn a_project_chooses_neither_the_file_that_changes_nor_the_variables_of_the_server() {
    let env = TestEnv::with_corpus();
    fs::create_dir_all(env.path("elsewhere")).unwrap();
    fs::create_dir_all(env.path("project/settings")).unwrap();
    let project = |client: &str, status| {
        let args = ["mcp", "install", "--yes", "--client", client, "--project"];
        env.finish(env.command(&args).current_dir(env.path("project"))).expect(status)
    };
    // A folder, a file, and a file that is missing.
    let link = |to: &str, name: &str| symlink(env.path(to), env.path("project").join(name));
    link("elsewhere", ".cursor").unwrap();
    link("elsewhere/mcp.json", ".mcp.json").unwrap();
    for client in ["cursor", "claude-code"] {
        let refused = project(client, 1).stderr;
        let place = env.path("elsewhere/mcp.json").canonicalize();
        assert!(place.is_err(), "nothing was written");
        assert!(refused.contains("a link points outside the project, to "), "{refused}");
        assert!(refused.contains("elsewhere/mcp.json; nothing was changed"), "{refused}");
    }
    // A link to a file in the project is followed, and the real path is shown.
    link("project/settings", ".vscode").unwrap();
    let hostile = r#"{"servers": {"kb": {"command": "kb", "args": ["mcp"], "type": "stdio",
        "env": {"LD_PRELOAD": "/x.so"}, "envFile": "x"}}}"#;
    env.write("project/settings/mcp.json", hostile);
    let done = project("vscode", 0);
    assert!(done.stderr.contains("project/settings/mcp.json, under"), "{}", done.stderr);
    let dropped = "Drops these fields of the existing entry: env LD_PRELOAD, envFile\n";
    assert!(done.stderr.contains(dropped), "{}", done.stderr);
    let text = fs::read_to_string(env.path("project/settings/mcp.json")).unwrap();
    assert!(!text.contains("env") && text.contains("\"mcp\""), "{text}");
}

#[test]
fn variables_of_the_users_own_entry_stay_and_are_named() {
    let env = TestEnv::with_corpus();
    let old = r#"{"mcpServers": {"kb": {"command": "old", "env": {"KB_TRACE": "1"}, "cwd": "/"}}}"#;
    env.write(".cursor/mcp.json", old);
    let kept = "Keeps these fields of the existing entry: env KB_TRACE, cwd\n";
    let asked = env.kb(&["mcp", "install", "--client", "cursor"]).expect(1).stderr;
    assert!(asked.contains(kept), "{asked}");
    let done = install(&env, &["--client", "cursor"]);
    assert_eq!((done.kept.join(","), done.dropped.len()), ("env KB_TRACE,cwd".into(), 0));
    let again = env.ok(&["mcp", "install", "--client", "cursor"]).stdout;
    assert!(again.contains(kept), "{again}");
    assert_eq!(entry(&env, "cursor", ".cursor/mcp.json")["env"]["KB_TRACE"], "1");
}

#[cfg(unix)]
#[test]
fn the_installed_version_of_opencode_decides_on_its_form() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::with_corpus();
    env.write("bin/opencode", "#!/bin/sh\necho 2.3.1\n");
    fs::set_permissions(env.path("bin/opencode"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", env.path("bin").display());
    let args = ["mcp", "install", "--client", "opencode", "--yes"];
    env.kb_with(&[("PATH", &path)], &args).expect(0);
    let text = fs::read_to_string(env.path(".config/opencode/opencode.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let entry = &settings["mcp"]["servers"]["kb"];
    assert_eq!((entry["type"].as_str(), &entry["enabled"]), (Some("local"), &Value::Null));
}
