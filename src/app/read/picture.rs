//! Draws a page of a document, with a passage marked.

use super::{Selection, ShowRequest, named, open_options, unpacked};
use crate::app::Session;
use crate::app::ingestion::options::{password, reading_program};
use crate::document::Format;
use crate::error::{Error, Result};
use crate::extract::picture::{self, Picture};
use crate::extract::sandbox::ReadOptions;
use crate::read::{self, ShowOptions};
use crate::store::StoredDocument;

/// A page as a picture.
#[derive(Debug)]
pub struct Pictured {
    /// The document.
    pub document: StoredDocument,
    /// Physical page, from 1.
    pub page: u32,
    /// Whether words were to be marked.
    pub is_marked: bool,
    /// The picture.
    pub picture: Picture,
}

/// Draws the page that is selected, or the first page of the selected part, with `mark` marked, or the part.
///
/// The file is read as `kb open` reads it, and must be the one that was indexed.
pub fn picture(session: &Session, request: &ShowRequest, mark: Option<&str>) -> Result<Pictured> {
    session.steadily(|| {
        let (store, document) = named(session, request)?;
        let format = Format::named(&document.format).filter(|format| picture::is_drawn(*format));
        let format = format.ok_or_else(|| Error::Usage {
            message: format!("document {} is no PDF and no picture: it has no pages", document.id),
            hint: Some(format!("`kb show {}` prints its text", document.id)),
        })?;
        let (page, passage) = match &request.selection {
            Selection::Whole => (1, None),
            Selection::Pages(first, last) if first == last => (*first, None),
            Selection::Pages(..) => return Err(Error::usage("a picture shows one page")),
            selection => {
                let options = ShowOptions { selection: selection.clone(), max_lines: None };
                let shown = read::show(&store, document.clone(), &options)?;
                (shown.part.page.unwrap_or(1), Some(shown.text))
            }
        };
        let bytes =
            read::unchanged(&store, &document, &open_options(session), &|path, bytes, name| {
                unpacked(session, (path, bytes), name)
            })?;
        let marked = mark.or(passage.as_deref()).unwrap_or_default();
        let mut options = ReadOptions::new(reading_program(session)?);
        options.password = password(session, None)?;
        let drawn = picture::draw(&bytes, format, (page, marked), &options)?;
        let picture = drawn.ok_or_else(|| Error::UnknownPart {
            what: format!("page {page}"),
            document: document.id.0,
            similar: Vec::new(),
        })?;
        Ok(Pictured { is_marked: !marked.is_empty(), document, page, picture })
    })
}
