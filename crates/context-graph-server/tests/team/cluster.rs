//! A PostgreSQL server in a temporary folder, on a free port of the loopback.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) struct Cluster {
    bin: PathBuf,
    folder: tempfile::TempDir,
    pub(crate) port: u16,
    databases: AtomicU32,
}

/// The folder of `initdb`, if it is installed.
fn bin() -> Option<PathBuf> {
    let told = Command::new("pg_config").arg("--bindir").output().ok();
    let told = told.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    found.sort();
    found.extend(told);
    found.into_iter().rev().find(|bin| bin.join("initdb").is_file())
}

/// A free port below the range that the system uses for outgoing connections. Otherwise a connection could take
/// PostgreSQL's port while it is stopped.
fn free_port() -> u16 {
    let random = context_graph_server::keys::random().unwrap();
    let first = 20_000 + u16::from_le_bytes([random[0], random[1]]) % 10_000;
    (first..first + 500).find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

impl Drop for Cluster {
    /// A test that fails must not leave a server behind.
    fn drop(&mut self) {
        self.kill();
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

impl Cluster {
    /// A PostgreSQL program, run as a user that it accepts.
    fn command(&self, program: &str) -> Command {
        if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(self.bin.join(program));
            command.current_dir("/");
            return command;
        }
        Command::new(self.bin.join(program))
    }

    fn run(&self, program: &str, args: &[&str]) -> bool {
        let mut command = self.command(program);
        // The started server would keep inherited files open.
        command
            .args(args)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Starts a server; `None` if PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let cluster = Self {
            bin: bin()?,
            folder: tempfile::tempdir().ok()?,
            port: free_port(),
            databases: AtomicU32::new(0),
        };
        if is_root() {
            let owned = Command::new("chown").arg("postgres").arg(cluster.folder.path()).status();
            owned.ok().filter(std::process::ExitStatus::success)?;
        }
        let data = cluster.data();
        assert!(
            cluster.run("initdb", &["-A", "trust", "--no-sync", "-U", "postgres", "-D", &data]),
            "initdb"
        );
        assert!(cluster.resume(""), "PostgreSQL does not start");
        Some(cluster)
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    /// What it logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// The last lines of the log, for a message.
    pub(crate) fn log_end(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().rev().take(20).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// Starts it again with more settings.
    pub(crate) fn resume(&self, more: &str) -> bool {
        let options = format!(
            "-p {} -k {} -c listen_addresses=127.0.0.1 -c max_connections=200 {more}",
            self.port,
            self.folder.path().display()
        );
        let log = self.folder.path().join("log").display().to_string();
        self.run("pg_ctl", &["-D", &self.data(), "-o", &options, "-l", &log, "-w", "-t", "60", "start"])
    }

    /// Stops it like a power cut.
    pub(crate) fn kill(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]);
    }

    pub(crate) fn stop(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "fast", "-w", "stop"]);
    }

    /// Stops it and removes its files.
    pub(crate) fn end(&self) {
        self.kill();
        let _ = std::fs::remove_dir_all(self.folder.path());
    }

    pub(crate) fn sql(&self, sql: &str) -> bool {
        let port = self.port.to_string();
        self.run("psql", &["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-c", sql, "postgres"])
    }

    pub(crate) fn new_database(&self) -> String {
        let name = format!("team{}", self.databases.fetch_add(1, Ordering::Relaxed));
        assert!(self.sql(&format!("CREATE DATABASE {name}")), "CREATE DATABASE");
        self.address(&name)
    }

    /// The newest database.
    pub(crate) fn newest(&self) -> String {
        format!("team{}", self.databases.load(Ordering::Relaxed) - 1)
    }

    fn address(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// A standby that this server waits for.
    pub(crate) fn standby(&self) -> Self {
        let other = Self {
            bin: self.bin.clone(),
            folder: tempfile::tempdir().unwrap(),
            port: free_port(),
            databases: AtomicU32::new(0),
        };
        if is_root() {
            Command::new("chown").arg("postgres").arg(other.folder.path()).status().unwrap();
        }
        let from = format!("host=127.0.0.1 port={} user=postgres application_name=standby", self.port);
        assert!(
            self.run("pg_basebackup", &["-R", "-D", &other.data(), "-d", &from, "-c", "fast", "-N"]),
            "pg_basebackup"
        );
        assert!(other.resume("-c hot_standby=on"), "the standby does not start");
        assert!(
            self.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'"),
            "synchronous_standby_names"
        );
        assert!(self.sql("SELECT pg_reload_conf()"), "reload");
        other
    }

    pub(crate) fn promote(&self) {
        // It must not wait for a standby any more.
        assert!(self.run("pg_ctl", &["-D", &self.data(), "-w", "promote"]), "promote");
        assert!(self.sql("ALTER SYSTEM RESET synchronous_standby_names"), "reset");
        assert!(self.sql("SELECT pg_reload_conf()"), "reload");
    }
}
