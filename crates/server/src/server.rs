//! Speaks the protocol on stdin and stdout until the client closes one of them, and passes calls to the chain.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, DIRECTORY_MIME_TYPE, DiscoverResult, ErrorData,
    GetSkillRequestParams, GetSkillResult, Implementation, JsonObject, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, ResourceTemplate,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler, ServiceExt, transport};
use serde_json::{Value, json};
use tokio::sync::{OnceCell, mpsc};
use tokio::{runtime, task, time};

use crate::error::{Error, Result};
use crate::forms::{internal, missing, result, skill};
use crate::reports::{self, LevelRequest, LogThreshold, is_stateless};
use crate::running::RunningCalls;
use crate::{Call, Host, Report, ToolDispatcher, ToolFailure, limits, listing, roots, streams};

/// How long calls continue after stdin has closed, before they are cancelled.
const REPRIEVE: Duration = Duration::from_millis(150);

/// How long cancelled calls and the loading of a model may take to end: some passages. Clients kill a server two seconds
/// after they have closed its stdin.
const PATIENCE: Duration = Duration::from_millis(1300);

/// How long the protocol library may take to pass on the answers of calls that have ended.
const GRACE: Duration = Duration::from_millis(150);

/// How long the last answers may take to be written.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// How long a client may keep what is fixed while the server runs: what it is, and the forms of addresses.
const FIXED_TTL_MS: u64 = 24 * 60 * 60 * 1000;

/// How long a client may keep the tools. They are fixed too, but those of skills are listed only once there is a skill.
/// Lists of documents and skills change at any time, so they have none.
const TOOLS_TTL_MS: u64 = 5 * 60 * 1000;

/// Threads that read stdin, write stdout and load a model: more than these need, so that calls never wait for them.
const OTHER_THREADS: usize = 8;

/// The prefix of tool names in another program, and the one used here.
const OTHER_PREFIX: (&str, &str) = ("skc_", "skill_");

/// The code of a failure that is the client's mistake.
const USAGE: &str = "usage";

/// The server as the protocol sees it.
struct Server {
    chain: Arc<ToolDispatcher>,
    host: Arc<dyn Host>,
    instructions: String,
    running_calls: Arc<RunningCalls>,
    /// Set when it is known where the client works.
    is_placed: OnceCell<()>,
    log_level: LogThreshold,
}

/// Serves until the client closes stdin or stdout. Returns whether all threads that worked for it have ended; if not, they compute
/// something that does not end when it is cancelled.
///
/// `prepare` runs on a separate thread as soon as the server listens.
pub fn serve(
    chain: ToolDispatcher,
    host: Arc<dyn Host>,
    instructions: String,
    prepare: impl FnOnce() + Send + 'static,
) -> Result<bool> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(limits::MCP_CALLS + OTHER_THREADS)
        .build()
        .map_err(Error::Output)?;
    let running_calls = Arc::new(RunningCalls::default());
    let server = Server {
        chain: Arc::new(chain),
        host,
        instructions,
        running_calls: Arc::clone(&running_calls),
        is_placed: OnceCell::new(),
        log_level: LogThreshold::default(),
    };
    let outcome = runtime.block_on(async {
        let at_work = running_calls.at_work();
        task::spawn_blocking(move || {
            prepare();
            drop(at_work);
        });
        let (stdin, stdout) = transport::stdio();
        let closed = streams::closed(&stdout);
        let streams = streams::open(stdin, stdout, closed, Arc::clone(&running_calls));
        // `streams` limits the length of a line, so the library need not.
        let transport = AsyncRwTransport::new_server(streams.input, streams.output)
            .with_max_line_length(usize::MAX);
        // How long cancelled calls may still take to end.
        let mut patience = PATIENCE;
        let outcome = match server.serve(transport).await {
            Ok(running) => {
                // The library would wait seconds for calls that still run when stdin closes, so kb cancels them itself.
                let abandoned = async {
                    if streams.ended.await.is_err() {
                        std::future::pending::<()>().await;
                    }
                    time::sleep(REPRIEVE).await;
                    running_calls.cancel_all();
                    let _ = time::timeout(PATIENCE, running_calls.no_work()).await;
                    time::sleep(GRACE).await;
                };
                tokio::select! {
                    outcome = running.waiting() => {
                        outcome.map(drop).map_err(|error| Error::Output(io::Error::other(error)))
                    }
                    () = abandoned => {
                        patience = Duration::ZERO;
                        Ok(())
                    }
                }
            }
            // A client that leaves before the handshake is not an error.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => {
                let message = format!("the client does not speak the protocol: {error}");
                Err(Error::usage(message))
            }
        };
        running_calls.cancel_all();
        // After an error, no client waits for the end of the process, so the work may take its time.
        let patience = if outcome.is_ok() { patience } else { Duration::MAX };
        let is_over = time::timeout(patience, running_calls.no_work()).await.is_ok();
        // Writing takes longer only if the client does not read; then the rest is lost.
        let _ = time::timeout(LAST_WORDS, streams.writing).await;
        outcome.map(|()| is_over)
    });
    // A thread may still wait for stdin, which cannot be stopped, so nothing waits for it.
    runtime.shutdown_background();
    outcome
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_skills_with_directory_read()
            .build();
        capabilities.logging = Some(JsonObject::new());
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("kb", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions.clone())
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()).with_ttl_ms(FIXED_TTL_MS))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.settle(&context.peer).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.enter(&context.peer).await;
    }

    async fn set_level(
        &self,
        request: LevelRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.log_level.set(&request);
        Ok(())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let host = self.settled(&context).await;
        let useless = self.off_thread(move || Ok(host.useless_tools())).await?;
        let tools = self.chain.tools();
        let useful = tools.filter(|tool| useless.is_none_or(|name| !tool.name.starts_with(name)));
        let mut listed = ListToolsResult::with_all_items(useful.map(listing::described).collect());
        listed.ttl_ms = is_stateless(&context).then_some(TOOLS_TTL_MS);
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = self.name_of(&request.name)?;
        self.settle(&context.peer).await;
        let input = Value::Object(request.arguments.unwrap_or_default());
        let (reports, forward) = self.forward_reports(&context);
        let at_work = self.running_calls.at_work();
        let call = Call::new(Arc::new(move |report| {
            // The closure owns `at_work`: the call counts as work until the thread of the tool drops it.
            let _ = &at_work;
            // A report is dropped if the client has left or does not read.
            let _ = reports.try_send(report);
        }));
        let guard = self.running_calls.enter(call.clone());
        let mut answer = pin!(self.chain.call(&name, input, call));
        let answered = tokio::select! {
            answered = &mut answer => answered,
            // A cancelled tool ends by itself. The call waits for that, so that its turn lasts as long as its work.
            () = context.ct.cancelled() => {
                guard.cancel();
                answer.await
            }
        };
        drop(guard);
        // Reports that came before the answer also arrive before it.
        let _ = forward.await;
        let answer = answered.ok_or_else(|| ErrorData::invalid_params("unknown tool", None))?;
        Ok(result(answer)?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = self.settled(&context).await;
        let cursor = request.and_then(|request| request.cursor);
        let (page, next) = self.off_thread(move || resources.list(cursor.as_deref())).await?;
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
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.host.templates().iter().map(|(template, name, about)| {
            ResourceTemplate::new(*template, *name).with_description(*about)
        });
        let mut listed = ListResourceTemplatesResult::with_all_items(templates.collect());
        listed.ttl_ms = is_stateless(&context).then_some(FIXED_TTL_MS);
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (resources, uri) = (self.settled(&context).await, request.uri);
        let wanted = uri.clone();
        let found = self.off_thread(move || resources.read(&wanted)).await?;
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
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let resources = self.settled(&context).await;
        let cursor = request.and_then(|request| request.cursor);
        let (page, next) = self.off_thread(move || resources.skills(cursor.as_deref())).await?;
        let page = page.into_iter().map(skill).collect::<Result<_, _>>()?;
        let mut listed = ListSkillsResult::with_all_items(page);
        listed.next_cursor = next;
        Ok(listed)
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let (resources, uri) = (self.settled(&context).await, request.uri);
        let wanted = uri.clone();
        let found = self.off_thread(move || resources.skill(&wanted)).await?;
        let found = found.ok_or_else(|| missing("skill", &uri))?;
        Ok(GetSkillResult::new(skill(found)?))
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        let (resources, uri) = (self.settled(&context).await, request.uri);
        let wanted = uri.clone();
        let found = self.off_thread(move || resources.directory(&wanted)).await?;
        let found = found.ok_or_else(|| missing("directory", &uri))?;
        let entries = found.into_iter().map(|entry| {
            let mime_type = entry.mime_type.unwrap_or(DIRECTORY_MIME_TYPE);
            rmcp::model::Resource::new(entry.uri, entry.name).with_mime_type(mime_type)
        });
        Ok(ReadResourceDirectoryResult::with_all_items(entries.collect()))
    }
}

impl Server {
    /// Waits until it is known where the client works.
    async fn settle(&self, peer: &Peer<RoleServer>) {
        self.is_placed.get_or_init(|| self.enter(peer)).await;
    }

    /// Returns the host, once it is known where the client works.
    async fn settled(&self, context: &RequestContext<RoleServer>) -> Arc<dyn Host> {
        self.settle(&context.peer).await;
        Arc::clone(&self.host)
    }

    /// Works where the client works, if it says where.
    async fn enter(&self, peer: &Peer<RoleServer>) {
        let Some(roots) = roots::ask(peer).await else { return };
        let host = Arc::clone(&self.host);
        let entered = self.off_thread(move || {
            host.enter(&roots);
            Ok(())
        });
        // An error has been printed where it occurred.
        let _ = entered.await;
    }

    /// Starts a task that forwards the reports of a call to the client, as far as it asked for them. The task ends
    /// when the sender is dropped.
    fn forward_reports(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> (mpsc::Sender<Report>, task::JoinHandle<()>) {
        let (sender, receiver) = mpsc::channel(reports::WAITING);
        let token = context.meta.get_progress_token();
        let (peer, log) = (context.peer.clone(), self.log_level.log(context));
        (sender, task::spawn(reports::forward(receiver, peer, token, log)))
    }

    /// Runs blocking work outside the runtime.
    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ToolFailure> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let at_work = self.running_calls.at_work();
        let task = task::spawn_blocking(move || {
            let outcome = work();
            drop(at_work);
            outcome
        });
        task.await.map_err(|error| internal(error.to_string()))?.map_err(|failure| {
            match failure.code.as_str() {
                USAGE => ErrorData::invalid_params(failure.message, None),
                _ => internal(failure.message),
            }
        })
    }

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
