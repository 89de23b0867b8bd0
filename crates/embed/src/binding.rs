//! Says which settings the vectors of an installed model have, and which files made them.

use std::path::Path;

use crate::cache::{ExpectedContent, hub_sha256};
use crate::document::{Binding, ModelFiles};
use crate::graph;
use crate::installed::{InstalledModel, ModelOptions};
use crate::{hash, trust};

impl InstalledModel {
    /// Returns the binding of a database embedded with these options, without loading the model.
    pub fn binding(&self, options: &ModelOptions) -> Binding {
        let prefix = options.passage_prefix.as_ref().unwrap_or(&self.facts.passage_prefix);
        Binding {
            model_name: self.name.clone(),
            dim: options.dim.unwrap_or_else(|| self.facts.vector_dim()),
            max_tokens: self.facts.max_tokens,
            precision: graph::usable_precision(self, options.precision),
            passage_prefix: prefix.clone(),
            files: self.files(),
        }
    }

    /// Returns which files these are, without reading them: from their place, and from the checksums with which they
    /// are compared before they are loaded.
    pub(crate) fn files(&self) -> ModelFiles {
        let files = trust::model(self);
        let weights = files.iter().filter(|(path, _)| is_weights(path));
        let checksums = weights.map(|(path, expected)| checksum(path, expected));
        let sha256 = match checksums.collect::<Option<Vec<String>>>().as_deref() {
            None | Some([]) => None,
            Some([sha256]) => Some(sha256.clone()),
            Some(several) => Some(hash::sha256(several.join("\n"))),
        };
        ModelFiles {
            revision: hub_revision(&self.model_dir).filter(|_| !self.is_model_given),
            sha256,
        }
    }
}

fn is_weights(path: &Path) -> bool {
    path.is_file() && path.extension().is_none_or(|extension| extension != "json")
}

/// Returns the checksum that a file is compared with, if it is known without reading the file.
fn checksum(path: &Path, expected: &ExpectedContent) -> Option<String> {
    match expected {
        ExpectedContent::Listed(listed) => listed.first().cloned(),
        ExpectedContent::HubName => hub_sha256(path),
        ExpectedContent::Recorded => None,
    }
}

/// Returns the revision that a directory of the hub's cache is of: `snapshots/<revision>`, or a folder in it.
fn hub_revision(dir: &Path) -> Option<String> {
    let mut places = dir.ancestors().take(2);
    let snapshot =
        places.find(|place| place.parent().is_some_and(|all| all.ends_with("snapshots")));
    Some(snapshot?.file_name()?.to_str()?.to_owned())
}
