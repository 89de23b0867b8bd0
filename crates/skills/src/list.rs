//! Lists the skills on the disk, and whether each is built.

use std::path::PathBuf;

use crate::caller::Caller;
use crate::error::Result;
use crate::place::Skill;
use crate::registry::{self, FoundSkill, LoadReport, Log, SkillFilter};
use crate::store::Store;
use crate::text::fields;
use crate::{manifest, skill_files, sources};

fields::words! {
    /// Whether a skill is built.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BuildStatus {
        /// It is built.
        Normal = "normal",
        /// It is not built.
        NotBuilt = "not-built",
        /// It was built from files that have changed since; only checked on request.
        Obsolete = "obsolete",
    }
}

/// Which skills to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Looks only here instead of in all the usual places.
    pub root: Option<PathBuf>,
    /// By name, description and capability.
    pub filter: SkillFilter,
    /// `project` or `global`.
    pub scope: Option<String>,
    /// A word of [`BuildStatus`].
    pub status: Option<String>,
    /// Largest number of skills to return.
    pub limit: Option<u32>,
    /// A glob on the name.
    pub pattern: Option<String>,
    /// Whether the files are compared with the last build.
    pub checks_obsolete: bool,
}

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSkill {
    /// The skill as loading found it.
    pub found: FoundSkill,
    /// Whether it is built.
    pub status: BuildStatus,
}

/// The skills found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillList {
    /// In byte order of their names.
    pub skills: Vec<ListedSkill>,
    /// Skills before filters and limit.
    pub total: usize,
    /// Skills after filters, before the limit.
    pub num_filtered: usize,
    /// Counts of the loading pass.
    pub report: LoadReport,
}

/// Updates the registry from the disk, if there is one that can be written, and lists the skills found.
pub fn list(
    caller: &Caller,
    store: Option<&mut Store>,
    options: &ListOptions,
    log: &mut Log<'_>,
) -> Result<SkillList> {
    let pattern = options.pattern.as_deref().map(sources::glob).transpose()?;
    let roots = registry::roots(caller, options.root.as_deref());
    let (report, found) = registry::load(caller, store, &roots, log)?;
    let total = found.len();
    let checks_obsolete = options.checks_obsolete
        || options.status.as_deref() == Some(BuildStatus::Obsolete.as_str());
    let mut skills = Vec::new();
    for found in found {
        if !options.filter.admits(&found.row)
            || !is_wanted(options.scope.as_deref(), found.scope.as_str())
            || pattern.as_ref().is_some_and(|pattern| !pattern.is_match(&found.row.name))
        {
            continue;
        }
        let status = status(&found.skill, checks_obsolete)?;
        if is_wanted(options.status.as_deref(), status.as_str()) {
            skills.push(ListedSkill { found, status });
        }
    }
    let num_filtered = skills.len();
    skills.truncate(options.limit.map_or(usize::MAX, |limit| limit as usize));
    Ok(SkillList { skills, total, num_filtered, report })
}

/// Whether a value is the requested one; without a request, and with `all`, every value is.
fn is_wanted(requested: Option<&str>, value: &str) -> bool {
    requested.is_none_or(|requested| requested == "all" || requested == value)
}

fn status(skill: &Skill, checks_obsolete: bool) -> Result<BuildStatus> {
    Ok(match manifest::read(skill) {
        None => BuildStatus::NotBuilt,
        Some(manifest) if checks_obsolete => {
            let listing = skill_files::list(&skill.dir)?;
            let hash = skill_files::source_hash(&listing.files, &[])?;
            if hash == manifest.source_hash { BuildStatus::Normal } else { BuildStatus::Obsolete }
        }
        Some(_) => BuildStatus::Normal,
    })
}
