//! Resolves paths as typed within a skill, and refuses any path that leads out.
//!
//! Each path is checked twice: lexically, before the file system is touched, and link by link on
//! the file system. An escape is reported before a missing file, so that files outside cannot be
//! probed for.

use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::text::paths;

/// Finds a path below a skill's directory, links resolved; `None` if it does not exist.
///
/// `root` is absolute with links resolved.
pub fn locate(root: &Path, typed: &str) -> Result<Option<PathBuf>> {
    let escapes = || Error::from(Diagnostic::PathEscapes(typed.to_owned()));
    let components = components(typed).ok_or_else(escapes)?;
    let mut place = root.to_owned();
    for component in components {
        place = paths::path_of(&format!("{}/{component}", paths::path_text(&place)));
        let metadata = match place.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(Error::Io { path: place, source: error });
            }
            // A name that leads out only on another system is reported as an escape, unless a file
            // of that name exists.
            Err(_) if leaves_on_windows(typed) => return Err(escapes()),
            Err(_) => return Ok(None),
        };
        if metadata.is_symlink() {
            match paths::canonical(&place) {
                Ok(real) if real.starts_with(root) => place = real,
                Ok(_) => return Err(escapes()),
                Err(_) if points_out(root, &place) => return Err(escapes()),
                Err(_) => return Ok(None),
            }
        }
    }
    match paths::canonical(&place) {
        Ok(real) if real.starts_with(root) => Ok(Some(real)),
        Ok(_) => Err(escapes()),
        Err(_) => Ok(None),
    }
}

/// Returns the components of a relative path without `.` and `..`, joined by `/`; `None` if it
/// leads out lexically.
pub fn clean(typed: &str) -> Option<String> {
    components(typed).map(|components| components.join("/"))
}

fn components(typed: &str) -> Option<Vec<&str>> {
    if typed.starts_with(is_separator) || Path::new(typed).has_root() || has_drive(typed) {
        return None;
    }
    below(typed.split(is_separator))
}

fn is_separator(letter: char) -> bool {
    letter == '/' || (cfg!(windows) && letter == '\\')
}

/// Applies `.` and `..`; `None` if they lead above the start.
fn below<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Vec<&'a str>> {
    let mut kept = Vec::new();
    for part in parts {
        match part {
            "" | "." => {}
            ".." => drop(kept.pop()?),
            name => kept.push(name),
        }
    }
    Some(kept)
}

/// Whether this system reads the prefix as a drive.
fn has_drive(typed: &str) -> bool {
    matches!(Path::new(typed).components().next(), Some(std::path::Component::Prefix(_)))
}

/// Whether a path leads out on systems where `\` separates names and letters name drives.
fn leaves_on_windows(typed: &str) -> bool {
    let mut letters = typed.chars();
    let is_drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':');
    is_drive || typed.starts_with('\\') || below(typed.split(['/', '\\'])).is_none()
}

/// Whether a broken link would lead out if its target existed.
fn points_out(root: &Path, link: &Path) -> bool {
    let Ok(target) = link.read_link() else { return false };
    let parent = link.parent().unwrap_or(root);
    !paths::clean(&parent.join(target)).starts_with(root)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::World;

    /// Makes a skill with links of every kind, and a target outside.
    fn world() -> World {
        let world = World::new();
        for path in ["s/SKILL.md", "s/refs/a.md", "s/refs/deep/b.md", "secret.md", "s2/x.md"] {
            world.write(path, "text");
        }
        #[cfg(unix)]
        {
            for (target, link) in [
                ("SKILL.md", "s/in.md"),
                ("refs", "s/inside"),
                ("../s/SKILL.md", "s/round.md"),
                ("../secret.md", "s/out.md"),
                ("..", "s/up"),
                ("/", "s/root"),
                ("../../s2", "s/refs/sibling"),
                ("../nowhere.md", "s/dangling-out"),
                ("/nowhere", "s/dangling-root"),
                ("nowhere.md", "s/dangling-in"),
                ("loop", "s/loop"),
            ] {
                std::os::unix::fs::symlink(target, world.path(link)).unwrap();
            }
        }
        world
    }

    #[track_caller]
    fn check(world: &World, typed: &str, expected: Result<Option<&str>, &str>) {
        let root = world.path("s");
        let found = match locate(&root, typed) {
            Ok(Some(place)) => Ok(Some(place)),
            Ok(None) => Ok(None),
            Err(error) => Err(format!("{} {error}", error.code())),
        };
        let expected = match expected {
            Ok(place) => Ok(place.map(|path| root.join(path).components().collect())),
            Err(path) => Err(format!("E012 path escapes skill root: '{path}'")),
        };
        assert_eq!(found, expected, "{typed}");
    }

    #[test]
    fn paths_inside_the_skill_are_found() {
        let world = world();
        check(&world, "SKILL.md", Ok(Some("SKILL.md")));
        check(&world, "./refs//a.md", Ok(Some("refs/a.md")));
        check(&world, "refs/../SKILL.md", Ok(Some("SKILL.md")));
        check(&world, "missing/../SKILL.md", Ok(Some("SKILL.md")));
        check(&world, "", Ok(Some("")));
        check(&world, "refs/..", Ok(Some("")));
        check(&world, "missing", Ok(None));
        check(&world, "SKILL.md/x", Ok(None));
        check(&world, "a\0b", Ok(None));
    }

    #[test]
    fn paths_outside_are_an_escape_whether_they_exist_or_not() {
        let world = world();
        for typed in [
            "..", "../secret.md", "../missing", "../s/SKILL.md", "refs/../../secret.md", "/",
            "/etc/passwd", "/missing", "//x", "a/b/../../../x", "./..", "../s/../s/SKILL.md",
        ] {
            check(&world, typed, Err(typed));
        }
    }

    #[test]
    fn paths_of_another_system_are_an_escape_unless_a_file_has_that_name() {
        let world = world();
        for typed in [
            r"C:\Windows\x", "C:/Windows", "c:x", r"\\server\share", r"\x", r"..\secret.md",
            r"refs\..\..\secret.md", r"\\?\C:\x",
        ] {
            check(&world, typed, Err(typed));
        }
        check(&world, r"refs\missing", Ok(None));
        #[cfg(unix)]
        for name in ["c:x.md", r"..\y"] {
            world.write(&format!("s/{name}"), "text");
            check(&world, name, Ok(Some(name)));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_may_only_lead_to_paths_within_the_skill() {
        let world = world();
        check(&world, "in.md", Ok(Some("SKILL.md")));
        check(&world, "inside/deep/b.md", Ok(Some("refs/deep/b.md")));
        check(&world, "round.md", Ok(Some("SKILL.md")));
        for typed in [
            "out.md", "up", "up/secret.md", "up/missing", "root", "root/etc/passwd",
            "up/s/SKILL.md", "refs/sibling/x.md", "refs/sibling/missing", "dangling-out",
            "dangling-root", "inside/sibling",
        ] {
            check(&world, typed, Err(typed));
        }
        check(&world, "dangling-in", Ok(None));
        check(&world, "loop", Ok(None));
        // Lexically this is SKILL.md; the link before `..` is not followed.
        check(&world, "up/../SKILL.md", Ok(Some("SKILL.md")));
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_are_reached_by_their_text() {
        use std::os::unix::ffi::OsStrExt;
        let world = world();
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
        std::fs::write(world.path("s").join(name), "text").unwrap();
        let found = locate(&world.path("s"), r"caf\xe9.md").unwrap().unwrap();
        assert_eq!(found.file_name(), Some(name));
    }

    /// Parts of a path; those that lead somewhere come more often.
    const PARTS: [&str; 38] = [
        "..", "..", "..", "..", "..", "..", ".", ".", "/", "/", "//", "\\", "C:", "~", "\0",
        "refs", "refs", "refs", "inside", "inside", "deep", "up", "up", "root", "sibling",
        "out.md", "in.md", "loop", "SKILL.md", "secret.md", "x.md", "etc", "passwd", "\\x2f",
        "%2e%2e", "\u{2215}", "s", "round.md",
    ];

    /// Returns up to eight parts, and the next number of an xorshift generator.
    fn parts(random: &mut u64) -> Vec<&'static str> {
        let mut next = |limit: usize| {
            *random ^= *random << 13;
            *random ^= *random >> 7;
            *random ^= *random << 17;
            usize::try_from(*random >> 32).unwrap() % limit
        };
        (0..next(9)).map(|_| PARTS[next(PARTS.len())]).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

        /// A hundred cases of a thousand paths: a hundred thousand paths, none of which leads out.
        /// Each is made of the bits of a number, since proptest takes longer to make one than
        /// `locate` to find it.
        #[test]
        fn no_path_leads_out(
            seed in any::<u64>(),
            glue in prop_oneof![4 => Just("/"), 1 => Just(""), 1 => Just("\\")],
        ) {
            thread_local! {
                static WORLD: World = world();
            }
            WORLD.with(|world| {
                let root = world.path("s");
                let mut random = seed | 1;
                for _ in 0..1000 {
                    let typed = parts(&mut random).join(glue);
                    if let Ok(Some(place)) = locate(&root, &typed) {
                        prop_assert!(place.starts_with(&root), "{typed} is {}", place.display());
                        let real = paths::canonical(&place).unwrap();
                        prop_assert!(real.starts_with(&root), "{typed} is {}", real.display());
                    }
                }
                Ok(())
            })?;
        }
    }
}
