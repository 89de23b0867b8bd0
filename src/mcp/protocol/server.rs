//! Speaks the protocol on stdin and stdout until stdin closes, and passes calls to the chain.

use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DIRECTORY_MIME_TYPE,
    ErrorData, GetSkillRequestParams, GetSkillResult, Implementation, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ResourceTemplate, ServerCapabilities, ServerConfig, Skill, SkillFrontmatter, SkillResource,
    SkillResources,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler, ServiceExt, transport};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::{runtime, task, time};

use crate::error::{Error, Result};
use crate::mcp::protocol::{
    Answer, Call, Chain, Failure, Resources, SkillEntry, SkillFile, listing, streams,
};
use crate::text::json::Line;

/// How long calls continue after stdin has closed, before they are cancelled.
const REPRIEVE: Duration = Duration::from_millis(150);

/// How long cancelled calls may take to end. With the reprieve and the end of the runtime this stays below half a
/// second; clients kill a server after two.
const GRACE: Duration = Duration::from_millis(150);

/// How long the last answers may take to be written.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// The prefix of tool names in another program, and the one used here.
const OTHER_PREFIX: (&str, &str) = ("skc_", "skill_");

/// The code of a failure that is the client's mistake.
const USAGE: &str = "usage";

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
        let streams = streams::open(stdin, stdout);
        // The streams limit the length of a line.
        let transport = AsyncRwTransport::new_server(streams.input, streams.output)
            .with_max_line_length(usize::MAX);
        let outcome = match server.serve(transport).await {
            Ok(running) => {
                // The library waits seconds for calls that are still running when stdin closes.
                let abandoned = async {
                    if streams.ended.await.is_err() {
                        std::future::pending::<()>().await;
                    }
                    time::sleep(REPRIEVE).await;
                    running_calls.cancel_all();
                    time::sleep(GRACE).await;
                };
                tokio::select! {
                    outcome = running.waiting() => {
                        outcome.map(drop).map_err(|error| Error::Output(io::Error::other(error)))
                    }
                    () = abandoned => Ok(()),
                }
            }
            // A client that leaves before the handshake is not an error.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => {
                let message = format!("the client does not speak the protocol: {error}");
                Err(Error::Usage { message, hint: None })
            }
        };
        // Nothing is left to write if it takes longer.
        let _ = time::timeout(LAST_WORDS, streams.writing).await;
        outcome
    });
    running_calls.cancel_all();
    runtime.shutdown_timeout(LAST_WORDS);
    outcome
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_skills_with_directory_read()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("kb", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.chain.tools().map(listing::described).collect()))
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
        let answered = tokio::select! {
            answered = &mut answer => answered,
            // The tool is notified and ends by itself, so that its turn is over when it ends.
            () = context.ct.cancelled() => {
                guard.1.cancel();
                answer.await
            }
        };
        drop(guard);
        // Progress that was reported before the answer also arrives before it.
        let _ = forward.await;
        let unknown = || ErrorData::invalid_params("unknown tool", None);
        Ok(result(answered.ok_or_else(unknown)?)?.into())
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
        let Some(content) = found else {
            let data = Some(json!({ "uri": uri }));
            return Err(ErrorData::resource_not_found(format!("nothing at {uri}"), data));
        };
        let contents = match String::from_utf8(content.bytes) {
            Ok(text) => ResourceContents::text(text, uri),
            Err(error) => ResourceContents::blob(STANDARD.encode(error.as_bytes()), uri),
        };
        let contents = contents.with_mime_type(content.mime_type);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let resources = Arc::clone(&self.resources);
        let cursor = request.and_then(|request| request.cursor);
        let (page, next) = off_thread(move || resources.skills(cursor.as_deref())).await?;
        let page = page.into_iter().map(skill).collect::<Result<_, _>>()?;
        let mut listed = ListSkillsResult::with_all_items(page);
        listed.next_cursor = next;
        Ok(listed)
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let (resources, uri) = (Arc::clone(&self.resources), request.uri);
        let wanted = uri.clone();
        let found = off_thread(move || resources.skill(&wanted)).await?;
        let nothing = || ErrorData::invalid_params(format!("no skill at {uri}"), None);
        Ok(GetSkillResult::new(skill(found.ok_or_else(nothing)?)?))
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        let (resources, uri) = (Arc::clone(&self.resources), request.uri);
        let wanted = uri.clone();
        let found = off_thread(move || resources.directory(&wanted)).await?;
        let nothing = || ErrorData::invalid_params(format!("no directory at {uri}"), None);
        let entries = found.ok_or_else(nothing)?.into_iter().map(|entry| {
            let mime_type = entry.mime_type.unwrap_or(DIRECTORY_MIME_TYPE);
            rmcp::model::Resource::new(entry.uri, entry.name).with_mime_type(mime_type)
        });
        Ok(ReadResourceDirectoryResult::with_all_items(entries.collect()))
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

/// Returns an answer in the form that clients get.
fn result(answer: Answer) -> Result<CallToolResult, ErrorData> {
    let Answer { envelope, has_structure, text } = answer;
    let is_ok = envelope["ok"] == Value::Bool(true);
    let text = match text {
        Some(text) => text,
        // The same text that the command line prints.
        None => {
            let line = Line::of(&envelope).map_err(|error| internal(error.to_string()))?;
            line.as_str().trim_end().to_owned()
        }
    };
    let content = vec![ContentBlock::text(text)];
    let mut result = match (has_structure, is_ok) {
        (false, _) => return Ok(CallToolResult::success(content)),
        (true, true) => CallToolResult::structured(envelope),
        (true, false) => CallToolResult::structured_error(envelope),
    };
    result.content = content;
    Ok(result)
}

/// Returns a skill in the form that clients get.
fn skill(entry: SkillEntry) -> Result<Skill, ErrorData> {
    let front_matter: SkillFrontmatter =
        serde_json::from_value(entry.front_matter).map_err(|error| internal(error.to_string()))?;
    let file = |file: SkillFile| {
        SkillResource::new(file.uri, format!("sha256:{}", file.sha256), file.size_bytes)
    };
    let files = entry.files.into_iter().map(file).collect();
    Ok(Skill::new(entry.uri, front_matter, SkillResources::Files(files)))
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
    outcome.map_err(|error| internal(error.to_string()))?.map_err(|failure| {
        match failure.code.as_str() {
            USAGE => ErrorData::invalid_params(failure.message, None),
            _ => internal(failure.message),
        }
    })
}
