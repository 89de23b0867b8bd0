//! Puts answers, skills and errors into the forms of the protocol library.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorData, Skill, SkillFrontmatter, SkillResource, SkillResources,
};
use serde_json::Value;

use crate::text::json::JsonLine;
use crate::{SkillEntry, ToolCallResponse};

/// Returns an answer in the form that clients get.
pub(crate) fn result(answer: ToolCallResponse) -> Result<CallToolResult, ErrorData> {
    let ToolCallResponse { envelope, has_structure, text, image } = answer;
    let is_ok = envelope["ok"] == Value::Bool(true);
    let text = match text {
        Some(text) => text,
        // The same text that the command line prints.
        None => {
            let line = JsonLine::of(&envelope).map_err(|error| internal(error.to_string()))?;
            line.as_str().trim_end().to_owned()
        }
    };
    let image = image.map(|png| ContentBlock::image(BASE64_STANDARD.encode(png), "image/png"));
    let content: Vec<ContentBlock> = [ContentBlock::text(text)].into_iter().chain(image).collect();
    let mut result = match (has_structure, is_ok) {
        (false, _) => return Ok(CallToolResult::success(content)),
        (true, true) => CallToolResult::structured(envelope),
        (true, false) => CallToolResult::structured_error(envelope),
    };
    result.content = content;
    Ok(result)
}

/// Returns a skill in the form that clients get.
pub(crate) fn skill(entry: SkillEntry) -> Result<Skill, ErrorData> {
    let front_matter: SkillFrontmatter =
        serde_json::from_value(entry.front_matter).map_err(|error| internal(error.to_string()))?;
    let files = entry.files.into_iter().map(|file| {
        SkillResource::new(file.uri, format!("sha256:{}", file.sha256), file.size_bytes)
    });
    Ok(Skill::new(entry.uri, front_matter, SkillResources::Files(files.collect())))
}

/// Returns the error of a call for something that does not exist.
pub(crate) fn missing(what: &str, uri: &str) -> ErrorData {
    ErrorData::invalid_params(format!("no {what} at {uri}"), None)
}

/// Returns the error of a call that failed within the server.
pub(crate) fn internal(message: String) -> ErrorData {
    ErrorData::internal_error(message, None)
}
