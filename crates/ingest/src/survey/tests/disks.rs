//! Tests that files on a disk that is not mounted are not missing.

use super::*;

#[test]
fn a_missing_file_may_be_on_a_disk_that_is_not_mounted() {
    let folder = Folder::new(&["d/a.md", "d/s/b.md", "d/s/c.md", "o/x.md", "o/y.md", "p/z.md"]);
    let names = ["d/a.md", "d/s/b.md", "d/s/c.md", "o/x.md", "p/z.md"];
    let known = folder.known(&names);
    for name in names {
        fs::remove_file(folder.path(name)).unwrap();
    }
    folder.write("d/other.md", "words");
    let found = folder.survey(&["d"], &known, false);
    let missing = |survey: &FolderSurvey| -> Vec<PathBuf> {
        survey.missing.iter().map(|missing| paths::path_of(&missing.path)).collect()
    };
    assert_eq!(missing(&found[0]), [folder.path("o/x.md")]);
    assert_eq!(found[0].empty_folders, [folder.path("p")].into());
    assert_eq!(missing(&found[1]), [folder.path("d/a.md")]);
    assert_eq!(found[1].empty_folders, [folder.path("d/s")].into());
    assert_eq!((found[0].num_in_empty, found[1].num_in_empty), (1, 2));
    assert!(!found[1].missing[0].is_elsewhere);
    // The folder of a file that the user named may itself be on such a disk.
    fs::remove_dir(folder.path("p")).unwrap();
    let found = folder.survey(&["d"], &known, false);
    assert_eq!(found[0].empty_folders, [folder.path("p")].into());
    // Below an added folder, it is missing.
    fs::remove_dir(folder.path("d/s")).unwrap();
    let found = folder.survey(&["d"], &known, false);
    assert_eq!((found[1].missing.len(), found[1].num_in_empty), (3, 0));
}

#[test]
fn a_folder_whose_files_were_seen_is_empty_because_they_were_removed_unless_it_was_mounted() {
    let folder = Folder::new(&["d/a.md", "d/s/b.md", "d/t/u/c.md"]);
    let names = ["d/a.md", "d/s/b.md", "d/t/u/c.md"];
    let mut known = folder.known(&names);
    // Seen now for the first time.
    let found = folder.survey(&["d"], &known, false);
    let mut seen: Vec<_> = known.iter().map(|file| (file.stamp.path.clone(), false)).collect();
    assert_eq!(found[0].mounted, seen);
    for name in &names[1..] {
        fs::remove_file(folder.path(name)).unwrap();
    }
    for (file, (_, is_mounted)) in known.iter_mut().zip(&seen) {
        file.is_mounted = Some(*is_mounted);
    }
    let found = folder.survey(&["d"], &known, false);
    assert_eq!((found[0].missing.len(), found[0].num_in_empty), (2, 0));
    assert_eq!((&found[0].empty_folders, found[0].mounted.len()), (&BTreeSet::new(), 0));
    // A disk was mounted at `d/s`. Unmounting it may even remove the folder.
    known[1].is_mounted = Some(true);
    for _ in 0..2 {
        let found = folder.survey(&["d"], &known, false);
        assert_eq!((found[0].missing.len(), found[0].num_in_empty), (1, 1));
        let _ = fs::remove_dir(folder.path("d/s"));
    }
    // The file is moved from the disk to the file system of the folder.
    folder.write("d/s/b.md", "d/s/b.md");
    seen.truncate(2);
    assert_eq!(folder.survey(&["d"], &known, false)[0].mounted, seen[1..]);
}
