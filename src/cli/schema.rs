//! Prints or writes the JSON Schemas of command output (`kb schema`).

use std::path::Path;

use crate::cli::exit::ExitStatus;
use crate::cli::{args, messages, streams};
use crate::error::{Error, Result};
use crate::files::write;
use crate::present::schema::{self, PUBLISHED};
use crate::text::json::Json;

pub(super) fn run(args: &args::Schema) -> Result<ExitStatus> {
    if let Some(dir) = &args.dir {
        write_all(dir)?;
        return Ok(ExitStatus::Success);
    }
    if args.name.is_empty() {
        let mut shapes = PUBLISHED.iter();
        streams::text(|out| {
            shapes.try_for_each(|shape| writeln!(out, "{:16}  {}", shape.name, shape.printed_by()))
        })?;
    } else {
        let name = args.name.join("-");
        let Some(schema) = PUBLISHED.iter().find(|published| published.name == name) else {
            let names: Vec<&str> = PUBLISHED.iter().map(|published| published.name).collect();
            return Err(Error::Usage {
                message: format!("there is no schema `{name}`"),
                hint: Some(format!("one of {}", names.join(", "))),
            });
        };
        streams::json(|out| schema.write(out))?;
    }
    Ok(ExitStatus::Success)
}

/// Writes each schema to a separate file, and a page with all their fields.
fn write_all(dir: &Path) -> Result<()> {
    let fail = |path: &Path, source| Error::of_file(path, source);
    let write_file = |name: String, bytes: &[u8]| {
        let path = dir.join(name);
        write::replace_public(&path, bytes).map_err(|error| fail(&path, error))
    };
    write::create_public_folder(dir).map_err(|error| fail(dir, error))?;
    for published in PUBLISHED {
        let mut bytes = Vec::new();
        published.write(&mut Json::new(&mut bytes)).map_err(Error::Output)?;
        write_file(format!("{}.json", published.name), &bytes)?;
    }
    let mut bytes = Vec::new();
    schema::page(&mut bytes).map_err(Error::Output)?;
    write_file("README.md".into(), &bytes)?;
    messages::info(&format!("Wrote {} schemas to {}", PUBLISHED.len(), dir.display()));
    Ok(())
}
