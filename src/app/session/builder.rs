//! Collects the inputs of a session: variables and flags, the name of the knowledge base, and who reads the answers.

use std::path::{Path, PathBuf};

use crate::app::session::bases::known::KnownBases;
use crate::app::session::bases::place::{self, NamedBase};
use crate::config::{Environment, Flags, ResolvedConfig};
use crate::error::Result;
use crate::wording::{kb, wording};

/// The inputs from which sessions are built. Sessions of other knowledge bases in the same process have the same
/// inputs.
#[derive(Clone)]
pub struct SessionBuilder {
    pub(super) environment: Environment,
    pub(super) flags: Flags,
    /// The knowledge base that the user named.
    pub(super) base: Option<String>,
    /// The working directory of a person at a terminal, in the database's notation.
    pub(super) working_dir: Option<String>,
    /// The program that reads untrusted formats; `None` for this program.
    pub(super) reader: Option<PathBuf>,
    /// Receives notes when there is no observer.
    pub(super) notify: fn(&str),
    /// Whether searches may read changed files again.
    pub(super) can_refresh: bool,
}

impl SessionBuilder {
    /// Returns one for a process with these variables.
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            flags: Flags::new(),
            base: None,
            working_dir: None,
            reader: None,
            notify: |_| {},
            can_refresh: true,
        }
    }

    /// Gives it settings as flags.
    #[must_use]
    pub fn flags(mut self, flags: &Flags) -> Self {
        self.flags.extend(flags.iter().cloned());
        self
    }

    /// Names the folder of the database, as `--data-dir` does; `None` leaves it to the variables.
    #[must_use]
    pub fn data_dir(mut self, dir: Option<&Path>) -> Self {
        let dir = dir.map(|dir| dir.to_string_lossy().into_owned());
        self.flags.extend(dir.map(|dir| ("--data-dir", "data_dir", dir)));
        self
    }

    /// Names the knowledge base; `None` for the project's if the user allowed its use, else the default one.
    #[must_use]
    pub fn base(mut self, name: Option<&str>) -> Self {
        self.base = name.map(str::to_owned);
        self
    }

    /// Names the working directory of a person who reads the answers at a terminal, in the database's notation: of
    /// the paths of a document, they see the one below it. The answers to programs do not depend on it.
    #[must_use]
    pub fn working_dir(mut self, dir: Option<String>) -> Self {
        self.working_dir = dir;
        self
    }

    /// Names the program `kb`, which is started to read untrusted formats; by default, that is this program.
    #[must_use]
    pub fn reader(mut self, program: impl Into<PathBuf>) -> Self {
        self.reader = Some(program.into());
        self
    }

    /// Names what receives notes while the database is opened, when there is no observer.
    #[must_use]
    pub fn notify(mut self, notify: fn(&str)) -> Self {
        self.notify = notify;
        self
    }

    /// Chooses the knowledge base: that with the name. Without one, it is the project's if its use is allowed and no data
    /// directory was named, else the default one.
    pub(super) fn place(
        &self,
        home: &Path,
        settings: &ResolvedConfig,
        notices: &mut Vec<String>,
    ) -> Result<NamedBase> {
        if let Some(name) = &self.base {
            return place::find(home, &self.environment, &self.known(), name);
        }
        if !settings.names_data_dir()
            && let Some(place) = place::of_project(home, &self.environment)
        {
            let dir = place.dir.display();
            if place::is_allowed(&place, &self.known()) {
                notices.push(format!("using the knowledge base of the project, {dir}"));
                return Ok(place);
            }
            let notice = wording!(
                "{} is a knowledge base of this project, but is not trusted; run `{}` to use it",
                dir.to_string(),
                kb("base allow")
            );
            notices.push(notice.to_string());
        }
        Ok(NamedBase::default_in(home))
    }

    /// Reads the list of known knowledge bases, which most runs don't need.
    fn known(&self) -> KnownBases {
        KnownBases::read(&self.environment).unwrap_or_default()
    }
}
