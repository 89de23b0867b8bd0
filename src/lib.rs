//! `kb`: a local, offline knowledge base. Its pipelines:
//!
//! ```text
//! ingest:  walk → detect → extract → chunk → embed ──► store
//! search:  parse → keyword ∥ vector ◄── store ;  → fuse → threshold → page ──► present
//! read:    find → chunks ◄── store ;  → join → parts → outline, show, open ──► present
//! eval:    questions with known answers → search → measures ──► present
//! mcp:     turn → validate → audit → dispatch → audit ──► envelope
//! transfer: store ─► lines ;  lines → embed ─► store
//! skill:   resolve → files → index ◄─► store ;  → search, outline, show, open ──► present
//! ```
//!
//! The library never prints, never exits and never reads settings or the environment, with three
//! exceptions: [`cli`] is the edge, [`mcp`] speaks a protocol on stdout, and [`config`] reads settings
//! for [`app::session`] only. Modules in reading order:

#![expect(
    clippy::missing_errors_doc,
    reason = "an error is described where it is made, not again by each function that passes it on"
)]

use kb_base::{cancel, diagnostic, document, error, files, limits, numeric, text, trace, wording};
use kb_embed as embed;
use kb_extract::{self as extract, chunk};
use kb_ingest as ingest;
use kb_server as server;
use kb_skills as skill;
use kb_store::{self as store, search, transfer};

pub mod eval;

pub mod read;

pub mod present;

pub mod app;

pub mod config;

pub mod requests;

pub mod mcp;

pub mod cli;

#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
