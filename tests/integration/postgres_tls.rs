//! `kb push` and `kb search --from` over TLS and with passwords, to real servers: the one of `push`, behind a program that
//! decrypts, because it was built without TLS, and that of the system if there is one, which has no pgvector.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use postgres::{Client, NoTls};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::env::TestEnv;
use crate::left_out::left_out;
use crate::postgres_fakes::Certificates;
use crate::push::{check_same, database, home};

const PASSWORD: &str = "seventeen gulls";

/// Decrypts connections and passes them on to a socket. Returns its port.
fn front(certificates: &Certificates, socket: PathBuf) -> u16 {
    let acceptor = tokio_rustls::TlsAcceptor::from(certificates.server.clone());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (acceptor, socket) = (acceptor.clone(), socket.clone());
                tokio::spawn(async move {
                    stream.read_exact(&mut [0; 8]).await?;
                    stream.write_all(b"S").await?;
                    let mut outside = acceptor.accept(stream).await?;
                    let mut inside = tokio::net::UnixStream::connect(socket).await?;
                    tokio::io::copy_bidirectional(&mut outside, &mut inside).await
                });
            }
        })
    });
    port
}

#[test]
fn a_copy_is_pushed_and_searched_with_a_password_over_tls_and_without() {
    let Some((mut client, url)) = database() else { return };
    let (place, params) = url.split_once('?').unwrap();
    let database = place.rsplit('/').next().unwrap();
    let folder = params.split(['=', '&']).nth(1).unwrap().replace("%2F", "/");
    client
        .batch_execute(&format!("CREATE ROLE {database} SUPERUSER LOGIN PASSWORD '{PASSWORD}'"))
        .unwrap();
    let rules = Path::new(&folder).join("pg_hba.conf");
    let others = fs::read_to_string(&rules).unwrap();
    fs::write(&rules, format!("local {database} {database} scram-sha-256\n{others}")).unwrap();
    client.batch_execute("SELECT pg_reload_conf()").unwrap();
    let socket = format!("postgres://{database}@/{database}?host={folder}");
    while Client::connect(&socket, NoTls).is_ok() {}
    let certificates = Certificates::new(&["db.example"], false);
    let port = front(&certificates, Path::new(&folder).join(".s.PGSQL.5432"));
    let encrypted = format!(
        "postgres://{database}@db.example:{port}/{database}?hostaddr=127.0.0.1&sslrootcert={}",
        certificates.authority()
    );
    let mut env = home();
    for url in [&socket, &encrypted] {
        let error =
            env.kb(&["search", "gauge", "--from", url, "--format=json"]).expect(2).json_error();
        assert!(error["fix"].as_str().unwrap().contains("PGPASSWORD"), "{error}");
        let wrong = [("PGPASSWORD", "eighteen gulls")];
        let error = env.kb_with(&wrong, &["push", url, "--format=json"]).expect(2).json_error();
        assert!(error["fix"].as_str().unwrap().contains("PGPASSWORD"), "{error}");
    }
    env.set("PGPASSWORD", PASSWORD);
    env.ok(&["push", &encrypted]);
    for url in [&encrypted, &socket] {
        assert!(check_same(&env, url, &["frozen gauge"]) > 1);
        assert_eq!(env.ok(&["push", url]).stderr, "");
    }
}

/// The server of the system, with TLS and passwords.
struct Server {
    process: Child,
    port: u16,
    certificates: Certificates,
    _dir: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start() -> Option<Self> {
        let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
        let bin = versions.map(|entry| entry.unwrap().path().join("bin")).max()?;
        let dir = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").unwrap();
        let certificates = Certificates::new(&["db.example"], false);
        let path = |name: &str| dir.path().join(name);
        for name in ["server.pem", "server.key"] {
            fs::copy(certificates.path(name), path(name)).unwrap();
        }
        fs::write(path("password"), PASSWORD).unwrap();
        // It refuses to run as root.
        let user = rustix::process::geteuid().is_root().then_some(65534);
        let command = |name: &str| {
            let mut command = Command::new(bin.join(name));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.current_dir(dir.path()).arg("-D").arg(path("data"));
            if let Some(user) = user {
                command.uid(user).gid(user);
            }
            command
        };
        rustix::fs::chmod(path("server.key"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        for path in
            [dir.path().to_owned(), path("server.key"), path("server.pem"), path("password")]
        {
            chown(path, user, user).unwrap();
        }
        let mut init = command("initdb");
        init.args(["--auth=scram-sha-256", "--username=kb", "--no-sync", "--pwfile=password"]);
        if !init.status().ok()?.success() {
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut serve = command("postgres");
        serve.arg("-k").arg(dir.path()).args(["-h", "127.0.0.1", "-p", &port.to_string()]);
        for setting in
            ["ssl=on", "ssl_cert_file=../server.pem", "ssl_key_file=../server.key", "fsync=off"]
        {
            serve.args(["-c", setting]);
        }
        let mut process = serve.spawn().ok()?;
        let url = format!("postgres://kb:{PASSWORD}@127.0.0.1:{port}/postgres");
        while Client::connect(&url, NoTls).is_err() {
            assert!(process.try_wait().unwrap().is_none(), "the server of the system has ended");
        }
        Some(Self { process, port, certificates, _dir: dir })
    }
}

#[test]
fn a_server_of_the_system_is_reached_over_tls_with_the_password_bound_to_its_certificate() {
    let Some(server) = Server::start() else {
        left_out("postgresql", "TLS of PostgreSQL itself");
        return;
    };
    let mut env = TestEnv::without_model();
    env.set("PGPASSWORD", PASSWORD);
    let search = |params: &str| {
        let url = format!(
            "postgres://kb@db.example:{}/postgres?hostaddr=127.0.0.1&sslrootcert={}&{params}",
            server.port,
            server.certificates.authority()
        );
        let error = env.kb(&["search", "gauge", "--fts-only", "--from", &url, "--format=json"]);
        error.expect(2).json_error()["error"].as_str().unwrap().to_owned()
    };
    // The connection is there, and the server has no copy.
    let is_reached = |error: &str| error.contains("no copy of a knowledge base");
    for params in [
        "",
        "sslmode=verify-full",
        "sslmode=verify-full&channel_binding=require",
        "sslmode=verify-ca&channel_binding=disable",
        "sslmode=disable",
        "sslmode=prefer&channel_binding=require",
        "target_session_attrs=read-write",
    ] {
        let error = search(params);
        assert!(is_reached(&error), "{params}: {error}");
    }
    let unbound = search("sslmode=disable&channel_binding=require");
    assert!(unbound.contains("channel binding"), "{unbound}");
    let reader = search("target_session_attrs=read-only");
    assert!(reader.contains("target_session_attrs"), "{reader}");
    assert!(search("require_auth=md5").contains("SCRAM-SHA-256"));
}
