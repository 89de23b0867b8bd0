//! Holds kb's own skill, the instructions for agents, and finds its installed copies.

use std::path::PathBuf;

use crate::app::session::typed::absolute;
use crate::config::Environment;
use crate::skill::install::{self, InstalledCopy, OwnSkill};

/// `SKILL.md` and its references, as of the build of this program.
pub(crate) const OWN_SKILL: OwnSkill = OwnSkill {
    files: &[
        ("SKILL.md", include_str!("../../../SKILL.md")),
        ("references/commands.md", include_str!("../../../references/commands.md")),
        ("references/json.md", include_str!("../../../references/json.md")),
        ("references/skills.md", include_str!("../../../references/skills.md")),
    ],
    version: env!("CARGO_PKG_VERSION"),
};

/// Returns the copies of kb's own skill installed for this user's agents.
pub fn agent_skills(environment: &Environment) -> Vec<InstalledCopy> {
    absolute(&skills_home(environment))
        .map(|home| install::installed(OWN_SKILL, &home))
        .unwrap_or_default()
}

/// Returns the directory that holds the global store of skills.
pub fn skills_home(environment: &Environment) -> PathBuf {
    environment.path("SKILLC_HOME").unwrap_or_else(|| environment.home())
}
