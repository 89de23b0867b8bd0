//! PDF bytes in, pages and blocks out; every reader runs in a child process.
