# Targets need Rust, a C compiler and Python 3 with pip, nothing else; `make help` lists them.

KB := target/release/kb
# compiles faster than a release build
DEMO_KB := target/demo/kb
DEMO := .demo
PREFIX ?= $(HOME)/.local
DEST = $(DESTDIR)$(PREFIX)
export CARGO_TERM_COLOR ?= auto
# kb sets this itself. This line is for tests and benchmarks that load the library directly.
export ORT_DISABLE_TELEMETRY := 1

.PHONY: help build demo test faults counts counts-write lint nightly mutants quality everyday foreign docpages code recency chunkers pdf documents schema skills bench bench-quick tokens policy start corpus scale-ingest scale-search packages platforms windows conformance install clean

# Those with two signs are the ones that most people need.
help: ## List the targets
	@grep -hE '^[a-z-]+:[^#]*## ' $(MAKEFILE_LIST) | sed 's/:[^#]*## /\t/' | expand -t 16
	@echo; echo "For those who change kb:"
	@grep -hE '^[a-z-]+:[^#]*### ' $(MAKEFILE_LIST) | sed 's/:[^#]*### /\t/' | expand -t 16

build: ## Build the program
	cargo build --release --locked

demo: ## Build, fetch the model, add the sample documents, search them
	cargo build --profile demo --locked --no-default-features --features load-dynamic
	rm -rf $(DEMO)
	KB_DATA_DIR=$(DEMO) $(DEMO_KB) init
	KB_DATA_DIR=$(DEMO) $(DEMO_KB) add tests/fixtures/corpus/*.*
	KB_DATA_DIR=$(DEMO) $(DEMO_KB) add --note "The tide recorder's charger is in the blue box under the stairs." --tags station
	@echo; echo '$$ kb search "what to do when the gauge is frozen" --top 3 --format human'
	@KB_DATA_DIR=$(DEMO) $(DEMO_KB) search "what to do when the gauge is frozen" --top 3 --format human
	@echo; echo '$$ kb search "what to do when the gauge is frozen" --top 1'
	@KB_DATA_DIR=$(DEMO) $(DEMO_KB) search "what to do when the gauge is frozen" --top 1

test: ## Fetch the model once, then run every test; the last lines say what was left out
	tests/run

conformance: ### Try the server with clients and converters of others, in pinned versions from the registries
	cargo build --quiet --locked
	tests/conformance/run target/debug/kb

faults: build ## Run commands under I/O faults, kills and power cuts and check that nothing is lost; half an hour, best as root
	tests/faults/run $(KB) --write

counts: ### Compare the instructions of ten commands with tests/counts/table.md; needs Valgrind
	cargo build --quiet --locked
	tests/counts/run target/debug/kb

counts-write: ### Count them again and write the table
	cargo build --quiet --locked
	tests/counts/run target/debug/kb --write

lint: ## Check format, lints, names, wording and dependencies
	tests/wording
	tests/names
	cargo fmt --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked --no-default-features --features load-dynamic -- -D warnings
	@if ! command -v cargo-deny >/dev/null; then \
		echo "cargo-deny is not installed: licences, sources, duplicates and advisories were not checked (cargo install cargo-deny)"; \
	else \
		cargo deny --log-level warn check -A license-not-encountered licenses bans sources || exit 1; \
		if cargo deny --log-level off fetch db 2>/dev/null; \
		then cargo deny --offline --log-level warn check advisories; \
		else echo "advisories were not checked: github.com/RustSec/advisory-db cannot be reached"; fi; \
	fi

nightly: ### Check what takes too long for every change: other builds, documentation, examples, fuzz targets, benchmarks, packages
	tests/nightly

mutants: ### Put a hundred small faults into the program and report those that no test notices; one to two hours
	tests/mutants/run

quality: build ### Measure retrieval on the collections next to this checkout; MODEL=gte-small or static-minilm does it with that model
	tests/quality/run $(KB) --write $(if $(MODEL),--model $(MODEL))

everyday: build ### Ask everyday questions and exact queries, and check that the right documents and lines are shown
	tests/quality/everyday/run $(KB) --write

foreign: build ### Ask 200 queries about two Debian manuals, an npm package and notes; needs apt-get and npm
	tests/quality/foreign/run $(KB) --write

docpages: build ### Report what is kept of 60 pages of documentation of 23 generators; needs apt-get, npm and the Python package lxml
	tests/quality/docpages/run $(KB) --write

code: build ### Ask questions about nine packages of source code, and report each kind of question
	tests/quality/code $(KB)

recency: build ### Measure how often newer versions of notes win with --recent, and what it costs
	tests/quality/recency $(KB) --write

chunkers: build ### Chunk every file next to this checkout, and source code of this machine, and check each chunk
	tests/quality/chunkers $(KB)

pdf: build ### Measure how well PDFs are read, compared with pdftotext, pypdf and pdf-extract
	cargo build --release --locked --example read_pdf
	tests/quality/pdf $(KB)
	tests/quality/contents $(KB)

documents: build ### Measure how well documents are converted, compared with other converters
	tests/quality/documents $(KB) --write

schema: ## Update docs/schema after a change of the JSON output, and the list of a database's objects after a migration
	cargo run --quiet --locked -- schema --dir docs/schema
	KB_WRITE_PROMISES=1 cargo test --quiet --locked --test integration -- schema::no_field_is_removed
	KB_WRITE_TABLES=1 cargo test --quiet --locked -p kb-store --lib -- the_list_is_that_of_the_migrations

skills: build ### Serve the skills next to this checkout and report counts and times
	tests/quality/skills $(KB)

bench: build ### Make all figures of docs/performance.md in one run, with the peers that can be installed; hours
	cargo build --release --locked --example read_pdf
	benches/all $(KB)

bench-quick: build ## Try the benchmarks on a small database in under three minutes; writes nothing
	benches/all $(KB) --quick

tokens: build ### Count the tokens that a model pays for tools and answers; needs the Python package bpe-openai
	benches/tokens $(KB) --write

policy: build ### Measure what one call reads for its tokens, against the simplest policies; needs rg, pdftotext, numpy and bpe-openai
	benches/policy $(KB) --write

start: build ### Measure how long each command takes with 3,000 documents
	benches/start $(KB) --write

corpus: build ### Add everything next to this checkout and report
	tests/quality/corpus $(KB)

scale-ingest: build ### Convert with Ray, with one and two workers and after kills; needs the packages ray and pyarrow
	benches/scale_ingest $(KB) --write

scale-search: build ### Push to PostgreSQL and compare answers, times and sizes; needs the package pgserver
	tests/postgres/setup
	benches/scale_search $(KB) --write

packages: ### Build the crate, the Python package, the Debian package and the container, and try each
	packaging/run
	packaging/container

platforms: ### Check with `cargo check` that everything compiles for Windows, macOS and Linux on ARM64; nothing is run
	packaging/platforms

windows: ### Build for Windows with mingw-w64 and run its tests below Wine; needs both
	packaging/windows

install: build ## Install the program, man pages, completions and the link skc in PREFIX (~/.local)
	mkdir -p $(addprefix $(DEST)/,bin share/man/man1 share/bash-completion/completions \
		share/zsh/site-functions share/fish/vendor_completions.d)
	install -m 755 $(KB) $(DEST)/bin/kb
	ln -sf kb $(DEST)/bin/skc
	$(KB) man --dir $(DEST)/share/man/man1
	$(KB) completions bash > $(DEST)/share/bash-completion/completions/kb
	$(KB) completions zsh > $(DEST)/share/zsh/site-functions/_kb
	$(KB) completions fish > $(DEST)/share/fish/vendor_completions.d/kb.fish

clean: ## Remove all build output
	rm -rf $(DEMO)
	cargo clean
