//! Files in, stored chunks out.

pub mod chunk;
pub mod decode;
pub mod detect;
pub mod extract;
pub mod walk;
