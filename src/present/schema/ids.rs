//! Describes ids as integers in schemas.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::document::{ChunkId, DocumentId};

macro_rules! integer {
    ($($id:ident),+) => {$(
        impl JsonSchema for $id {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                i64::schema_name()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                i64::json_schema(generator)
            }
        }
    )+};
}

integer!(DocumentId, ChunkId);
