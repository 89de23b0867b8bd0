//! Finds the number format of each cell style in `styles.xml`.

use std::collections::HashMap;

use crate::number_format::NumberFormat;
use crate::xml::{self, XmlEvent};

/// The formats that every program knows (ECMA-376, 18.8.30). Those of dates depend on the language
/// of the program, so a date is shown as ISO 8601.
const BUILT_IN: &[(u32, &str)] = &[
    (1, "0"),
    (2, "0.00"),
    (3, "#,##0"),
    (4, "#,##0.00"),
    (9, "0%"),
    (10, "0.00%"),
    (11, "0.00E+00"),
    (12, "# ?/?"),
    (13, "# ??/??"),
    (14, "yyyy-mm-dd"),
    (15, "d-mmm-yy"),
    (16, "d-mmm"),
    (17, "mmm-yy"),
    (18, "h:mm AM/PM"),
    (19, "h:mm:ss AM/PM"),
    (20, "h:mm"),
    (21, "h:mm:ss"),
    (22, "yyyy-mm-dd h:mm"),
    (37, "#,##0;(#,##0)"),
    (38, "#,##0;(#,##0)"),
    (39, "#,##0.00;(#,##0.00)"),
    (40, "#,##0.00;(#,##0.00)"),
    (45, "mm:ss"),
    (46, "[h]:mm:ss"),
    (47, "mm:ss.0"),
    (48, "##0.0E+0"),
    (49, "@"),
];

/// Number formats by cell style.
#[derive(Debug, Default)]
pub(super) struct Formats {
    /// The format of each style.
    styles: Vec<NumberFormat>,
    general: NumberFormat,
    /// Whether days are counted from 1904.
    pub(super) is_1904: bool,
}

impl Formats {
    /// Reads the styles; a style that cannot be read has the general format.
    pub(super) fn read(xml: &str, is_1904: bool) -> Self {
        let mut codes: HashMap<u32, String> =
            BUILT_IN.iter().map(|(id, code)| (*id, (*code).to_owned())).collect();
        let (mut ids, mut is_cells) = (Vec::new(), false);
        let _ = xml::each(xml, |event| match event {
            XmlEvent::Open(element) => match element.name() {
                "numFmt" => {
                    let id = element.number("numFmtId");
                    codes.extend(id.zip(element.attribute("formatCode")));
                }
                "cellXfs" => is_cells = true,
                "xf" if is_cells => ids.push(element.number("numFmtId").unwrap_or(0)),
                _ => {}
            },
            XmlEvent::Close("cellXfs") => is_cells = false,
            XmlEvent::Close(_) | XmlEvent::Text(_) => {}
        });
        let codes = ids.iter().map(|id| codes.get(id));
        let styles = codes.map(|code| code.map(|code| NumberFormat::new(code)).unwrap_or_default());
        Self { styles: styles.collect(), general: NumberFormat::default(), is_1904 }
    }

    /// Returns the format of a style.
    pub(super) fn of(&self, style: usize) -> &NumberFormat {
        self.styles.get(style).unwrap_or(&self.general)
    }
}
