//! Makes JSON Schemas of the types of the JSON contract: one for each shape that a command prints.

mod fields;
mod ids;

use std::io;
use std::io::Write;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::present::json::{self, skill};
use crate::text::json::Json;
use crate::transfer::{DocumentLine, HeadLine};

pub use fields::Field;

/// A shape of the contract.
pub struct Published {
    /// Name of its file: the command's words joined by `-`, and what tells it from the command's
    /// other shapes.
    pub name: &'static str,
    /// What prints it.
    pub printed_by: &'static str,
    make: fn() -> Schema,
}

impl Published {
    const fn of<T: JsonSchema>(name: &'static str, printed_by: &'static str) -> Self {
        Self { name, printed_by, make: schema::<T> }
    }

    /// Returns the schema.
    pub fn schema(&self) -> Value {
        let mut schema = (self.make)();
        schema.insert("title".into(), self.printed_by.into());
        schema.into()
    }

    /// Returns every field, in the order in which they are written.
    pub fn fields(&self) -> Vec<Field> {
        fields::fields(&self.schema())
    }

    /// Writes the schema.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn write(&self, out: &mut Json<'_>) -> io::Result<()> {
        out.value(&self.schema())
    }
}

/// Writes a page with every field of every answer.
///
/// # Errors
///
/// What writing gives.
pub fn page(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(PAGE_HEAD.as_bytes())?;
    for published in PUBLISHED {
        let (name, printed_by) = (published.name, published.printed_by);
        let schema = published.schema();
        writeln!(out, "\n## {name}\n\n[`{printed_by}`]({name}.json)")?;
        if let Some(text) = schema["description"].as_str() {
            writeln!(out, "\n{text}")?;
        }
        let fields = fields::fields(&schema);
        if fields.is_empty() {
            writeln!(out, "\n`{}`", fields::kind(&schema))?;
            continue;
        }
        writeln!(out, "\n| field | type | what it says |\n| --- | --- | --- |")?;
        for field in fields {
            let mark = if field.is_optional { "?" } else { "" };
            writeln!(out, "| `{}`{mark} | {} | {} |", field.path, field.kind, field.meaning)?;
        }
    }
    Ok(())
}

const PAGE_HEAD: &str = "\
# Every field of every answer

Made by `kb schema --dir docs/schema` from the types of the program, beside one JSON Schema (draft 2020-12)
for each shape. What the JSON promises stands in [docs/json.md](../json.md). `[]` is every element of an
array. A field with a question mark is left out where it does not apply; every other is always there.
";

/// Every shape there is; `kb mcp` answers with those of the commands.
pub const PUBLISHED: &[Published] = &[
    Published::of::<json::SetupJson>("init", "kb init --format json"),
    Published::of::<json::ReportJson>("add", "kb add --format json"),
    Published::of::<json::UpdateJson>("update", "kb update --format json"),
    Published::of::<json::SearchJson>("search", "kb search --format json; --batch, a line"),
    Published::of::<json::ResultJson>("search-jsonl", "kb search --format jsonl, a line"),
    Published::of::<json::WhyJson>("why", "kb why --format json"),
    Published::of::<Vec<json::ListedJson>>("list", "kb list --format json"),
    Published::of::<json::InfoJson>("info", "kb info --format json"),
    Published::of::<json::SimilarJson>("similar", "kb similar --format json"),
    Published::of::<json::read::OutlineJson>("outline", "kb outline --format json"),
    Published::of::<json::read::ShowJson>("show", "kb show --format json"),
    Published::of::<json::read::OpenJson>("open", "kb open --format json"),
    Published::of::<json::RemovedJson>("remove", "kb remove --format json"),
    Published::of::<Vec<json::TagJson>>("tags", "kb tags --format json"),
    Published::of::<json::TaggedJson>("tag", "kb tag --format json"),
    Published::of::<json::StatusJson>("status", "kb status --format json"),
    Published::of::<json::BackupJson>("backup", "kb backup --format json"),
    Published::of::<HeadLine>("export-head", "kb export, the first line"),
    Published::of::<DocumentLine>("export-document", "kb export, every other line"),
    Published::of::<json::ImportedJson>("import", "kb import --format json"),
    Published::of::<json::DoctorJson>("doctor", "kb doctor --format json"),
    Published::of::<json::ReindexedJson>("reindex", "kb reindex --format json"),
    Published::of::<Vec<f32>>("embed", "kb embed, a line"),
    Published::of::<json::EvalJson>("eval", "kb eval --format json"),
    Published::of::<json::CacheJson>("cache", "kb cache --format json"),
    Published::of::<json::CleanedJson>("cache-clean", "kb cache clean --format json"),
    Published::of::<Vec<json::SettingJson>>("config", "kb config --format json"),
    Published::of::<skill::ListJson>("skill-list", "kb skill list --format json"),
    Published::of::<skill::BuildJson>("skill-build", "kb skill build --format json"),
    Published::of::<skill::SearchJson>("skill-search", "kb skill search --format json"),
    Published::of::<Vec<skill::HeadingJson>>("skill-outline", "kb skill outline --format json"),
    Published::of::<skill::ShowJson>("skill-show", "kb skill show --format json"),
    Published::of::<skill::OpenJson>("skill-open", "kb skill open --format json"),
    Published::of::<Vec<skill::SourceJson>>("skill-sources", "kb skill sources --format json"),
    Published::of::<skill::StatsJson>("skill-stats", "kb skill stats --format json"),
    Published::of::<skill::LintJson>("skill-lint", "kb skill lint --format json"),
    Published::of::<skill::InitJson>("skill-init", "kb skill init --format json"),
    Published::of::<skill::InstallJson>("skill-install", "kb skill install --format json"),
    Published::of::<skill::SyncJson>("skill-sync", "kb skill sync --format json"),
    Published::of::<json::ErrorJson>("error", "any command that fails, on stderr"),
];

/// Returns the schema of what a type is written as.
fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(tidy));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    if let Some(Value::Object(types)) = schema.remove("$defs") {
        let types: Map<String, Value> =
            types.into_iter().map(|(name, schema)| (short(&name).to_owned(), schema)).collect();
        schema.insert("$defs".into(), types.into());
    }
    schema
}

/// Takes out what only Rust knows: the width of numbers, the ends of names, the lines of comments.
fn tidy(schema: &mut Schema) {
    schema.remove("format");
    schema.remove("maximum");
    // What kb reads strictly may still gain keys in what a later kb writes.
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        schema.remove("additionalProperties");
    }
    if let Some(Value::String(target)) = schema.get_mut("$ref") {
        *target = short(target).to_owned();
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
}

fn short(name: &str) -> &str {
    name.strip_suffix("Json").or_else(|| name.strip_suffix("Line")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_has_a_name_of_its_own_and_says_what_each_field_is() {
        fn check(name: &str, schema: &Value) {
            for (key, field) in schema["properties"].as_object().into_iter().flatten() {
                let text = field["description"].as_str().unwrap_or_default();
                assert!(!text.is_empty() && !text.contains('\n'), "{name}: {key} is not explained");
            }
            schema["$defs"]
                .as_object()
                .into_iter()
                .flatten()
                .for_each(|(name, schema)| check(name, schema));
        }
        let mut names: Vec<&str> = PUBLISHED.iter().map(|published| published.name).collect();
        for published in PUBLISHED {
            let schema = published.schema();
            assert_eq!(schema["title"], published.printed_by);
            check(published.name, &schema);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PUBLISHED.len());
    }
}
