//! Serialises the fields of results whose JSON is not that of their type: words, and paths.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::paths::{path_text, split_member};

/// Writes types with `as_str` as that word. Schemas call it a string, because a later kb may have more
/// words. Enums may be defined here, each variant with its word.
#[macro_export]
#[doc(hidden)]
macro_rules! json_words {
    ($(
        $(#[$meta:meta])*
        pub enum $kind:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
        }
    )+) => {$(
        $(#[$meta])*
        pub enum $kind {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $kind {
            /// All of them, in this order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Returns its word, as it is stored and printed.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        $crate::text::fields::words!($kind);
    )+};
    ($($kind:ty),+) => {$(
        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::text::fields::like!(String: $kind);
    )+};
}

pub use json_words as words;

/// Describes types in schemas as if they were another one.
#[macro_export]
#[doc(hidden)]
macro_rules! json_like {
    ($like:ty: $($kind:ty),+) => {$(
        impl schemars::JsonSchema for $kind {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$like as schemars::JsonSchema>::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$like as schemars::JsonSchema>::json_schema(generator)
            }
        }
    )+};
}

pub use json_like as like;

/// Writes a path as [`path_text`].
pub fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path_text(path))
}

/// Writes a path as [`path_text`], or null.
pub fn path_or_null<S: Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serializer.serialize_some(&path_text(path)),
        None => serializer.serialize_none(),
    }
}

/// Writes paths as [`path_text`].
pub fn paths<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path_text(path)))
}

/// Where the text of a document is from.
#[derive(Serialize, JsonSchema)]
pub struct FileLocation<'a> {
    /// Absolute path of its file, which may contain it; null for a note without a file.
    path: Option<&'a str>,
    /// Its name in that file, such as an archive or a mailbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<&'a str>,
}

/// Writes the text of a path as the file and the name in it.
pub fn place<S: Serializer>(path: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    let (path, member) = path.as_deref().map(split_member).unzip();
    FileLocation { path, member: member.flatten() }.serialize(serializer)
}

/// Writes whether there are any.
pub fn is_any<S: Serializer>(count: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(*count > 0)
}

/// Writes a list of values as what `J` makes of each.
pub fn each_as<T, J, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error>
where
    J: for<'a> From<&'a T> + Serialize,
{
    serializer.collect_seq(values.iter().map(J::from))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use crate::text::json::JsonLine;

    #[test]
    fn paths_are_written_as_the_text_that_leads_back_to_them() {
        #[derive(Serialize)]
        struct WrittenPaths {
            #[serde(serialize_with = "path")]
            one: PathBuf,
            #[serde(serialize_with = "path_or_null")]
            none: Option<PathBuf>,
            #[serde(serialize_with = "paths")]
            all: Vec<PathBuf>,
        }
        let one = PathBuf::from(OsStr::from_bytes(b"/a/\xff"));
        let places = WrittenPaths { one: one.clone(), none: None, all: vec![one, "/b".into()] };
        assert_eq!(
            JsonLine::of(&places).unwrap().as_str(),
            "{\"one\":\"/a/\\\\xff\",\"none\":null,\"all\":[\"/a/\\\\xff\",\"/b\"]}\n"
        );
    }
}
