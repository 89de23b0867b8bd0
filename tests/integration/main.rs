//! Drives the real binary from outside. All tests are one program, so that its libraries are linked
//! once. Those that need links, modes, signals, scripts or pseudo-terminals are compiled on Unix only; most
//! others also run on Windows (`packaging/windows`).

#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        unused_imports,
        unused_variables,
        reason = "some tests are for Linux or Unix only"
    )
)]
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

/// Runs the binary in a temporary home, with the small model or the real one.
mod env;
/// Programs that replace Tesseract.
#[cfg(unix)]
mod fake_tesseract;
/// A server that speaks the hub's file interface.
mod hub;
/// The values of placeholders in command lines of pages, and the results of these lines.
#[cfg(unix)]
mod line_table;
/// A client of `kb mcp` that can also send malformed messages.
mod mcp_client;
/// Finds the command lines of pages and of the program's help.
mod page_lines;
/// Waits for what a program does, with one bound for all tests.
mod patience;
/// Modes of files, on systems that have them.
mod permissions;
/// The form in which tests compare the paths that kb prints.
mod printed_paths;
/// Runs the binary on a pseudo-terminal while keys are typed; cells, sizes, signals.
#[cfg(unix)]
mod screen;
/// A home with a project and a skill; runs `kb skill` and `skc` there.
mod skills;
/// Reads the sources of the program and of its crates.
mod sources;
/// Runs the binary on a pseudo-terminal: prompts, bars, colours.
#[cfg(unix)]
mod terminal;
/// Seeded models of the BERT family, and their answers computed by a second implementation.
mod tiny_model;
/// Seeded models that give sensible search results, among them the small one, and a home that uses
/// one.
mod without_model;
mod word_model;

/// Databases with content that kb did not make.
mod altered;
/// Files made by attackers.
mod attackers;
/// Concurrent backups, and backups next to what other processes left.
mod backups;
/// The table of bad inputs in docs/reliability.md matches what kb prints.
mod bad_inputs;
/// Values in the database that kb never writes.
mod bad_rows;
/// Several knowledge bases, those of projects, and those that someone else made.
mod bases;
/// How documents are split into chunks.
mod chunks;
/// No circle of files that use each other, in any crate.
mod circles;
/// The place that is cited: that of the line that is shown.
mod cited;
/// `kb mcp install`, and the servers that the entries start.
mod clients;
/// How source code is split: definitions, their comments, and the code between them.
mod code;
/// Every command line of every page and of the program's help, run in a small home.
#[cfg(unix)]
mod command_lines;
/// The JSON of every command, read into structs that know every key.
mod contract;
/// `kb convert`: every format as Markdown and JSON, names of results, files that cannot be converted.
mod convert;
/// Copies of the database that kb makes itself.
mod copies;
/// Every requirement is listed with a sentence and the tests that show it.
mod coverage;
/// Editor and viewer, pager, quiet and verbose, log files.
mod daily;
/// Tables of separated values, JSON, YAML, TOML, XML, logs, and further kinds of text.
mod data;
/// Dates of documents in lists, and in the order of results.
mod dates;
/// The pages are true.
mod docs;
/// Scans, pictures, web pages, DOCX, encrypted files; how well each could be read.
mod documents;
/// PDF pages that a test draws, such as ones with hidden text.
mod drawn;
/// Tags of many documents, removal by selection, titles, dates and notes in the editor.
mod edit;
/// Office files: the format by the directory, embedded files, and the account of the parts.
mod embedded;
/// The model and the runtime library: numbers, downloads, damage.
mod embedding;
/// Removed and replaced text is erased from the files.
mod erase;
/// Budgets, neighbours, formats, batches of queries, similar documents.
mod evidence;
/// Names of files, and versions, options and languages to the letter.
mod exact;
/// Exit statuses and the form of errors, one case of each kind; `failure` tests broken input.
mod exit_codes;
/// Why a passage is found, or not: terms, verdicts, the trace of one document, narrower searches.
mod explain;
/// Bad input of every kind: one clear line, the right status, nothing lost.
mod failure;
/// Every listed model gives the vectors of `transformers`, on seeded weights.
mod families;
/// Faults that depend on where the program is.
#[cfg(unix)]
mod faults;
/// `kb find` on a terminal, and `kb` without a command.
#[cfg(unix)]
mod find;
/// Which files and folders are followed, whatever a database or the settings of a project say.
mod followed;
/// Marks of stale files in answers.
mod freshness;
/// A small disk that is filled, and what still works.
#[cfg(unix)]
mod full_disk;
/// Web pages of documentation by many generators: what is kept of each.
mod generators;
/// Every matching line of every format: `kb grep`.
mod grep;
/// Files that were read wrongly: their words, in order.
mod hard;
/// Every pooling and the modules after it give the vectors of sentence-transformers.
mod heads;
/// Exports written by an attacker.
mod hostile_import;
/// Ignore files: none is trusted, and those above a folder apply only in its repository.
mod ignore_files;
/// Which files are added, replaced, followed, skipped, ignored, reported.
mod ingest;
/// Documents in other languages: recognised, stemmed, erased, reported if the model cannot read them.
mod languages;
mod layer_kinds;
/// Who may import whom; which library lives where.
mod layers;
/// Databases made by other versions of SQLite and sqlite-vec.
mod layouts;
/// The ledger of files: ignored, failed and waived ones, and dry runs.
mod ledger;
/// The report of a test on a machine that lacks something.
mod left_out;
mod letters;
/// Numbers, lines and files beyond any sensible size.
mod limits;
/// Links that replace added files; names that print alike.
#[cfg(unix)]
mod links;
/// Setting up, listing, tagging, removing, reindexing.
mod manage;
/// `kb mcp`: the protocol, the tools.
mod mcp;
/// The knowledge bases that calls of `kb mcp` name.
mod mcp_bases;
/// The compact answers of `kb mcp`, and their pages.
mod mcp_compact;
/// The same, driven by the official clients.
#[cfg(unix)]
mod mcp_official;
/// Where clients of `kb mcp` work, and the messages that they get.
mod mcp_places;
/// Skills over MCP: names, indexes, warnings, annotations.
mod mcp_skills;
/// The words of `kb mcp`: errors, lenient arguments, brief answers.
mod mcp_words;
/// Files in archives, e-mails and mailboxes.
mod members;
/// Merging imports: two machines that edit the same documents.
mod merging;
/// Models: fetching, directories, changing from one to another.
mod model_files;
mod models;
mod month;
/// Links between notes: forwards, backwards and to nowhere; tags in the text.
mod note_links;
/// Notes on filters, stale files and knowledge bases: in JSON, on stderr, over MCP.
mod notes;
/// Runs as an ordinary user, also where the tests run as root.
#[cfg(unix)]
mod ordinary;
/// Human text; which stream gets what; colour and progress on a terminal.
mod output;
/// Every command's output for people and for programs, row by row.
mod outputs;
/// Every option in the pages, with its value.
#[cfg(unix)]
mod page_options;
mod page_pictures;
/// PDF: the child process, its limits, the classes of failure.
mod pdf;
/// Several phrasings of one query: averages within each leg, what each contributes.
mod phrasings;
/// Queries that are places of files or dates.
mod places;
/// Code that needs Unix is compiled there only.
mod platforms;
/// A changed cache: detected before it is loaded, named, rebuilt.
mod poisoned;
/// Servers that speak parts of PostgreSQL's protocol, for the tests of connections.
#[cfg(feature = "postgres")]
mod postgres_fakes;
/// Connections to servers of PostgreSQL that are hostile, or not encrypted as they should be.
#[cfg(feature = "postgres")]
mod postgres_hostile;
/// Connections to real servers of PostgreSQL, encrypted and not.
#[cfg(all(unix, feature = "postgres"))]
mod postgres_tls;
/// Printed text from outside: terminals, JSON, names, citations, bytes.
#[cfg(unix)]
mod printed;
/// `kb push` and `kb search --from`: a copy in PostgreSQL.
#[cfg(all(unix, feature = "postgres"))]
mod push;
/// The same in a kb without the feature `postgres`.
#[cfg(not(feature = "postgres"))]
mod push_left_out;
/// Every result has the words in double quotes.
mod quotes;
/// Reading on from a hit: outline, show, open.
mod read_on;
/// Databases that cannot be written.
#[cfg(unix)]
mod read_only;
/// Changes of the model, killed at any instant: vectors are never mixed.
mod reindex;
/// `kb relocate`: a folder that is elsewhere now.
mod relocate;
/// A program that is replaced on disk while it runs.
#[cfg(target_os = "linux")]
mod replaced;
/// A program of the user's that orders the results: `search.rerank_command`.
#[cfg(unix)]
mod rerank;
/// Documents made with other settings.
mod reread;
/// Equal files at several paths, and lines for people that name their knowledge base.
mod right_place;
/// Added folders in other added folders.
mod roots;
/// The note in answers while a run stores documents.
mod running;
/// The sandbox of a process that reads a document, tried from inside.
mod sandbox;
/// The published JSON schemas, and whether all output matches them.
mod schema;
/// The results of searches, their order, and the reasons.
mod search;
/// Where a setting comes from, what it changes, how it is written.
mod settings;
/// Shell completions, manual pages, help topics, `make install`.
mod shells;
/// The files that skill commands leave: modes, drafts, links.
#[cfg(unix)]
mod skill_files;
/// Skills, the gateway protocol: outline, show, open, sources, and what they refuse.
mod skill_gateway;
/// Skills: the registry, building, logs, lint, and the program under the name `skc`.
mod skill_manage;
/// Skills, the search protocol: the index, what makes it unusable, queries.
mod skill_search;
/// The question before a skill is put where agents find it.
#[cfg(unix)]
mod skill_targets;
/// No network access without request; data readable only by its owner.
#[cfg(unix)]
mod sockets;
/// The command lines in messages and comments of the program.
mod source_lines;
/// Static models give the vectors of the libraries that write them, without the runtime library.
mod static_models;
/// The sandbox of Tesseract: refused actions, and files that remain readable.
#[cfg(target_os = "linux")]
mod tesseract;
/// Headings of plain text, also in real ones.
mod texts;
/// The page on threats.
mod threats;
/// Token ids compared with the reference library.
mod tokens;
/// Every tool of `kb mcp`, with a call of it.
mod tool_table;
/// Exports from one database, imports into another.
mod transfer;
/// Files planted in the working directory, `PATH` or the cache.
#[cfg(unix)]
mod trust;
/// The modes of all files that kb creates, whatever the umask is.
#[cfg(unix)]
mod umask;
/// Homes of earlier programs: a database of every schema, and one with all that 841bdc8 could make.
mod upgrade;
/// Doctor and update: damaged and outdated data.
mod upkeep;
/// `kb embed`.
mod vectors;
/// `kb watch` and the services that run it.
mod watch;
mod ways_in;
/// Properties of Windows alone: drives, either slash, reserved names, files that are held open.
#[cfg(windows)]
mod windows;
/// Where each word of a file went.
mod words;
