//! Says which settings the vectors of an installed model have.

use crate::document::Binding;
use crate::graph;
use crate::installed::Installed;
use crate::options::OpenOptions;

impl Installed {
    /// Returns the binding of a database embedded with these options, without loading the model.
    pub fn binding(&self, options: &OpenOptions) -> Binding {
        let prefix = options.passage_prefix.as_ref().unwrap_or(&self.facts.passage_prefix);
        Binding {
            model_name: self.name.clone(),
            dim: options.dim.unwrap_or_else(|| self.facts.vector_dim()),
            max_tokens: self.facts.max_tokens,
            precision: graph::usable_precision(self, options.precision),
            passage_prefix: prefix.clone(),
        }
    }
}
