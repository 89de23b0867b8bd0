//! Path and first bytes in, a [`crate::document::Format`] out.
