//! Says where the value of a setting comes from.

use std::path::PathBuf;

/// Where a setting's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// Built in.
    Default,
    /// The configuration file.
    File(PathBuf),
    /// This environment variable.
    Variable(String),
    /// This flag.
    Flag(String),
}

impl SettingOrigin {
    /// Returns the layer, 0 for defaults; a value in a higher layer overrides a lower one.
    pub fn layer(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Variable(_) => 2,
            Self::Flag(_) => 3,
        }
    }
}
