//! Tests which model follows from settings and database, and when they contradict each other.

use super::*;
use crate::app::testing::World;
use crate::config::Flags;
use crate::document::ModelFiles;

fn bound(model_name: &str, precision: Precision) -> Binding {
    Binding {
        model_name: model_name.to_owned(),
        dim: 384,
        max_tokens: 256,
        precision,
        passage_prefix: "passage: ".into(),
        files: ModelFiles::default(),
    }
}

fn world(variables: &[(&str, &str)]) -> World {
    World::with(tempfile::tempdir().unwrap(), variables)
}

/// Returns the session of a world with flags.
fn with_flags(world: &World, flags: &Flags) -> Session {
    Session::builder(world.session.environment().clone()).flags(flags).build().unwrap()
}

const DEFAULT: &str = "all-MiniLM-L6-v2";

#[test]
fn only_a_model_that_the_user_named_overrides_that_of_the_database() {
    let small = bound("multilingual-e5-small", Precision::Fp32);
    for (variables, database, name, precision) in [
        (&[][..], None, DEFAULT, Precision::Int8),
        (&[], Some(&small), "multilingual-e5-small", Precision::Fp32),
        (&[("KB_MODEL", DEFAULT)], Some(&small), DEFAULT, Precision::Fp32),
        (
            &[("KB_EMBEDDING_PRECISION", "int8")],
            Some(&small),
            "multilingual-e5-small",
            Precision::Int8,
        ),
        (&[("KB_EMBEDDING_PRECISION", "fp32")], None, DEFAULT, Precision::Fp32),
        (&[("KB_MODEL", "someone/model")], None, "someone/model", Precision::Int8),
    ] {
        let selection = select(&world(variables).session, database).unwrap();
        assert_eq!((selection.name().as_str(), selection.options.precision), (name, precision));
        assert!(selection.may_fetch, "{variables:?}");
    }
}

#[test]
fn prefixes_are_those_of_the_settings_then_of_the_database() {
    let database = bound(DEFAULT, Precision::Int8);
    let prefixes = |variables: &[(&str, &str)], database: Option<&Binding>| {
        let options = select(&world(variables).session, database).unwrap().options;
        (options.query_prefix, options.passage_prefix, options.keeps_tokens)
    };
    assert_eq!(prefixes(&[], None), (None, None, true));
    assert_eq!(prefixes(&[], Some(&database)), (None, Some("passage: ".into()), true));
    let variables = [
        ("KB_EMBEDDING_QUERY_PREFIX", "q"),
        ("KB_EMBEDDING_PASSAGE_PREFIX", "p"),
        ("KB_EMBEDDING_TOKEN_VECTORS", "false"),
    ];
    let expected = (Some("q".into()), Some("p".into()), false);
    assert_eq!(prefixes(&variables, Some(&database)), expected);
    let selection = select(&world(&[]).session, None).unwrap().without_token_codes();
    assert!(!selection.options.keeps_tokens);
}

#[test]
fn kb_fetches_no_model_that_only_a_database_names() {
    let foreign = bound("someone/model", Precision::Int8);
    let selection = select(&world(&[]).session, Some(&foreign)).unwrap();
    assert!(!selection.may_fetch);
    let refused = selection.install(&World::new());
    assert!(matches!(refused, Err(Error::UntrustedModel { name }) if name == "someone/model"));
    let short = bound("no-such-model", Precision::Int8);
    let unknown = select(&world(&[]).session, Some(&short)).err();
    assert!(matches!(unknown, Some(Error::NoModelFiles { .. })));
    let typed = select(&world(&[("KB_MODEL", "no-such-model")]).session, None).err();
    assert!(matches!(typed, Some(Error::UnknownModel { .. })));
}

#[test]
fn a_directory_has_its_own_name_unless_both_were_typed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine").display().to_string();
    let in_file = world(&[("KB_EMBEDDING_MODEL_DIR", &path)]);
    let name =
        |session: &Session, database: Option<&Binding>| select(session, database).unwrap().name();
    assert_eq!(name(&in_file.session, None), "mine");
    let both = world(&[("KB_EMBEDDING_MODEL_DIR", &path), ("KB_MODEL", DEFAULT)]);
    assert_eq!(name(&both.session, None), "mine");
    assert_eq!(name(&both.session, Some(&bound(DEFAULT, Precision::Int8))), DEFAULT);
    let of_dir = ("--model-dir", "embedding.model_dir", path.clone());
    let of_name = ("--model", "embedding.model", "named".to_owned());
    assert_eq!(name(&with_flags(&World::new(), &vec![of_dir.clone(), of_name]), None), "named");
    assert_eq!(name(&with_flags(&both, &vec![of_dir]), None), "mine");
    // A name that was typed overrides a directory in a lower layer.
    let of_name = ("--model", "embedding.model", DEFAULT.to_owned());
    assert_eq!(name(&with_flags(&in_file, &vec![of_name]), None), DEFAULT);
}

#[test]
fn a_model_or_a_precision_that_differs_is_a_mismatch() {
    let database = bound(DEFAULT, Precision::Int8);
    let check = |variables: &[(&str, &str)]| match check_selection(
        &world(variables).session,
        Some(&database),
    ) {
        Ok(()) => String::new(),
        Err(Error::ModelMismatch { bound, wanted, .. }) => format!("{bound}, not {wanted}"),
        Err(other) => panic!("{other}"),
    };
    assert_eq!(check(&[]), "");
    assert_eq!(check(&[("KB_MODEL", DEFAULT)]), "");
    assert_eq!(check(&[("KB_MODEL", "a/b")]), format!("{DEFAULT}, not a/b"));
    let precision = [("KB_EMBEDDING_PRECISION", "fp32")];
    assert_eq!(check(&precision), format!("{DEFAULT} int8, not {DEFAULT} fp32"));
    assert!(check_selection(&world(&precision).session, None).is_ok());
    let cut = |dim| check(&[("KB_EMBEDDING_DIM", dim)]);
    assert_eq!(cut("256"), format!("{DEFAULT} int8, not {DEFAULT} with 256 dim"));
    assert_eq!((cut("384"), cut("0")), (String::new(), String::new()));
    let narrow = Binding { dim: 256, ..database.clone() };
    let error = check_binding(&narrow, &database).unwrap_err().to_string();
    assert!(error.contains(" int8' (256 dim) but config specifies"), "{error}");
    assert!(error.ends_with("with 384 dim'"), "{error}");
    assert!(check_binding(&database, &database).is_ok());
    let other = Binding { max_tokens: 128, ..database.clone() };
    let error = check_binding(&database, &other).unwrap_err().to_string();
    assert!(error.contains("another length or passage prefix"), "{error}");
    assert!(check_binding(&database, &bound(DEFAULT, Precision::Fp32)).is_err());
    let weights = |sha256: &str| Binding {
        files: ModelFiles { revision: None, sha256: Some(sha256.into()) },
        ..database.clone()
    };
    assert!(check_binding(&database, &weights("a")).is_ok());
    assert!(check_binding(&weights("a"), &database).is_ok());
    let error = check_binding(&weights("a"), &weights("b")).unwrap_err().to_string();
    assert!(error.ends_with(&format!("specifies '{DEFAULT} (weights b)'")), "{error}");
}

#[test]
fn a_file_decides_nothing_about_the_model_to_fetch() {
    let session = &world(&[]).session;
    assert!(check_adoptable(session, &bound(DEFAULT, Precision::Int8)).is_ok());
    let other_width = Binding { dim: 3, ..bound(DEFAULT, Precision::Int8) };
    let message = check_adoptable(session, &other_width).unwrap_err().to_string();
    assert_eq!(message, format!("vectors of {DEFAULT} do not have 3 dimensions"));
    let cut = world(&[("KB_EMBEDDING_DIM", "3")]);
    assert!(check_adoptable(&cut.session, &other_width).is_ok());
    for name in ["multilingual-e5-small", "someone/model"] {
        let refused = check_adoptable(session, &bound(name, Precision::Int8));
        assert!(matches!(refused, Err(Error::UntrustedModel { .. })), "{name}");
    }
}

#[test]
fn another_model_takes_nothing_else_from_the_database() {
    let database = bound("multilingual-e5-small", Precision::Fp32);
    let same = select_for_reindex(&world(&[]).session, Some(&database)).unwrap();
    assert_eq!(
        (same.name().as_str(), same.options.precision),
        ("multilingual-e5-small", Precision::Fp32)
    );
    let other =
        select_for_reindex(&world(&[("KB_MODEL", DEFAULT)]).session, Some(&database)).unwrap();
    assert_eq!((other.name().as_str(), other.options.precision), (DEFAULT, Precision::Int8));
    assert_eq!(other.options.passage_prefix, None);
}

#[test]
fn a_model_that_was_typed_is_kept_where_the_settings_name_another_one() {
    let flags = |flags: &[(&'static str, &'static str, &str)]| -> Flags {
        flags.iter().map(|(flag, key, value)| (*flag, *key, (*value).to_owned())).collect()
    };
    let of_name = ("--model", "embedding.model", DEFAULT);
    for (before, given, after) in [
        ("embedding:\n  model: a/b\n", &[of_name][..], format!("embedding:\n  model: {DEFAULT}\n")),
        ("backup:\n  keep: 1\n", &[of_name], "backup:\n  keep: 1\n".into()),
        ("embedding:\n  model: a/b\n", &[], "embedding:\n  model: a/b\n".into()),
        ("embedding:\n  model_dir: /m\n", &[of_name], "embedding:\n  model_dir: \"\"\n".into()),
        (
            "backup:\n  keep: 1\n",
            &[("--model-dir", "embedding.model_dir", "/m")],
            "backup:\n  keep: 1\nembedding:\n  model_dir: /m\n".into(),
        ),
    ] {
        let world = World::new();
        let file = world.path(".kb/config.yaml");
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(&file, before).unwrap();
        keep_selection(&with_flags(&world, &flags(given)), &world).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), after, "{given:?}");
    }
}
