//! Tests `kb reindex` killed at random instants: the database answers, with vectors of only one
//! model, and the next run completes.
//!
//! `KB_TEST_KILLS=50 cargo test --test integration reindex::` kills more often.

use std::process::Stdio;
use std::time::Instant;

use crate::env::TestEnv;
use crate::patience::comes_true;
use crate::word_model::{WordModel, check_database, word_env};

/// Number of kills if the variable is not set.
const NUM_KILLS: u32 = 6;

/// Chunks that a reindex commits at once.
const BATCH: u32 = 128;

/// Counts the chunks that the next model has embedded.
const NUM_EMBEDDED: &str = "SELECT count(*) FROM chunks_vec_next";

/// Notes whose vectors are checked: the first, the last and one in between.
const NOTES: [&str; 3] =
    ["storm anchor in the cellar", "frozen valve, paint the pump", "salt and sail for the keeper"];

fn num_kills() -> u32 {
    #[expect(clippy::disallowed_methods, reason = "how often is for the user of the test to say")]
    std::env::var("KB_TEST_KILLS").ok().map_or(NUM_KILLS, |text| text.parse().unwrap())
}

/// A home with several of the batches that a reindex commits, and two models of the same width, so
/// that the length of a vector does not show which one made it.
fn home() -> TestEnv {
    let env = word_env();
    WordModel { seed: 2, ..WordModel::default() }.write(&env.path("other"));
    env.ok(&["add", "--note", NOTES[0]]);
    for idx in 0..40 {
        let sections: String = (0..20)
            .map(|number| format!("## Part {number}\n\nrope {idx} lamp {number} oak and log of the harbour, salt on the pump, paint on the engine, winter in the orchard\n\n"))
            .collect();
        env.write(&format!("many/{idx}.md"), format!("# Log {idx}\n\n{sections}"));
        if idx == 20 {
            env.ok(&["add", "--note", NOTES[1]]);
        }
    }
    env.ok(&["add", "many"]);
    env.ok(&["add", "--note", NOTES[2]]);
    env
}

/// Returns the model the database is bound to: the directory's name.
fn bound(env: &TestEnv) -> String {
    env.sql("SELECT value FROM config WHERE key = 'model_name'")
}

/// Requires an intact database whose vectors are those of the model it is bound to.
#[track_caller]
fn check(env: &TestEnv) {
    check_database(env);
    let dir = env.path(bound(env));
    let variables = [("KB_EMBEDDING_MODEL_DIR", dir.to_str().unwrap())];
    for note in NOTES {
        let output = env.kb_with(&variables, &["search", note, "--vec-only"]).expect(0);
        let best = &output.json()["results"][0];
        // The same words give the same vector with the same model; vectors of the two models have
        // nothing in common.
        assert_eq!(best["text"], note);
        assert!(best["evidence"]["cosine"].as_f64().unwrap() > 0.999, "{best}");
    }
}

#[test]
fn a_killed_reindex_never_mixes_two_models_and_the_next_run_completes() {
    let env = home();
    let num_chunks: u32 = env.sql("SELECT count(*) FROM chunks");
    assert!(num_chunks > 400, "{num_chunks}");
    let other = |model: &str| if model == "tiny" { "other" } else { "tiny" };
    let complete = |model: &str| {
        let start = Instant::now();
        env.ok(&["reindex", "--model-dir", model]);
        let took = start.elapsed();
        assert_eq!(bound(&env), model);
        assert_eq!(env.sql::<u32>(NUM_EMBEDDED), 0);
        assert_eq!(env.sql::<u32>("SELECT count(*) FROM chunks_vec_rowids"), num_chunks);
        check(&env);
        took
    };
    complete("other");
    let duration = complete("tiny");

    let mut random = fraction(1);
    let (mut num_before, mut num_within) = (0, 0);
    for round in 1..=num_kills() {
        let target = other(&bound(&env));
        let mut child = env
            .command(&["reindex", "--model-dir", target])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        if round == 1 {
            // On a busy machine, too, one kill comes before the switch.
            assert!(comes_true(
                || env.sql::<u32>(NUM_EMBEDDED) > 0 || child.try_wait().unwrap().is_some()
            ));
        }
        let (start, delay) = (Instant::now(), duration.mul_f64(random()));
        while round > 1 && start.elapsed() < delay && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        check(&env);
        num_before += u32::from(bound(&env) != target);
        // Finished work is committed in batches.
        let num_embedded: u32 = env.sql(NUM_EMBEDDED);
        assert!(num_embedded.is_multiple_of(BATCH) || num_embedded == num_chunks, "{num_embedded}");
        num_within += u32::from(num_embedded > 0);
        // Two in three kills hit what an earlier kill has left.
        if round % 3 == 0 {
            complete(target);
        }
    }
    assert!(num_before > 0, "no kill came before the switch; {num_within} came within the work");
    complete(other(&bound(&env)));
}

/// Returns a generator of numbers between 0 and 1, and at times a little above.
fn fraction(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 32).unwrap()) / f64::from(u32::MAX) * 1.1
    }
}

/// An abandoned change does not block another one.
#[test]
fn an_interrupted_change_can_be_replaced_by_another() {
    let env = home();
    let mut command = env.command(&["reindex", "--model-dir", "other"]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    assert!(comes_true(|| env.sql::<u32>(NUM_EMBEDDED) > 0 || child.try_wait().unwrap().is_some()));
    child.kill().unwrap();
    child.wait().unwrap();
    WordModel { seed: 3, dim: 16, ..WordModel::default() }.write(&env.path("third"));
    env.ok(&["reindex", "--model-dir", "third"]);
    assert_eq!(env.sql::<u32>(NUM_EMBEDDED), 0);
    check(&env);
}
