//! Serves agents: their skills, the settings by which they start kb, and the folder they work in.

pub mod clients;
pub mod own_skill;
pub mod skills;
pub mod workspace;
