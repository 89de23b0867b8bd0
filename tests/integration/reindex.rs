//! Tests `kb reindex` killed at random instants: the database answers, with vectors of only one
//! model, and the next run completes.
//!
//! `KB_TEST_KILLS=50 cargo test --test integration reindex::` kills more often.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::env::TestEnv;
use crate::patience::comes_true;
use crate::word_model::{WordModel, check_database, word_env};
use crate::{heads, static_models};

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

/// A model: its directory, and the numbers of its vectors that are kept; 0 keeps all.
type Target = (&'static str, u32);

/// Two models of the same width.
const TWO: [Target; 2] = [("tiny", 0), ("other", 0)];

/// A model, one with a Dense, half of its numbers, and one without layers.
const KINDS: [Target; 4] = [("tiny", 0), ("wide", 0), ("wide", 384), ("static", 0)];

/// Returns the variables with which commands use a model.
fn variables(env: &TestEnv, (dir, dim): Target) -> [(&'static str, String); 2] {
    let dir = env.path(dir).display().to_string();
    [("KB_EMBEDDING_MODEL_DIR", dir), ("KB_EMBEDDING_DIM", dim.to_string())]
}

/// Returns the one of `targets` that the database is bound to.
fn bound(env: &TestEnv, targets: &[Target]) -> usize {
    let value =
        |key: &str| -> String { env.sql(&format!("SELECT value FROM config WHERE key = '{key}'")) };
    let (name, dim) = (value("model_name"), value("embedding_dim"));
    let is_cut = |cut: u32| cut.to_string() == dim;
    let found = targets.iter().position(|(dir, cut)| *dir == name && is_cut(*cut));
    found.or_else(|| targets.iter().position(|(dir, cut)| *dir == name && *cut == 0)).unwrap()
}

/// Requires an intact database whose vectors are those of the model it is bound to.
#[track_caller]
fn check(env: &TestEnv, target: Target) {
    check_database(env);
    let variables = variables(env, target);
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    for note in NOTES {
        let output = env.kb_with(&variables, &["search", note, "--vec-only"]).expect(0);
        let best = &output.json()["results"][0];
        // The same words give the same vector with the same model; vectors of the two models have
        // nothing in common.
        assert_eq!(best["text"], note);
        assert!(best["evidence"]["cosine"].as_f64().unwrap() > 0.999, "{best}");
    }
}

/// Moves a database from each model to the next one, over and over, and kills the runs at random instants.
fn kill_on_the_way(env: &TestEnv, targets: &[Target]) {
    let num_chunks: u32 = env.sql("SELECT count(*) FROM chunks");
    assert!(num_chunks > 400, "{num_chunks}");
    let chunks = || env.sql::<String>("SELECT group_concat(id || text) FROM chunks");
    let before = chunks();
    let run = |target: usize| {
        let mut command = env.command(&["reindex"]);
        command.envs(variables(env, targets[target]));
        command
    };
    let complete = |target: usize| {
        let start = Instant::now();
        env.finish(&mut run(target)).expect(0);
        let took = start.elapsed();
        assert_eq!(bound(env, targets), target);
        assert_eq!(env.sql::<u32>(NUM_EMBEDDED), 0);
        assert_eq!(env.sql::<u32>("SELECT count(*) FROM chunks_vec_rowids"), num_chunks);
        check(env, targets[target]);
        took
    };
    let after = |target: usize| (target + 1) % targets.len();
    let mut durations: Vec<Duration> = (1..targets.len()).map(complete).collect();
    durations.insert(0, complete(0));

    let mut random = fraction(1);
    let (mut num_before, mut num_within) = (0, 0);
    for round in 1..=num_kills() {
        let target = after(bound(env, targets));
        let mut child = run(target).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if round == 1 {
            // On a busy machine, too, one kill comes before the switch.
            assert!(comes_true(
                || env.sql::<u32>(NUM_EMBEDDED) > 0 || child.try_wait().unwrap().is_some()
            ));
        }
        let (start, delay) = (Instant::now(), durations[target].mul_f64(random()));
        while round > 1 && start.elapsed() < delay && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let found = bound(env, targets);
        check(env, targets[found]);
        assert!(chunks() == before, "ids and texts stay");
        num_before += u32::from(found != target);
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
    complete(after(bound(env, targets)));
}

#[test]
fn a_killed_reindex_never_mixes_two_models_and_the_next_run_completes() {
    kill_on_the_way(&home(), &TWO);
}

#[test]
fn a_killed_reindex_never_mixes_kinds_of_models() {
    let env = home();
    heads::write(&heads::wide_files(768), &env.path("wide"));
    let words = &WordModel::default().files()["tokenizer.json"];
    heads::write(&static_models::files(1, words), &env.path("static"));
    kill_on_the_way(&env, &KINDS);
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
    check(&env, ("third", 0));
}
