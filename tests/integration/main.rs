//! The real binary, driven from outside; one test program, so that its libraries are linked once.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

/// Runs the binary in a temporary home, with the small model or the real one.
mod env;
/// A server that speaks the hub's file interface.
mod hub;
/// A client of `kb mcp` that can also say what no client should.
mod mcp_client;
/// A home with a project and a skill in it; `kb skill` and `skc` there.
mod skills;
/// Runs the binary on a pseudo-terminal: prompts, bars, colours.
mod terminal;
/// Seeded models of the BERT family, and their answers computed a second way.
mod tiny_model;
/// Seeded models with which searching makes sense, among them the small one, and a home that uses one.
mod word_model;

/// Files as attackers make them.
mod attackers;
/// Backups at once, and next to what other processes left.
mod backups;
/// The table of bad inputs in docs/reliability.md is what kb prints.
mod bad_inputs;
/// How documents are split into chunks.
mod chunks;
/// How source code is cut: definitions, their comments, what lies between.
mod code;
/// The JSON of every command, read back into structs that know every key.
mod contract;
/// Every requirement is listed with a sentence and the tests that show it.
mod coverage;
/// Editor and viewer, pager, quiet and verbose, log files.
mod daily;
/// The pages tell the truth.
mod docs;
/// Scans, pictures, web pages, DOCX, encrypted files; how well they could be read.
mod documents;
/// The model and the runtime library: numbers, fetching, damage.
mod embedding;
/// What is removed or replaced leaves nothing in the files.
mod erase;
/// Budgets, neighbours, formats, many queries, what is alike.
mod evidence;
/// Exit statuses and the form of errors, on one case of each kind; broken input is `failure`.
mod exit_codes;
/// Why a passage is found, or not: terms, verdicts, the way of one document, narrower searches.
mod explain;
/// Bad input of every kind: one clear line, the right status, nothing lost.
mod failure;
/// Faults that depend on where the program is.
mod faults;
/// Exports whose maker chose every character.
mod hostile_import;
/// Ignore files: none is trusted, and those above a folder count in its repository alone.
mod ignore_files;
/// Which files are added, replaced, followed, skipped, ignored, reported.
mod ingest;
/// Who may import whom; which library lives where.
mod layers;
/// Databases that other versions of SQLite and sqlite-vec made.
mod layouts;
/// Numbers, lines and files beyond what can be meant.
mod limits;
/// Links that are put in the place of what was added; names that are alike.
mod links;
/// Setting up, listing, tagging, removing, reindexing.
mod manage;
/// `kb mcp`: the protocol, the tools.
mod mcp;
/// The same, driven by the official clients.
mod mcp_official;
/// Models: fetching, directories, changing from one to another.
mod models;
/// Human text; which stream gets what; colour and progress on a terminal.
mod output;
/// Each command for people and for programs, row by row.
mod outputs;
/// PDF: the child process, its limits, the classes of failure.
mod pdf;
/// A changed cache: found before it is loaded, named, made again.
mod poisoned;
/// What comes from outside and is printed: terminals, JSON, names, citations, bytes.
mod printed;
/// Reading on from a hit: outline, show, open.
mod read_on;
/// Changing models: killed at any instant, nothing is mixed.
mod reindex;
/// The published shapes of JSON, and whether everything printed has them.
mod schema;
/// What is found, in which order, and why.
mod search;
/// Where a setting comes from, what it changes, how it is written down.
mod settings;
/// What shells complete, manual pages, topics of help, `make install`.
mod shells;
/// What skill commands leave on disk: modes, drafts, links.
mod skill_files;
/// Skills, the gateway protocol: outline, show, open, sources, and what they never let through.
mod skill_gateway;
/// Skills: the registry, building, logs, lint, and the program under the name `skc`.
mod skill_manage;
/// Skills, the search protocol: the index, what makes it unusable, queries.
mod skill_search;
/// Who is spoken to: nobody; who may look at what is kept: its owner.
mod sockets;
/// The page about threats.
mod threats;
/// Token ids against the library of reference.
mod tokens;
/// Everything out of one database and into another.
mod transfer;
/// What is planted in the working directory, `PATH` or the cache, and what becomes of it.
mod trust;
/// Doctor and update: what is damaged or out of date.
mod upkeep;
/// `kb embed`.
mod vectors;
