//! Defines the layers that confine a reading child.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The limits that the system enforces on a process that reads a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Sandbox")]
pub struct Layers {
    /// Limits that it cannot lift: memory, processor time, files, processes.
    pub limits: bool,
    /// Neither it nor a program that it starts gains rights, and it has none of root's.
    pub no_new_privileges: bool,
    /// The version of Landlock in force, which refuses files and TCP; null without Landlock.
    pub landlock: Option<u32>,
    /// Whether seccomp refuses every system call that no reader needs.
    pub seccomp: bool,
}

impl Layers {
    /// Returns the names of the layers that are active, and of those that are not.
    pub fn names(&self) -> (Vec<String>, Vec<&'static str>) {
        let landlock = match self.landlock {
            Some(version) => format!("Landlock {version}"),
            None => "Landlock".to_owned(),
        };
        let (mut active, mut inactive) = (Vec::new(), Vec::new());
        for (is_active, name, missing) in [
            (self.limits, "limits".to_owned(), "limits"),
            (self.no_new_privileges, "no new privileges".to_owned(), "no new privileges"),
            (self.landlock.is_some(), landlock, "Landlock"),
            (self.seccomp, "seccomp".to_owned(), "seccomp"),
        ] {
            if is_active { active.push(name) } else { inactive.push(missing) }
        }
        (active, inactive)
    }
}
