//! Reads attributes that switch something on or off.

/// Whether the value of an attribute switches something on (ECMA-376, 17.17.4).
pub(super) fn is_on(value: Option<&str>) -> bool {
    !matches!(value, Some("0" | "false" | "off"))
}
