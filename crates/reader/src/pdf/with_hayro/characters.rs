//! Decodes Chinese, Japanese and Korean fonts in files that rely on Adobe's character collections.

use std::collections::HashMap;

use hayro::hayro_interpret::hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro::hayro_syntax::object::{Array, Dict, Name, Stream, String as PdfString};
use hayro::hayro_syntax::page::Resources;

/// Deepest nesting of forms whose fonts are read; forms may contain each other in a circle.
const MAX_DEPTH: u8 = 3;

/// Most bytes of a code: character maps have codes of one to four.
const MAX_CODE_BYTES: u8 = 4;

/// Fonts of the pages read so far, by the name in the font program.
#[derive(Debug, Default)]
pub(super) struct Characters(HashMap<String, Option<CharacterCollection>>);

/// How a font numbers its characters.
#[derive(Debug)]
struct CharacterCollection {
    /// Maps codes to numbers; `None` if they are equal.
    encoding: Option<CMap>,
    /// Maps numbers to characters.
    characters: CMap,
}

impl Characters {
    /// Adds the fonts of a page.
    pub(super) fn add_page(&mut self, resources: &Resources<'_>) {
        self.add_fonts(&resources.fonts);
        self.add_forms(&resources.x_objects, MAX_DEPTH);
    }

    /// Returns the text of `code` in the font called `name`.
    pub(super) fn character(&self, name: &str, code: u32) -> Option<BfString> {
        let collection = self.0.get(name)?.as_ref()?;
        let number = match &collection.encoding {
            None => code,
            Some(encoding) => {
                (1..=MAX_CODE_BYTES).find_map(|len| encoding.lookup_cid_code(code, len))?
            }
        };
        collection.characters.lookup_bf_string(number)
    }

    fn add_forms(&mut self, forms: &Dict<'_>, depth: u8) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for name in forms.keys() {
            let form = forms.get::<Stream<'_>>(&*name);
            let resources = form.and_then(|form| form.dict().get::<Dict<'_>>(b"Resources"));
            let Some(resources) = resources else { continue };
            self.add_fonts(&resources.get::<Dict<'_>>(b"Font").unwrap_or_default());
            self.add_forms(&resources.get::<Dict<'_>>(b"XObject").unwrap_or_default(), depth);
        }
    }

    fn add_fonts(&mut self, fonts: &Dict<'_>) {
        for key in fonts.keys() {
            let Some(font) = fonts.get::<Dict<'_>>(&*key) else { continue };
            let Some(name) = font.get::<Name<'_>>(b"BaseFont") else { continue };
            let name = without_prefix(name.as_str());
            if font.contains_key(b"DescendantFonts") && !self.0.contains_key(name) {
                self.0.insert(name.to_owned(), collection(&font));
            }
        }
    }
}

/// Returns the name of a font without the subset prefix `ABCDEF+`.
fn without_prefix(name: &str) -> &str {
    match name.split_once('+') {
        Some((prefix, rest)) if prefix.len() == 6 => rest,
        _ => name,
    }
}

fn collection(font: &Dict<'_>) -> Option<CharacterCollection> {
    let descendant = font.get::<Array<'_>>(b"DescendantFonts")?.iter::<Dict<'_>>().next()?;
    let info = descendant.get::<Dict<'_>>(b"CIDSystemInfo")?;
    let registry = info.get::<PdfString<'_>>(b"Registry")?;
    let ordering = info.get::<PdfString<'_>>(b"Ordering")?;
    let family = CidFamily::from_registry_ordering(&registry, &ordering);
    let encoding = match font.get::<Name<'_>>(b"Encoding") {
        Some(name) if name.as_str().starts_with("Identity") => None,
        Some(name) => Some(parse(load_embedded(CMapName::from_bytes(&name))?)?),
        None => Some(parse(&font.get::<Stream<'_>>(b"Encoding")?.decoded_data().ok()?)?),
    };
    let characters = parse(load_embedded(family.ucs2_cmap()?)?)?;
    Some(CharacterCollection { encoding, characters })
}

fn parse(data: &[u8]) -> Option<CMap> {
    CMap::parse(data, load_embedded)
}
