//! Suggests what to do with a path that kb does not read: an unsupported file, or no file at all.

use std::ffi::OsStr;
use std::path::Path;

use crate::document::Format;
use crate::text::paths::path_text;
use crate::wording::{Wording, kb, option, wording};

/// Says what was typed in place of a path, if it looks like something else.
pub(super) fn not_found(path: &Path) -> Option<Wording> {
    let typed = path.to_str()?;
    if typed.starts_with("http://") || typed.starts_with("https://") {
        return Some(
            "kb reads files, not addresses: save the page, or `curl ADDRESS | kb add - --title TITLE`"
                .into(),
        );
    }
    let is_pattern = typed.contains(['*', '?']);
    is_pattern.then(|| {
        "no file here matches it; to add everything below a folder, name the \
        folder"
            .into()
    })
}

/// How files of kinds that nothing reads become files that kb reads: extensions in lower case, and the command.
const CONVERSIONS: &[(&[&str], &str)] = &[
    (&["doc", "dot", "wps", "wpd"], "convert it: `soffice --headless --convert-to docx FILE`"),
    (&["xls", "xlt", "xlsb"], "convert it: `soffice --headless --convert-to xlsx FILE`"),
    (&["ppt", "pps", "pot"], "convert it: `soffice --headless --convert-to pptx FILE`"),
    (&["vsd", "vsdx", "pub"], "convert it: `soffice --headless --convert-to pdf FILE`"),
    (&["pst", "ost"], "convert it: `readpst -e FILE`"),
    (&["mobi", "azw", "azw3"], "convert it: `ebook-convert FILE out.epub`"),
    (&["djvu"], "convert it: `ddjvu -format=pdf FILE out.pdf`"),
    (&["ps", "eps"], "convert it: `ps2pdf FILE`"),
    (&["xps"], "convert it: `xpstopdf FILE`"),
    (&["pages", "numbers", "key"], "export it as .docx, .xlsx or .pptx in its program"),
    (&["one"], "export it as PDF or .docx in OneNote"),
    (&["rar", "7z", "chm"], "unpack it: `7z x FILE`; then add the folder"),
    (&["tar", "tgz"], "unpack it: `tar xf FILE`; then add the folder"),
    (&["heic", "heif"], "convert it: `heif-convert FILE out.jpg`"),
];

/// Extensions of files that hold others. A text with one is an exception, not the first of many.
const PACKED: [&str; 2] = ["zip", "gz"];

/// Returns how to convert a file of a kind that nothing reads, by its extension.
pub(super) fn conversion(path: &Path) -> Option<Wording> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let found = CONVERSIONS.iter().find(|(extensions, _)| extensions.contains(&&*extension));
    found.map(|(_, command)| (*command).into())
}

/// Returns how a text with an extension of no format is read.
pub(super) fn as_text(path: &Path) -> Wording {
    // A name that a shell would not take literally is left out of a command to copy.
    let path_text = path_text(path);
    let plain = if cfg!(windows) { "/._-+@:" } else { "/._-+@" };
    let is_literal = !path_text.starts_with('-')
        && path_text.chars().all(|letter| letter.is_alphanumeric() || plain.contains(letter));
    let shown = if is_literal { &*path_text } else { "FILE" };
    let add = kb("add").option("--type", "markdown").arg(shown);
    let this = wording!("it is text: `{}` reads it", add);
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let extension = extension.to_ascii_lowercase();
    let is_free = !extension.is_empty()
        && extension.chars().all(|letter| letter.is_ascii_alphanumeric())
        && !PACKED.contains(&&*extension)
        && Format::with_extension(&extension).is_none()
        && conversion(path).is_none();
    if !is_free {
        return this;
    }
    let set = kb("config set").arg("ingestion.text_extensions").arg(&*extension);
    this.then(wording!("; `{}` reads all .{} files", set, &*extension))
}

/// Lists the formats that kb reads, by their extensions.
pub(super) fn supported_formats() -> Wording {
    wording!(
        "supported: {}, source code such as .py .sh .bash .go .js .ts .rs .c .cpp .java, and {} by OCR; \
         `{}` and `{}` set the type of other files",
        extensions(false),
        extensions(true),
        option("--type"),
        option("--language")
    )
}

/// Lists the extensions of pictures, or of all other formats.
fn extensions(is_picture: bool) -> String {
    let formats = Format::all().filter(|format| matches!(format, Format::Image(_)) == is_picture);
    let extensions: Vec<&str> = formats.flat_map(Format::usual_extensions).copied().collect();
    format!(".{}", extensions.join(" ."))
}
