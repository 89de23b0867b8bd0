//! Reads the attribute `val`, which has the value of most properties.

use crate::xml::Element;

pub(super) fn value(property: &Element<'_>) -> Option<String> {
    property.attribute("val")
}

/// Whether the value of an attribute switches something on (ECMA-376, 17.17.4).
pub(super) fn is_on(value: Option<&str>) -> bool {
    !matches!(value, Some("0" | "false" | "off"))
}
