//! Names the directory of a graph by its inputs, and decides which other graphs it replaces.
//!
//! Every text here is part of a fingerprint on disk: changing one causes all graphs to be built again.

use std::path::{Path, PathBuf};

use super::export;
use crate::InstalledModel;
use crate::document::Precision;
use crate::error::{Error, Result};
use crate::facts::{Activation, Family, ModelProperties};
use crate::fault::library_error;
use crate::files::stamp::FileVersion;
use crate::files::{folder, open, write};
use crate::hash;
use crate::model_files::data_of;
use crate::registry::Pooling;
use crate::text::paths::canonical;

/// Number of fingerprint letters used: 128 bits.
const FINGERPRINT_LETTERS: usize = 32;

/// The file that lists the inputs of a graph.
const ABOUT_FILE: &str = "about.txt";

/// Far more than that file needs.
const MAX_ABOUT_BYTES: u64 = 1 << 20;

/// Everything a graph depends on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GraphCacheKey {
    /// [`export::EXPORT_VERSION`].
    version: u32,
    /// The layout of the weights.
    kind: String,
    /// The file with the weights.
    path: String,
    /// Its length and modification time.
    stamp: String,
    runtime: String,
    facts: String,
    precision: String,
    processor: String,
}

impl GraphCacheKey {
    /// Identifies the model by path, length and modification time, not by content: hashing 90 MB
    /// would cost more than the rest of a query.
    pub(crate) fn of(
        installed: &InstalledModel,
        weights: &Path,
        kind: &str,
        precision: Precision,
    ) -> Result<Self> {
        let path = canonical(weights).map_err(|error| Error::of_file(weights, error))?;
        let files = [path.clone()].into_iter().chain(data_of(weights));
        let stamps = files.map(|path| stamp_text(&path)).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            version: export::EXPORT_VERSION,
            kind: kind.to_owned(),
            path: one_line(&path.display().to_string()),
            stamp: stamps.join(" "),
            // The path of the library is left out: a copy of it makes the same graph.
            runtime: runtime(&installed.runtime)?,
            facts: text_of(&installed.facts),
            precision: precision.to_string(),
            processor: processor(),
        })
    }

    /// Returns the graph's directory.
    pub(crate) fn directory(&self, cache_dir: &Path) -> PathBuf {
        let hash = hash::sha256(self.lines());
        graphs(cache_dir).join(&hash[..FINGERPRINT_LETTERS])
    }

    /// Writes the inputs of a graph next to it.
    pub(crate) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(ABOUT_FILE);
        write::replace(&path, self.lines().as_bytes()).map_err(|error| Error::of_file(&path, error))
    }

    /// Returns the name of a directory's graph: the model's name and its precision.
    pub(crate) fn name(dir: &Path) -> Option<String> {
        let identity = Self::read(dir)?;
        let weights = Path::new(&identity.path);
        // The hub's cache has a folder `models--owner--name`, some levels above a model's files.
        let of_hub = weights
            .ancestors()
            .filter_map(last_part)
            .find_map(|name| name.strip_prefix("models--").map(|id| id.replace("--", "/")));
        let name = of_hub.or_else(|| last_part(weights.parent()?))?;
        Some(format!("{name} {}", identity.precision))
    }

    /// Removes the graphs that this one replaces. A process that has one of them open keeps it.
    pub(crate) fn remove_replaced(&self, cache_dir: &Path) {
        for place in folder::entries(&graphs(cache_dir)) {
            if Self::read(&place).is_some_and(|other| self.replaces(&other)) {
                // A graph that cannot be removed now only costs space.
                let _ = folder::remove_all(&place);
            }
        }
    }

    /// Whether `other` will not be used again, because the weights have changed or this kb builds
    /// newer graphs. Not if the runtime or the processor differs, because a cache may be shared.
    fn replaces(&self, other: &Self) -> bool {
        let is_same_model = self.path == other.path && self.precision == other.precision;
        let is_same_machine = self.processor == other.processor;
        is_same_model
            && is_same_machine
            && (self.version > other.version || self.stamp != other.stamp)
    }

    fn lines(&self) -> String {
        let Self { version, kind, path, stamp, runtime, facts, precision, processor } = self;
        format!(
            "{version}\n{kind}\n{path}\n{stamp}\n{runtime}\n{facts}\n{precision}\n{processor}\n"
        )
    }

    /// Reads the inputs of a graph.
    fn read(dir: &Path) -> Option<Self> {
        let bytes =
            open::read(&dir.join(ABOUT_FILE), open::SymlinkPolicy::Follow, MAX_ABOUT_BYTES).ok()?;
        Self::parse(&String::from_utf8(bytes).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::to_owned);
        Some(Self {
            version: lines.next()?.parse().ok()?,
            kind: lines.next()?,
            path: lines.next()?,
            stamp: lines.next()?,
            runtime: lines.next()?,
            facts: lines.next()?,
            precision: lines.next()?,
            processor: lines.next()?,
        })
    }
}

fn graphs(cache_dir: &Path) -> PathBuf {
    cache_dir.join("graphs")
}

/// Writes the facts that a graph depends on. The name of the family is in `kind`, and prefixes are added to a
/// text, not to the graph.
fn text_of(facts: &ModelProperties) -> String {
    let ModelProperties {
        family,
        dim,
        num_layers,
        num_heads,
        epsilon,
        first_position,
        max_tokens,
        activation,
        pooling: _,
        modules: _,
        query_prefix: _,
        passage_prefix: _,
    } = facts;
    let activation = match activation {
        Activation::Gelu => "gelu",
        Activation::GeluTanh => "gelu-tanh",
        Activation::Relu => "relu",
        Activation::Silu => "silu",
    };
    let pooling = match facts.pooling_in_graph() {
        Some(Pooling::Mean) => "mean",
        Some(_) => "cls",
        None => "none",
    };
    let rotary = match family {
        Family::ModernBert(rotary) => format!(" {rotary:?}"),
        _ => String::new(),
    };
    format!(
        "dim={dim} layers={num_layers} heads={num_heads} epsilon={epsilon:e} \
         first-position={first_position} max-tokens={max_tokens} activation={activation} \
         pooling={pooling}{rotary}"
    )
}

/// Returns the size and the time of a file.
fn stamp_text(path: &Path) -> Result<String> {
    let stamp = FileVersion::of(path).map_err(|error| Error::of_file(path, error))?.stamp;
    Ok(format!("{} {}", stamp.size_bytes, stamp.mtime_ns))
}

fn last_part(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn runtime(path: &Path) -> Result<String> {
    let fail = |error: std::io::Error| library_error(path, error);
    let path = canonical(path).map_err(fail)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(format!("{} {}", one_line(&name), path.metadata().map_err(fail)?.len()))
}

/// Lists the processor features that the optimiser may use.
fn processor() -> String {
    let mut features = vec![std::env::consts::ARCH];
    macro_rules! detect {
        ($detected:ident: $($feature:tt)*) => {
            $(if std::arch::$detected!($feature) {
                features.push($feature);
            })*
        };
    }
    #[cfg(target_arch = "x86_64")]
    detect!(is_x86_feature_detected: "avx" "avx2" "avxvnni" "avx512f" "avx512bw" "avx512vnni");
    #[cfg(target_arch = "aarch64")]
    detect!(is_aarch64_feature_detected: "dotprod" "i8mm" "sve");
    features.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(change: impl FnOnce(&mut GraphCacheKey)) -> GraphCacheKey {
        let mut identity = GraphCacheKey {
            version: 2,
            kind: "bert".into(),
            path: "/models/tiny/model.safetensors".into(),
            stamp: "100 5".into(),
            runtime: "libonnxruntime.so.1.31.1 29352200".into(),
            facts: "dim=8".into(),
            precision: "int8".into(),
            processor: "x86_64 avx2".into(),
        };
        change(&mut identity);
        identity
    }

    #[test]
    fn a_graph_replaces_those_that_will_not_be_used_again() {
        let new = identity(|_| {});
        assert!(new.replaces(&identity(|identity| identity.stamp = "100 4".into())));
        assert!(new.replaces(&identity(|identity| identity.version = 1)));
        assert!(!new.replaces(&new));
        assert!(!new.replaces(&identity(|identity| identity.version = 3)));
        for other in [
            identity(|identity| identity.path = "/models/other/model.safetensors".into()),
            identity(|identity| identity.precision = "fp32".into()),
            identity(|identity| identity.processor = "x86_64".into()),
        ] {
            let other = GraphCacheKey { version: 1, stamp: "1 1".into(), ..other };
            assert!(!new.replaces(&other), "{other:?}");
        }
        // The same weights with another maximum length, or another runtime, may be used again.
        assert!(!new.replaces(&identity(|identity| identity.facts = "dim=8 max-tokens=3".into())));
        assert!(!new.replaces(&identity(
            |identity| identity.runtime = "libonnxruntime.so.1.22.0 1".into()
        )));
    }

    /// This text is a key on disk. If it has to change, increase [`export::EXPORT_VERSION`], or the
    /// old graphs stay.
    #[test]
    fn facts_are_written_in_one_form() {
        let mut facts = ModelProperties {
            family: Family::Bert,
            dim: 384,
            num_layers: 6,
            num_heads: 12,
            epsilon: 1e-12,
            first_position: 2,
            max_tokens: 256,
            activation: Activation::GeluTanh,
            pooling: Pooling::Cls,
            modules: Vec::new(),
            query_prefix: "query: ".into(),
            passage_prefix: String::new(),
        };
        let text = "dim=384 layers=6 heads=12 epsilon=1e-12 first-position=2 max-tokens=256 \
            activation=gelu-tanh pooling=cls";
        assert_eq!(text_of(&facts), text);
        facts.family = Family::Unsupported("architecture `nomic_bert`".into());
        facts.query_prefix = "search: ".into();
        assert_eq!(text_of(&facts), text, "neither is in the graph");
        facts.pooling = Pooling::Max;
        assert!(text_of(&facts).ends_with("pooling=none"));
        facts.epsilon = 1e-5;
        assert_ne!(text_of(&facts), text);
    }

    #[test]
    fn written_identities_are_read_back() {
        let identity = identity(|_| {});
        assert_eq!(GraphCacheKey::parse(&identity.lines()), Some(identity));
        for text in ["", "two\nBert\n", "2\nBert\n/path\n"] {
            assert_eq!(GraphCacheKey::parse(text), None);
        }
    }

    #[test]
    fn every_difference_gives_another_directory() {
        let directory = |identity: &GraphCacheKey| identity.directory(Path::new("/cache"));
        let first = identity(|_| {});
        assert_eq!(directory(&first), directory(&identity(|_| {})));
        assert_ne!(
            directory(&first),
            directory(&identity(|identity| identity.stamp = "100 6".into()))
        );
        assert_ne!(
            directory(&first),
            directory(&identity(|identity| identity.kind = "onnx".into()))
        );
    }
}
