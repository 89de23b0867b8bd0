//! Sets and checks the modes of files, on systems that have modes.

use std::path::Path;

/// Gives a file or folder a mode; a system without modes has none to give.
pub(crate) fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    #[cfg(not(unix))]
    let _ = (path, mode);
}

/// Requires that a file or folder has a mode, on systems that have modes.
#[track_caller]
pub(crate) fn check_mode(path: &Path, expected: u32) {
    #[cfg(unix)]
    {
        let metadata = path.metadata().unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
        assert_eq!(mode, expected, "{}", path.display());
    }
    #[cfg(not(unix))]
    {
        let _ = expected;
        assert!(path.exists(), "{}", path.display());
    }
}
