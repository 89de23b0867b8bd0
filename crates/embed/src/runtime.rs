//! Runs the model on ONNX Runtime: from token ids to unit vectors.
//!
//! One embedder serves any number of threads: each run takes a session from a pool that grows to
//! the number of concurrent threads. The sessions share the mapped weights.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use ort::environment::Environment;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::session::{Session, SessionInputValue, SessionOutputs};
use ort::value::TensorRef;

use super::cache::CacheManifest;
use super::fault::{library_error, model_error};
use super::graph::Graph;
use super::graph::export::{OUTPUT, TOKENS};
use super::graph::nodes::INPUT;
use super::head::EncoderHead;
use super::tokenized::{EncodedText, TokenEmbedder, TokenModel};
use super::{InstalledModel, ModelEvent, ModelOptions, ModelTokenizer, graph, trust};
use crate::error::{Cause, Error, Result};

/// The runtime allows one environment per process.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// How sessions are loaded.
#[derive(Debug, Clone, Copy)]
struct SessionLoading {
    num_threads: usize,
    /// Some 10 ms faster to load and a tenth slower to run.
    is_single: bool,
}

/// A loaded graph.
pub(crate) struct OnnxModel {
    graph: Graph,
    environment: Environment,
    loading: SessionLoading,
    head: EncoderHead,
    /// Whether the graph gives only token vectors.
    gives_tokens: bool,
    idle: Mutex<Vec<Session>>,
}

impl OnnxModel {
    /// Loads runtime, graph and tokenizer in parallel; `is_single` for one or a few texts.
    pub(crate) fn open(
        installed: &InstalledModel,
        options: &ModelOptions,
        is_single: bool,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<TokenEmbedder<Self>> {
        let loading = SessionLoading { num_threads: options.num_threads, is_single };
        let binding = installed.binding(options);
        // Files are checked before any of the library's code runs in this process.
        let mut manifest = CacheManifest::read(&installed.cache_dir);
        manifest.require(trust::runtime(installed).as_slice())?;
        manifest.require(&trust::model(installed))?;
        manifest.keep();
        thread::scope(|scope| {
            let tokenizer = scope.spawn(|| ModelTokenizer::load(installed, options));
            let environment = environment(&installed.runtime)?;
            let mut graph = graph::prepare(installed, binding.precision, &environment, on_event)?;
            let session = match session(&environment, &graph, loading) {
                Ok(session) => session,
                Err(error) if matches!(graph, Graph::InMemory(..)) => return Err(error),
                // The graph in the cache is damaged, or another version of the runtime wrote it: it is built again,
                // once.
                Err(_) => {
                    graph::discard(graph.path());
                    graph = graph::prepare(installed, binding.precision, &environment, on_event)?;
                    session(&environment, &graph, loading)?
                }
            };
            let tokenizer = tokenizer.join().map_err(|_| {
                model_error(&installed.model_dir.join("tokenizer.json"), "it cannot be read")
            })??;
            let model = Self {
                head: EncoderHead::open(&installed.facts, binding.dim)?,
                gives_tokens: graph::gives_token_vectors(installed),
                graph,
                environment,
                loading,
                idle: Mutex::new(vec![session]),
            };
            Ok(TokenEmbedder::new(installed, options, tokenizer, model))
        })
    }
}

impl TokenModel for OnnxModel {
    fn run(&self, ids: &[i64]) -> Result<EncodedText> {
        // This is a separate statement, so that the lock is released before a session is loaded.
        let taken = self.idle().pop();
        let mut session = match taken {
            Some(session) => session,
            None => session(&self.environment, &self.graph, self.loading)?,
        };
        let encoded = if self.gives_tokens {
            run_for_tokens(&mut session, ids, &self.head)
        } else {
            run_built(&mut session, ids, &self.head)
        }?;
        self.idle().push(session);
        Ok(encoded)
    }
}

impl OnnxModel {
    /// Locks the sessions that no thread uses.
    fn idle(&self) -> MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Loads the runtime library, unless it is linked in, once per process.
fn environment(library: &Path) -> Result<Environment> {
    let mut current = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*current {
        return Ok(environment.clone());
    }
    #[cfg(feature = "load-dynamic")]
    let builder = ort::init_from(library).map_err(|error| library_error(library, error))?;
    #[cfg(not(feature = "load-dynamic"))]
    let builder = ort::init();
    let environment = builder
        .with_telemetry(false)
        // The runtime's messages reach the user as errors; the rest is noise on stderr.
        .with_logger(Arc::new(|_, _, _, _, _| {}))
        .build()
        .map_err(|error| library_error(library, error))?;
    *current = Some(environment.clone());
    Ok(environment)
}

fn session(environment: &Environment, graph: &Graph, options: SessionLoading) -> Result<Session> {
    let builder = builder(environment, options);
    match graph {
        Graph::Cached(path) => builder
            .and_then(|builder| {
                Ok(builder.with_optimization_level(GraphOptimizationLevel::Disable)?)
            })
            .and_then(|mut builder| builder.commit_from_file(path))
            .map_err(|error| model_error(path, error)),
        Graph::InMemory(installed, precision) => graph::in_memory(installed, *precision, builder),
    }
}

/// Returns the settings for running a graph.
fn builder(environment: &Environment, options: SessionLoading) -> ort::Result<SessionBuilder> {
    Ok(Session::builder(environment)?
        .with_intra_threads(options.num_threads)?
        // A waiting thread that spins takes the processor from the tokenizer and the search.
        .with_intra_op_spinning(false)?
        // Prepacking rearranges the weights for the processor: 10 ms once, then a tenth less for
        // every run.
        .with_prepacking(!options.is_single)?)
}

/// Runs a graph built by kb that also pools.
fn run_built(session: &mut Session, ids: &[i64], head: &EncoderHead) -> Result<EncodedText> {
    let input = TensorRef::from_array_view(([1, ids.len()], ids)).map_err(inference)?;
    let outputs = session.run(ort::inputs![INPUT => input]).map_err(inference)?;
    let tokens = output(&outputs, TOKENS)?;
    let token_dim = tokens.len() / ids.len().max(1);
    Ok(EncodedText { vector: head.cut(output(&outputs, OUTPUT)?), tokens, token_dim })
}

/// Returns the numbers of one output of a graph.
fn output(outputs: &SessionOutputs<'_>, name: &str) -> Result<Vec<f32>> {
    let output = outputs.get(name).ok_or_else(|| inference("the graph lacks an output"))?;
    Ok(output.try_extract_tensor::<f32>().map_err(inference)?.1.to_vec())
}

/// Runs a graph that returns one vector per token, such as a model's own ONNX file.
fn run_for_tokens(session: &mut Session, ids: &[i64], head: &EncoderHead) -> Result<EncodedText> {
    let shape = [1, ids.len()];
    let (ones, zeros) = (vec![1_i64; ids.len()], vec![0_i64; ids.len()]);
    let names: Vec<String> = session.inputs().iter().map(|input| input.name().to_owned()).collect();
    let mut inputs: Vec<(Cow<'_, str>, SessionInputValue<'_>)> = Vec::new();
    for name in &names {
        let values = match name.as_str() {
            "input_ids" => ids,
            "attention_mask" => &ones,
            "token_type_ids" => &zeros,
            other => {
                return Err(inference(format!("the graph has an unsupported input `{other}`")));
            }
        };
        let tensor = TensorRef::from_array_view((shape, values)).map_err(inference)?;
        inputs.push((Cow::Borrowed(name), tensor.into()));
    }
    let outputs = session.run(inputs).map_err(inference)?;
    for output in outputs.values() {
        let Ok((shape, values)) = output.try_extract_tensor::<f32>() else { continue };
        let [_, _, dim] = shape[..] else { continue };
        let dim = usize::try_from(dim).unwrap_or(0).max(1);
        let (vector, tokens) = (head.vector(values, dim), values.to_vec());
        return Ok(EncodedText { vector, tokens, token_dim: dim });
    }
    Err(inference("the graph returns no token vectors"))
}

fn inference(error: impl Into<Cause>) -> Error {
    Error::Inference(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedder_may_be_shared_between_threads() {
        fn is_shared<T: Send + Sync>() {}
        is_shared::<TokenEmbedder<OnnxModel>>();
    }
}
