//! `kb push` and `kb search --from` with servers that are not what they should be.

use std::io;

use serde_json::Value;

use crate::env::TestEnv;
use crate::postgres_fakes::{Certificates, Fake, Peer, Seen, authentication, message, welcome};

const PASSWORD: &str = "sekretpg";

/// Runs a search that must fail. Returns its error, and what the server saw.
#[track_caller]
fn refused(env: &TestEnv, fake: &Fake, url: &str) -> (Value, Seen) {
    let args = ["search", "gauge", "--fts-only", "--from", url, "--format=json"];
    let output = env.kb_with(&[("PGPASSWORD", PASSWORD)], &args).expect(2);
    assert!(!output.stderr.contains(PASSWORD), "{}", output.stderr);
    let error = output.json_error();
    assert_eq!(error["code"], "target", "{error}");
    assert!(error["fix"].is_string(), "{error}");
    (error, fake.seen())
}

fn text(error: &Value) -> String {
    format!("{} | {}", error["error"].as_str().unwrap(), error["fix"].as_str().unwrap())
}

/// A server that sends bytes once it knows who the client is.
fn sending(bytes: Vec<u8>) -> impl Fn(&mut dyn Peer) -> io::Result<()> {
    move |peer| peer.write_all(&bytes)
}

/// A server that lets everyone in, and answers the first request with bytes.
fn answering(bytes: Vec<u8>) -> impl Fn(&mut dyn Peer) -> io::Result<()> {
    move |peer| {
        peer.write_all(&welcome())?;
        peer.read_exact(&mut [0; 5])?;
        peer.write_all(&bytes)
    }
}

#[test]
fn no_password_is_given_to_a_server_that_asks_for_it_without_scram() {
    let env = TestEnv::without_model();
    let sasl = authentication(10, b"SCRAM-SHA-256\0\0");
    for (asks, word) in [
        (authentication(3, b""), "require_auth=password"),
        (authentication(5, b"salt"), "require_auth=md5"),
        (authentication(7, b""), "require_auth=gss"),
        (welcome(), "require_auth=none"),
    ] {
        let fake = Fake::start(None, sending(asks));
        let local = format!("postgres://me@127.0.0.1:{}/team", fake.port);
        for url in [local, fake.url("db.example", "sslmode=disable")] {
            let (error, seen) = refused(&env, &fake, &url);
            assert!(text(&error).contains(word), "{error}");
            assert!(seen.has_begun && seen.sent.is_empty(), "{word}: {seen:?}");
        }
    }
    // The server asks for a proof, and then does without.
    let fake = Fake::start(None, move |peer| {
        peer.write_all(&sasl)?;
        peer.read_exact(&mut [0; 5])?;
        peer.write_all(&welcome())
    });
    let (_, seen) = refused(&env, &fake, &fake.url("localhost", ""));
    assert!(!String::from_utf8_lossy(&seen.sent).contains(PASSWORD), "{seen:?}");
    // A method that the user allows is used, even a password in plain text.
    let fake = Fake::start(None, |peer| {
        peer.write_all(&authentication(3, b""))?;
        peer.read_exact(&mut [0; 5 + PASSWORD.len() + 1])?;
        Err(io::ErrorKind::ConnectionAborted.into())
    });
    for params in ["require_auth=password", "require_auth=!none,!md5"] {
        let (_, seen) = refused(&env, &fake, &fake.url("localhost", params));
        assert!(String::from_utf8_lossy(&seen.sent).contains(PASSWORD), "{seen:?}");
    }
}

#[test]
fn the_variables_of_libpq_count_and_the_url_overrides_them() {
    let env = TestEnv::without_model();
    let fake = Fake::start(None, sending(authentication(5, b"salt")));
    let error = |vars: &[(&str, &str)], params: &str| {
        let url = fake.url("db.example", params);
        let args = ["search", "gauge", "--fts-only", "--from", &url, "--format=json"];
        let error = env.kb_with(vars, &args).expect(2).json_error();
        (text(&error), fake.seen().has_begun)
    };
    let (encrypted, has_begun) = error(&[("PGSSLMODE", "require")], "");
    assert!(encrypted.contains("does not encrypt") && !has_begun, "{encrypted}");
    let disable = ("PGSSLMODE", "disable");
    assert!(error(&[disable], "").0.contains("require_auth=md5"));
    assert!(error(&[disable], "sslmode=require").0.contains("does not encrypt"));
    // Without a password, the library has nothing to answer with.
    let allowed = error(&[disable, ("PGREQUIREAUTH", "md5")], "").0;
    assert!(allowed.contains("PGPASSWORD"), "{allowed}");
    assert!(
        error(&[disable, ("PGREQUIREAUTH", "md5")], "require_auth=scram-sha-256").0.contains("MD5")
    );
}

#[test]
fn a_connection_that_is_not_encrypted_as_asked_is_given_up_before_anything_is_said() {
    let env = TestEnv::without_model();
    let fake = Fake::start(None, sending(welcome()));
    for mode in ["require", "verify-ca", "verify-full"] {
        let (error, seen) =
            refused(&env, &fake, &fake.url("db.example", &format!("sslmode={mode}")));
        assert!(text(&error).contains("does not encrypt"), "{error}");
        assert!(text(&error).contains("ssh -L"), "{error}");
        assert!(!seen.has_begun, "{mode}: {seen:?}");
    }
}

/// The answer of a server that has no such database. It shows that the connection was accepted.
fn no_database() -> Vec<u8> {
    message(b'E', b"SFATAL\0C3D000\0Mdatabase \"team\" does not exist\0\0")
}

#[test]
fn certificates_are_checked_as_sslmode_says() {
    let env = TestEnv::without_model();
    let (ours, theirs) =
        (Certificates::new(&["db.example"], false), Certificates::new(&["db.example"], false));
    let (alone, ca) = (Certificates::new(&["db.example"], true), ours.authority());
    let fake = Fake::start(Some(&ours), sending(no_database()));
    let root = |file: &str| format!("sslrootcert={}", file.replace('/', "%2F"));
    let (right, wrong) = (root(&ca), root(&theirs.authority()));
    let check = |fake: &Fake, host: &str, params: &str, part: &str| {
        let (error, seen) = refused(&env, fake, &fake.url(host, params));
        assert!(text(&error).contains(part), "{host} {params}: {error}");
        let is_accepted = part == "create that database";
        assert_eq!((seen.has_begun, seen.is_encrypted), (is_accepted, is_accepted), "{params}");
    };
    let accepted = "create that database";
    // The machine's own address, where encryption is preferred, and any certificate does.
    check(&fake, "localhost", "", accepted);
    check(&fake, "db.example", "sslmode=require", accepted);
    check(&fake, "db.example", &format!("sslmode=verify-full&{right}"), accepted);
    check(&fake, "other.example", &format!("sslmode=verify-ca&{right}"), accepted);
    check(
        &fake,
        "other.example",
        &format!("sslmode=verify-full&{right}"),
        "not for the name other.example",
    );
    check(
        &fake,
        "127.0.0.1",
        &format!("sslmode=verify-full&{right}"),
        "not for the name 127.0.0.1",
    );
    for mode in ["require", "verify-ca", "verify-full"] {
        check(&fake, "db.example", &format!("sslmode={mode}&{wrong}"), "sslrootcert=FILE");
    }
    check(&fake, "db.example", "sslmode=verify-full", "sslrootcert=FILE");
    // The authorities of the system are where OpenSSL finds them.
    let url = fake.url("db.example", "sslrootcert=system");
    let args = ["search", "gauge", "--fts-only", "--from", &url, "--format=json"];
    let error = env.kb_with(&[("SSL_CERT_FILE", &ca)], &args).expect(2).json_error();
    assert!(text(&error).contains(accepted), "{error}");
    assert!(fake.seen().is_encrypted);
    // A certificate that its owner signed is known if the user names it.
    let fake = Fake::start(Some(&alone), sending(no_database()));
    check(
        &fake,
        "db.example",
        &format!("sslmode=verify-full&{}", root(&alone.authority())),
        accepted,
    );
    check(&fake, "db.example", &format!("sslmode=verify-full&{right}"), "sslrootcert=FILE");
    let nothing = env.write("nothing.pem", "no certificate\n").display().to_string();
    for file in [nothing, "missing.pem".to_owned()] {
        let url = fake.url("db.example", &format!("sslmode=verify-ca&{}", root(&file)));
        let error = env.kb(&["search", "gauge", "--fts-only", "--from", &url]).expect(1);
        assert!(error.stderr.contains(&file), "{}", error.stderr);
    }
}

#[test]
fn prefer_and_allow_try_both_kinds_of_connection() {
    let env = TestEnv::without_model();
    let certificates = Certificates::new(&["db.example"], false);
    // The answer of a server whose pg_hba.conf has no line for this kind of connection.
    let no_line = message(b'E', b"SFATAL\0C28000\0Mno pg_hba.conf entry\0\0");
    let fake = Fake::start(Some(&certificates), sending(no_line));
    for (mode, kinds) in [("allow", [false, true]), ("prefer", [true, false])] {
        let (error, first) =
            refused(&env, &fake, &fake.url("db.example", &format!("sslmode={mode}")));
        assert!(text(&error).contains("no pg_hba.conf entry"), "{error}");
        assert_eq!([first.is_encrypted, fake.seen().is_encrypted], kinds, "{mode}");
    }
}

#[test]
fn a_server_without_end_or_sense_is_given_up() {
    let env = TestEnv::without_model();
    let notice = message(b'N', b"SNOTICE\0C00000\0Mwait\0\0");
    let row = |head: &[u8]| {
        let columns = [&[0, 1][..], b"value\0", &[0; 6], &[0, 0, 0, 25, 0, 0], &[0; 6]].concat();
        [message(b'1', b""), message(b'2', b""), message(b'T', &columns), head.to_vec()].concat()
    };
    let endless = |start: Vec<u8>, again: Vec<u8>| {
        move |peer: &mut dyn Peer| {
            answering(start.clone())(peer)?;
            loop {
                peer.write_all(&again)?;
            }
        }
    };
    let zeros = vec![0; 1 << 16];
    let check = |fake: Fake, part: &str| {
        let (error, _) = refused(&env, &fake, &fake.url("localhost", "require_auth=none"));
        assert!(text(&error).contains(part), "{error}");
    };
    check(Fake::start(None, endless(Vec::new(), notice.clone())), "endless notices");
    // A row of 2 GB, and one with a field of 2 GB.
    let declared = [&b"D"[..], &(2_000_000_000_u32).to_be_bytes(), &[0, 1]].concat();
    check(
        Fake::start(None, endless(row(&declared), zeros.clone())),
        "a message of 2000000000 bytes",
    );
    let field = message(b'D', &[&[0, 1][..], &2_000_000_000_u32.to_be_bytes(), b"text"].concat());
    check(Fake::start(None, answering(row(&field))), "cannot use localhost/team");
    check(
        Fake::start(None, answering(row(&message(b'D', &[0xff, 0xff])))),
        "cannot use localhost/team",
    );
    for garbage in
        [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\0\0\0\0\0\0\0\0\0\0", b"R\0\0\0\x03aaaa"]
    {
        check(Fake::start(None, sending(garbage.to_vec())), "not PostgreSQL");
    }
    check(Fake::start(None, answering(b"?????????".to_vec())), "not PostgreSQL");
    // Notices before it lets anyone in.
    let fake = Fake::start(None, move |peer| {
        peer.write_all(&authentication(0, b""))?;
        loop {
            peer.write_all(&notice)?;
        }
    });
    check(fake, "endless notices");
}

#[test]
fn a_server_that_is_silent_is_given_up_in_time() {
    let env = TestEnv::without_model();
    let certificates = Certificates::new(&["db.example"], false);
    for tls in [None, Some(&certificates)] {
        let fake = Fake::start(tls, |_| Ok(()));
        let url = format!("postgres://me@localhost:{}/team?connect_timeout=1", fake.port);
        let (error, _) = refused(&env, &fake, &url);
        assert!(text(&error).contains("`connect_timeout`"), "{error}");
    }
}
