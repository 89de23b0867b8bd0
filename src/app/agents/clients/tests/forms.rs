//! Tests in which form an entry is written, shown, shared with a project and removed.

use super::*;

#[test]
fn the_version_of_opencode_decides_on_its_form() {
    let home = TempDir::new().unwrap();
    let environment = environment(home.path(), &[]);
    let client = Client::named("opencode").unwrap();
    let key = |version: Option<u32>| {
        let entry = server(&["mcp"]);
        let ask = |_: &str| version;
        let settings = Settings::OfUser(&environment, SYSTEM);
        plan(client, settings, Some(&entry), &ask).unwrap().key
    };
    assert_eq!([None, Some(1), Some(2)].map(key), ["mcp", "mcp", "mcp.servers"]);
}

#[test]
fn removing_leaves_no_empty_objects_and_no_file_that_has_nothing_else() {
    for client in &CLIENTS {
        let home = TempDir::new().unwrap();
        let environment = environment(home.path(), &[]);
        planned(&environment, client, Some(&server(&["mcp"]))).unwrap().apply().unwrap();
        let path = client.settings(&environment, SYSTEM);
        assert!(path.exists(), "{}", client.name);
        planned(&environment, client, None).unwrap().apply().unwrap();
        assert!(!path.exists(), "{}: {:?}", client.name, fs::read_to_string(&path));
    }
    let (_, new) =
        changed("cursor", "{\"a\": 1, \"mcpServers\": {\"kb\": {\"command\": \"x\"}}}", None);
    assert_eq!(new.replace(' ', ""), "{\"a\":1}");
    let (_, new) = changed(
        "opencode",
        "{\"mcp\": {\"servers\": {\"kb\": {\"command\": [\"x\"]}}}, \"a\": 1}",
        None,
    );
    assert_eq!(new.replace(' ', ""), "{\"a\":1}");
}

#[test]
fn a_comment_is_not_removed_with_the_entry() {
    let settings =
        "{\n  \"mcpServers\": {\n    // mine\n    \"kb\": {\"command\": \"x\"}\n  }\n}\n";
    let (_, new) = changed("cursor", settings, None);
    assert!(new.contains("// mine"), "{new}");
    let yaml = "# top\nextensions:\n  # mine\n  kb:\n    cmd: x\n    args: []\nlast: 1\n";
    let (_, new) = changed("goose", yaml, None);
    assert!(new.contains("# top") && new.contains("last: 1"), "{new}");
}

#[test]
fn the_preview_is_what_the_file_gets() {
    for client in &CLIENTS {
        let home = TempDir::new().unwrap();
        let environment = environment(home.path(), &[]);
        let plan = planned(&environment, client, Some(&server(&["mcp"]))).unwrap();
        plan.apply().unwrap();
        let written = fs::read_to_string(client.settings(&environment, SYSTEM)).unwrap();
        let shown = plan.after.unwrap();
        assert!(written.contains(&shown), "{}: {shown}\n{written}", client.name);
    }
}

/// Only programs with settings in JSON have those of projects today; the rule holds for all.
#[test]
fn other_fields_are_kept_for_the_user_and_dropped_for_a_project() {
    let settings = [
        (
            "cursor",
            r#"{"mcpServers": {"kb": {"command": "old", "env": {"LD_PRELOAD": "x"}, "a": 1}}}"#,
        ),
        (
            "codex",
            "[mcp_servers.kb]\ncommand = \"old\"\na = 1\n[mcp_servers.kb.env]\nLD_PRELOAD = \"x\"\n",
        ),
        ("goose", "extensions:\n  kb:\n    cmd: old\n    a: 1\n    env:\n      LD_PRELOAD: x\n"),
    ];
    for (name, text) in settings {
        let client = Client::named(name).unwrap();
        let entry = server(&["mcp"]);
        let edited = |keeps_others| {
            let wanted = WantedEntry { entry: Some(&entry), keeps_others };
            match client.notation {
                Notation::Json | Notation::Jsonc => in_json::edit(text, client, false, wanted),
                Notation::Toml => in_toml::edit(text, client, wanted),
                Notation::Yaml => in_yaml::edit(text, client, wanted),
            }
            .unwrap()
        };
        let (kept, dropped) = (edited(true), edited(false));
        let mut names = kept.others.kept.clone();
        names.sort();
        assert_eq!((names.join(" "), kept.others.dropped.len()), ("a env LD_PRELOAD".into(), 0));
        assert!(kept.text.contains("LD_PRELOAD"), "{}", kept.text);
        assert_eq!((dropped.others.dropped.len(), dropped.others.kept.len()), (2, 0), "{name}");
        assert!(
            !dropped.text.contains("env") && dropped.text.contains("/opt/kb"),
            "{}",
            dropped.text
        );
    }
    // An entry that starts no program is replaced.
    let (_, new) =
        changed("cursor", r#"{"mcpServers": {"kb": {"url": "x", "env": {}}}}"#, Some(&server(&[])));
    assert!(!new.contains("url") && !new.contains("env"), "{new}");
}

#[test]
fn a_project_shares_settings_that_each_machine_understands() {
    let folder = TempDir::new().unwrap();
    let entry = shared_entry(Some("work"), false);
    let plan_of = |name: &str| {
        let client = Client::named(name).unwrap();
        let settings = Settings::OfProject(folder.path());
        plan(client, settings, Some(&entry), &|_| None)
    };
    for (name, below) in [
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
    ] {
        plan_of(name).unwrap().apply().unwrap();
        let text = fs::read_to_string(folder.path().join(below)).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        let servers = settings.as_object().unwrap().values().next().unwrap();
        assert_eq!(servers["kb"]["command"], "kb", "{text}");
        assert_eq!(servers["kb"]["args"], serde_json::json!(["mcp", "--base", "work"]), "{text}");
    }
    let error = plan_of("zed").unwrap_err().to_string();
    assert!(error.contains("kb knows no project settings of Zed"), "{error}");
}
