//! Feeds bytes to the target that has the name of this program. All programs are this one.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kb::fuzzing::run(env!("CARGO_BIN_NAME"), bytes));
