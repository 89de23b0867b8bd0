//! Finds names similar to a requested one.

/// Maximum number of suggestions.
const MAX_SIMILAR: usize = 5;

/// Returns the first few items whose names begin with `wanted`, then those that contain it.
pub fn similar<'a, T>(items: &'a [T], name: impl Fn(&T) -> String, wanted: &str) -> Vec<&'a T> {
    let (mut found, mut inner) = (Vec::new(), Vec::new());
    for item in items {
        let name = name(item);
        if name.starts_with(wanted) {
            found.push(item);
        } else if name.contains(wanted) {
            inner.push(item);
        }
    }
    found.append(&mut inner);
    found.truncate(MAX_SIMILAR);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], wanted: &str, expected: &[&str]) {
        let found = similar(names, |name| name.to_lowercase(), wanted);
        assert_eq!(found.into_iter().copied().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn suggestions_begin_with_the_query_or_contain_it() {
        let names = ["How to install", "Install", "INSTALLING on Linux", "Other"];
        check(&names, "instal", &["Install", "INSTALLING on Linux", "How to install"]);
        check(&names, "nothing", &[]);
        check(&["Same"; 9], "s", &["Same"; MAX_SIMILAR]);
    }
}
