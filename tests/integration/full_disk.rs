//! Fills a small disk with documents, and makes room again with kb alone. Needs the right to mount.

use std::process::{Command, Stdio};

use crate::env::TestEnv;
use crate::left_out::left_out;
use crate::word_model::WordModel;

/// Mounts a disk of 10 MB that only this process sees, runs commands on a database there, and writes
/// the answer of each to a file.
const ON_SMALL_DISK: &str = r#"
set -u
mount --make-rprivate /
mount -t tmpfs -o size=10m kb "$PLACE" || exit 99
kb() {
    name=$1; shift
    "$PROGRAM" --data-dir "$PLACE/db" "$@" >"$ANSWERS/$name" 2>"$ANSWERS/$name.err"
    echo $? >"$ANSWERS/$name.status"
}
kb init init --model-dir tiny
kb add add many
kb full list --format json
kb remove remove 1 2 3 4 5 6 --yes
kb left list --format json
kb again add --note "there is room again"
kb removed search --fts-only --format json w17x1
kb doctor doctor
# Another program takes all that is left.
dd if=/dev/zero of="$PLACE/fill" bs=4096 2>/dev/null
kb filled remove 7 --yes
rm "$PLACE/fill"
kb after remove 7 --yes
kb sound doctor
"#;

#[test]
fn adding_stops_while_there_is_room_for_a_removal() {
    if !rustix::process::geteuid().is_root() {
        left_out("root", "full_disk: a small disk");
        return;
    }
    let env = TestEnv::with_runtime();
    WordModel::default().write(&env.path("tiny"));
    for number in 0..80 {
        let words: Vec<String> = (0..1_200).map(|word| format!("w{word}x{number}")).collect();
        let text: Vec<String> = words.chunks(60).map(|words| words.join(" ")).collect();
        env.write(
            &format!("many/{number:02}.md"),
            format!("# Note {number}\n\n{}\n", text.join("\n\n")),
        );
    }
    for folder in ["disk", "answers"] {
        std::fs::create_dir(env.path(folder)).unwrap();
    }
    let inner = env.command::<&str>(&[]);
    let mut command = Command::new("/usr/bin/unshare");
    command.args(["-m", "sh", "-c", ON_SMALL_DISK]).current_dir(env.path("")).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").env("PROGRAM", inner.get_program());
    command.env("PLACE", env.path("disk")).env("ANSWERS", env.path("answers"));
    let ran = command.stdin(Stdio::null()).output().unwrap();
    if !ran.status.success() && !env.path("answers/init.status").exists() {
        left_out("mounts", "full_disk: a small disk");
        return;
    }
    let text = |name: &str| std::fs::read_to_string(env.path("answers").join(name)).unwrap();
    let ended = |name: &str, status: &str| {
        let (found, err) = (text(&format!("{name}.status")), text(&format!("{name}.err")));
        assert_eq!(found.trim(), status, "{name}: {err}");
        err
    };
    ended("init", "0");
    let full = ended("add", "2");
    assert!(full.contains("error: no space left to write "), "{full}");
    assert!(
        full.contains("or remove documents with `kb remove`; then run the command again"),
        "{full}"
    );
    let documents = |name: &str| -> usize {
        let listed: serde_json::Value = serde_json::from_str(&text(name)).unwrap();
        listed.as_array().unwrap().len()
    };
    assert!((6..80).contains(&documents("full")), "{}", documents("full"));
    let removed = ended("remove", "0");
    assert!(!removed.contains("the disk is full"), "all of it is erased: {removed}");
    assert_eq!(documents("left"), documents("full") - 6);
    ended("again", "0");
    assert!(text("removed").contains("\"results\": []"), "{}", text("removed"));
    // `kb doctor` also reports that the disk is small.
    assert!(text("doctor").contains("sound: "), "{}", text("doctor"));
    // Without a free byte, nothing can be removed; the error says what to do, and nothing is lost.
    let filled = ended("filled", "2");
    assert!(filled.contains("free space on that disk: delete old backups or caches"), "{filled}");
    ended("after", "0");
    assert!(text("sound").contains("sound: "), "{}", text("sound"));
}
