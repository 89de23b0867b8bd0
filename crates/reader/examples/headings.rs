//! Prints the headings of a web page: `headings FILE`. The file is read in a box, by this program started again.

#![expect(clippy::print_stdout, reason = "an example is a program of its own")]

use std::process::ExitCode;

use kb_base::document::{Document, Format, Headed};
use kb_extract::protocol::CHILD_COMMAND;
use kb_extract::sandbox::ReadOptions;

fn main() -> ExitCode {
    let path = std::env::args().nth(1).expect("headings FILE");
    if path == CHILD_COMMAND {
        return kb_reader::run_child();
    }
    let bytes = kb_base::files::open::read(
        path.as_ref(),
        kb_base::files::open::SymlinkPolicy::Follow,
        1 << 26,
    );
    let options = ReadOptions::new(std::env::current_exe().expect("its own path"));
    let page = kb_extract::extract(&bytes.expect("a file"), Format::Headed(Headed::Html), &options);
    let Document { blocks, .. } = page.expect("a web page").document;
    for block in blocks {
        println!("{} | {:?}", block.headings.join(" > "), block.kind);
    }
    ExitCode::SUCCESS
}
