//! Asks a client in which folders it works.
//!
//! Clients of protocols before 2026-07-28 can be asked; later ones start the server where they work.

#![expect(
    deprecated,
    reason = "clients of today have roots, and nothing else says where they work"
)]

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::Peer;
use tokio::time;

/// How long the first requests of a client wait for its answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Returns the addresses of the folders; `None` if the client does not say.
pub(super) async fn ask(peer: &Peer<RoleServer>) -> Option<Vec<String>> {
    peer.peer_info()?.capabilities.roots.as_ref()?;
    let listed = time::timeout(PATIENCE, peer.list_roots()).await.ok()?.ok()?;
    Some(listed.roots.into_iter().map(|root| root.uri).collect())
}
