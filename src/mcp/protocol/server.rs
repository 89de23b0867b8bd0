//! Speaks the protocol on stdin and stdout until stdin closes, and passes calls to the chain.

use std::borrow::Cow;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, ResourceTemplate,
    ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler, ServiceExt, transport};
use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::{mpsc, oneshot};
use tokio::{runtime, task, time};

use crate::error::{Error, Result};
use crate::limits;
use crate::mcp::protocol::{Call, Chain, Failure, Tool, envelope_schema};
use crate::text::json::Line;

/// How long a tool that is still running when stdin closes may take to notice. This is less than
/// the two seconds that clients wait before they kill a server.
const GRACE: Duration = Duration::from_secs(1);

/// How long a tool that can be cancelled continues after stdin has closed.
const REPRIEVE: Duration = Duration::from_millis(500);

/// The prefix of tool names in another program, and the one used here.
const OTHER_PREFIX: (&str, &str) = ("skc_", "skill_");

/// A text that an agent can read by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is about, if known.
    pub description: Option<String>,
    /// The kind of text.
    pub mime_type: &'static str,
}

/// The available resources.
pub trait Resources: Send + Sync {
    /// Returns a page of resources and the cursor of the next page.
    ///
    /// # Errors
    ///
    /// The same as the tools that list these things.
    fn list(&self, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>), Failure>;

    /// Returns the text at an address and its kind; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The same as the tools that read these things.
    fn read(&self, uri: &str) -> Result<Option<(String, &'static str)>, Failure>;

    /// Returns the forms of addresses: template, name, description.
    fn templates(&self) -> &[(&str, &str, &str)];
}

/// The server as the protocol sees it.
struct Server {
    chain: Arc<Chain>,
    resources: Arc<dyn Resources>,
    instructions: &'static str,
    running_calls: Arc<RunningCalls>,
}

/// The running calls, which are cancelled when the server ends.
#[derive(Default)]
struct RunningCalls(Mutex<Vec<Call>>);

impl RunningCalls {
    /// Adds a call until the returned guard is dropped.
    fn enter(self: &Arc<Self>, call: Call) -> CallGuard {
        self.calls().push(call.clone());
        CallGuard(Arc::clone(self), call)
    }

    fn cancel_all(&self) {
        self.calls().iter().for_each(Call::cancel);
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard for a running call. Cancels the call when its answer is no longer awaited.
struct CallGuard(Arc<RunningCalls>, Call);

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.1.cancel();
        self.0.calls().retain(|call| !call.is(&self.1));
    }
}

/// A stream that reports its end.
struct NotifyOnEnd<R> {
    stream: R,
    on_end: Option<oneshot::Sender<()>>,
}

/// Returns a stream and a receiver that is notified at its end.
fn notify_on_end<R>(stream: R) -> (NotifyOnEnd<R>, oneshot::Receiver<()>) {
    let (on_end, ended) = oneshot::channel();
    (NotifyOnEnd { stream, on_end: Some(on_end) }, ended)
}

impl<R: AsyncRead + Unpin> AsyncRead for NotifyOnEnd<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        if (outcome.is_err() || buffer.filled().len() == before)
            && let Some(on_end) = self.on_end.take()
        {
            // The server may have ended first.
            let _ = on_end.send(());
        }
        Poll::Ready(outcome)
    }
}

/// Serves until stdin closes.
///
/// `prepare` runs on a separate thread as soon as the server listens.
///
/// # Errors
///
/// [`Error::Usage`] if the first message does not start the protocol, [`Error::Output`] if the
/// runtime cannot be started or the streams fail.
pub fn serve(
    chain: Chain,
    resources: Arc<dyn Resources>,
    instructions: &'static str,
    prepare: impl FnOnce() + Send + 'static,
) -> Result<()> {
    let runtime =
        runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Output)?;
    let running_calls = Arc::new(RunningCalls::default());
    let server = Server {
        chain: Arc::new(chain),
        resources,
        instructions,
        running_calls: Arc::clone(&running_calls),
    };
    let outcome = runtime.block_on(async {
        task::spawn_blocking(prepare);
        let (stdin, stdout) = transport::stdio();
        let (stdin, ended) = notify_on_end(stdin);
        let calls = Arc::clone(&running_calls);
        // Long calls are no longer awaited, but those that are nearly done are.
        task::spawn(async move {
            if ended.await.is_ok() {
                time::sleep(REPRIEVE).await;
                calls.cancel_all();
            }
        });
        // Longer messages are dropped while they arrive, so they need no memory.
        let transport = AsyncRwTransport::new_server(stdin, stdout)
            .with_max_line_length(limits::MCP_MESSAGE_BYTES);
        let running = match server.serve(transport).await {
            Ok(running) => running,
            // A client that leaves before the handshake is not an error.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => {
                let message = format!("the client does not speak the protocol: {error}");
                return Err(Error::Usage { message, hint: None });
            }
        };
        running.waiting().await.map(drop).map_err(|error| Error::Output(io::Error::other(error)))
    });
    running_calls.cancel_all();
    runtime.shutdown_timeout(GRACE);
    outcome
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("kb", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.chain.tools().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = self.name_of(&request.name)?;
        let input = Value::Object(request.arguments.unwrap_or_default());
        let (progress, forward) = forward_progress(&context);
        let call = Call::new(Arc::new(move |done, total, message: &str| {
            if let Some(progress) = &progress {
                // The client may be gone.
                let _ = progress.send((done, total, message.to_owned()));
            }
        }));
        let guard = self.running_calls.enter(call.clone());
        let mut answer = pin!(self.chain.call(&name, input, call));
        let envelope = tokio::select! {
            envelope = &mut answer => envelope,
            // The tool is notified and ends by itself, so that its turn is over when it ends.
            () = context.ct.cancelled() => {
                guard.1.cancel();
                answer.await
            }
        };
        drop(guard);
        // Progress that was reported before the answer also arrives before it.
        let _ = forward.await;
        let envelope = envelope.ok_or_else(|| ErrorData::invalid_params("unknown tool", None))?;
        let is_ok = envelope["ok"] == Value::Bool(true);
        let text = Line::of(&envelope).map_err(|error| internal(error.to_string()))?;
        let mut result = if is_ok {
            CallToolResult::structured(envelope)
        } else {
            CallToolResult::structured_error(envelope)
        };
        // The same text that the command line prints.
        result.content = vec![ContentBlock::text(text.as_str().trim_end())];
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = Arc::clone(&self.resources);
        let cursor = request.and_then(|request| request.cursor);
        let (page, next) = off_thread(move || resources.list(cursor.as_deref())).await?;
        let page = page.into_iter().map(|listed| {
            let resource = rmcp::model::Resource::new(listed.uri, listed.name)
                .with_mime_type(listed.mime_type);
            match listed.description {
                Some(description) => resource.with_description(description),
                None => resource,
            }
        });
        let mut listed = ListResourcesResult::with_all_items(page.collect());
        listed.next_cursor = next;
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.resources.templates().iter().map(|(template, name, about)| {
            ResourceTemplate::new(*template, *name).with_description(*about)
        });
        Ok(ListResourceTemplatesResult::with_all_items(templates.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (resources, uri) = (Arc::clone(&self.resources), request.uri);
        let wanted = uri.clone();
        let found = off_thread(move || resources.read(&wanted)).await?;
        let Some((text, mime_type)) = found else {
            return Err(ErrorData::resource_not_found(format!("nothing at {uri}"), None));
        };
        let contents = ResourceContents::text(text, uri).with_mime_type(mime_type);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

impl Server {
    /// Returns the name under which a tool is registered.
    fn name_of(&self, called: &str) -> Result<String, ErrorData> {
        if self.chain.has(called) {
            return Ok(called.to_owned());
        }
        let (other, own) = OTHER_PREFIX;
        let renamed = called.strip_prefix(other).map(|rest| format!("{own}{rest}"));
        if let Some(name) = renamed.filter(|name| self.chain.has(name)) {
            return Ok(name);
        }
        let names: Vec<&str> = self.chain.tools().map(|tool| tool.name.as_str()).collect();
        let message = format!("unknown tool: {called}; there are {}", names.join(", "));
        Err(ErrorData::invalid_params(message, None))
    }
}

/// Returns a tool in the form that clients get.
fn described(tool: &Tool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::new().read_only(tool.is_read_only).open_world(false);
    let annotations = if tool.is_read_only { annotations } else { annotations.destructive(false) };
    let (name, description) = (tool.name.clone(), tool.description.clone());
    rmcp::model::Tool::new(Cow::Owned(name), Cow::Owned(description), Arc::new(tool.schema.clone()))
        .with_raw_output_schema(Arc::new(envelope_schema()))
        .with_annotations(annotations)
}

type Progress = (usize, Option<usize>, String);

/// Starts a task that forwards a tool's progress to the client, if it asked for that. The task ends
/// when the sender is dropped.
fn forward_progress(
    context: &RequestContext<RoleServer>,
) -> (Option<mpsc::UnboundedSender<Progress>>, task::JoinHandle<()>) {
    let Some(token) = context.meta.get_progress_token() else {
        return (None, task::spawn(async {}));
    };
    let (sender, mut receiver) = mpsc::unbounded_channel::<Progress>();
    let peer = context.peer.clone();
    let forward = async move {
        while let Some((done, total, message)) = receiver.recv().await {
            let mut notification = ProgressNotificationParam::new(token.clone(), number(done));
            notification.total = total.map(number);
            // A client that does not listen misses nothing else.
            let _ = peer.notify_progress(notification.with_message(message)).await;
        }
    };
    (Some(sender), task::spawn(forward))
}

#[expect(clippy::cast_precision_loss, reason = "no run has that many files")]
fn number(count: usize) -> f64 {
    count as f64
}

fn internal(message: String) -> ErrorData {
    ErrorData::internal_error(message, None)
}

/// Runs blocking work outside the runtime.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, ErrorData> {
    let outcome = task::spawn_blocking(work).await;
    outcome.map_err(|error| internal(error.to_string()))?.map_err(|error| internal(error.message))
}
