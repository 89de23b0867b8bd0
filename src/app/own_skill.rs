//! Holds kb's own skill, the instructions for agents.

use crate::skill::install::OwnSkill;

/// `SKILL.md` and its references, as of the build of this program.
pub(crate) const OWN_SKILL: OwnSkill = OwnSkill {
    files: &[
        ("SKILL.md", include_str!("../../SKILL.md")),
        ("references/commands.md", include_str!("../../references/commands.md")),
        ("references/json.md", include_str!("../../references/json.md")),
        ("references/skills.md", include_str!("../../references/skills.md")),
    ],
    version: env!("CARGO_PKG_VERSION"),
};
