//! Bytes in, text with `\n` line ends out.
