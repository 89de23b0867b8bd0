//! Tests the files by which programs of agents find kb: the plugin, the bundle and the entry for the registry of servers.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::env::TestEnv;

fn json(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn each_way_in_has_the_version_of_the_program_and_starts_its_server() {
    let version = env!("CARGO_PKG_VERSION");
    let (plugin, bundle) =
        (json(".claude-plugin/plugin.json"), json("packaging/mcpb/manifest.json"));
    let listed = json("packaging/server.json");
    for of in [&plugin, &bundle, &listed, &listed["packages"][0]] {
        assert_eq!(of["version"], version, "{of}");
    }
    let changes = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("CHANGELOG.md"));
    let changes = changes.unwrap();
    let released =
        changes.lines().filter(|line| line.starts_with("## ") && *line != "## Unreleased");
    assert_eq!(released.take(1).collect::<Vec<_>>(), [format!("## {version}")]);
    // `kb mcp` with nothing else serves.
    let env = TestEnv::without_model();
    for entry in [&plugin["mcpServers"]["kb"], &bundle["server"]["mcp_config"]] {
        let program = Path::new(entry["command"].as_str().unwrap());
        assert_eq!(program.file_name().unwrap(), "kb", "{entry}");
        let args: Vec<&str> =
            entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        let help = env.ok(&[&args[..], &["--help"]].concat()).stdout;
        assert!(help.contains("Model Context Protocol"), "{help}");
    }
    let server = bundle["server"]["entry_point"].as_str().unwrap();
    let started = bundle["server"]["mcp_config"]["command"].as_str().unwrap();
    assert_eq!(started, format!("${{__dirname}}/{server}"));
}

#[test]
fn the_plugin_is_in_its_marketplace_and_brings_the_skill() {
    let (plugin, market) =
        (json(".claude-plugin/plugin.json"), json(".claude-plugin/marketplace.json"));
    assert_eq!(market["plugins"][0]["name"], plugin["name"]);
    assert_eq!(market["plugins"][0]["source"], "./");
    let skill = plugin["skills"][0].as_str().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(skill).join("SKILL.md");
    assert!(fs::read_to_string(path).unwrap().starts_with("---\nname: kb\n"));
}

#[test]
fn the_entry_for_the_registry_keeps_its_limits() {
    let listed = json("packaging/server.json");
    let description = listed["description"].as_str().unwrap();
    assert!((1..=100).contains(&description.chars().count()));
    let (namespace, name) = listed["name"].as_str().unwrap().split_once('/').unwrap();
    assert!(namespace.contains('.') && !name.contains('/'));
    assert_eq!(listed["packages"][0]["transport"]["type"], "stdio");
}
