//! Holds kb's own skill, the instructions for agents.

use crate::skill::install::OwnSkill;

/// `SKILL.md`, as of the build of this program.
pub(crate) const OWN_SKILL: OwnSkill =
    OwnSkill { text: include_str!("../../SKILL.md"), version: env!("CARGO_PKG_VERSION") };
