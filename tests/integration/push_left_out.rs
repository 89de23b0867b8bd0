//! `kb push` and `kb search --from` in a kb that was built without the feature `postgres`:
//! `cargo test --no-default-features --features load-dynamic --test integration push_left_out::`.

use crate::word_model::word_env;

#[test]
fn without_postgres_push_and_from_are_refused() {
    let env = word_env();
    let target = "postgres://me@127.0.0.1/team";
    for args in [&["push", target][..], &["search", "gauge", "--from", target]] {
        let error = env.kb(&[args, &["--format=json"]].concat()).expect(1).json_error();
        assert_eq!(error["code"], "usage", "{error}");
        assert_eq!(error["error"], "this kb was built without PostgreSQL", "{error}");
        assert!(error["fix"].as_str().unwrap().contains("`postgres`"), "{error}");
    }
    env.ok(&["search", "gauge"]);
}
