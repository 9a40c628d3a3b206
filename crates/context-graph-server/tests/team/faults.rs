//! Faults: while machines push, the database goes away and comes back, or another one takes over.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use context_graph_server::db::{DatabaseAddress, Pool, Tls};
use context_graph_server::keys::random;
use context_graph_server::members::Role;
use context_graph_server::schema;
use context_graph_web::{Records as _, Verification};

use crate::cluster::Cluster;
use crate::machine::{Machine, link};
use crate::{Team, now_ms, pages, serve};

pub(crate) const SCENARIOS: [(&str, fn()); 3] = [
    ("cut connections lose nothing that was acknowledged", cut_connections),
    ("a power cut of the database loses nothing that was acknowledged", power_cut),
    ("a failover loses nothing that was acknowledged", failover),
];

/// How many rounds.
fn rounds() -> u64 {
    std::env::var("CONTEXT_GRAPH_TEAM_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2)
}

fn team(cluster: &Cluster) -> Team {
    let place = DatabaseAddress::Postgres(cluster.new_database(), Tls::default());
    let pool = Pool::new(place.clone());
    schema::migrate(&pool, true, now_ms()).unwrap();
    Team { url: serve(&place), pool, place, folder: tempfile::tempdir().unwrap() }
}

/// Waits `least` milliseconds, plus a random time of up to `more` milliseconds.
fn wait(least: u64, more: u64) {
    let random = random().unwrap();
    let chance = u64::from(u16::from_le_bytes([random[0], random[1]])) * more / 65_536;
    std::thread::sleep(Duration::from_millis(least + chance));
}

/// After this many records, a machine begins another session, so that there is always something to push.
const LONG: u64 = 200;

/// Pushes session after session, a few records at a time, until told to stop. Stores how many were acknowledged.
fn push_on(machine: &Machine, is_over: &AtomicBool, acknowledged: &AtomicU64) {
    let client = machine.client();
    for session in 0.. {
        let name = format!("s{session}");
        let mut safe = 0;
        while safe < LONG {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            if let Ok(records) = client.push(&machine.made(&name, 1, (safe + 1, safe + 5), "")) {
                safe = records;
                acknowledged.store(session * LONG + safe, Ordering::Relaxed);
                continue;
            }
            // As the real client does: after any error, it asks the server how far its copy goes.
            std::thread::sleep(Duration::from_millis(50));
            if let Ok(standing) = client.standing(&name) {
                safe = standing.map_or(0, |standing| standing.records);
            }
        }
    }
}

/// Stops the pushing threads on drop, even after a panic. Otherwise the scope would wait for them forever.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Lets all machines push until `faults` is over; returns how many records of each were acknowledged.
fn while_pushing(machines: &[Machine], faults: impl FnOnce()) -> Vec<AtomicU64> {
    let acknowledged: Vec<AtomicU64> = machines.iter().map(|_| AtomicU64::new(0)).collect();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (machine, acknowledged) in machines.iter().zip(&acknowledged) {
            scope.spawn(|| push_on(machine, &is_over, acknowledged));
        }
        let _over = Over(&is_over);
        faults();
    });
    acknowledged
}

/// Checks that everything acknowledged is there once, and that the chains are unbroken. Returns the number of records.
fn check(team: &Team, machines: &[Machine], acknowledged: &[AtomicU64]) -> u64 {
    let mut all = 0;
    for (machine, acknowledged) in machines.iter().zip(acknowledged) {
        let standings = machine.again(&team.url).client().standings().unwrap();
        let there: u64 = standings.iter().map(|standing| standing.records).sum();
        let acknowledged = acknowledged.load(Ordering::Relaxed);
        assert!(there >= acknowledged, "{there} records of {acknowledged} that were acknowledged");
        for standing in &standings {
            assert_eq!(standing.link, link(&standing.session_id, 1, standing.records, "").to_string());
        }
        let of = |sql: &str| team.count(&format!("{sql} WHERE machine = {}", machine.number)).cast_unsigned();
        assert_eq!(of("SELECT count(*) FROM events"), there);
        assert_eq!(of("SELECT count(DISTINCT (session, seq)) FROM events"), there);
        all += there;
    }
    assert_eq!(team.count("SELECT CAST(sum(records) AS BIGINT) FROM blocks").cast_unsigned(), all);
    let whole = pages::everything(team).verification(true).unwrap();
    assert!(matches!(whole, Verification::Holds { .. }), "{whole:?}");
    assert_eq!(team.count("SELECT count(*) FROM refused"), 0);
    assert!(all > 0, "nothing was pushed at all");
    all
}

fn told(what: &str, rounds: u64, records: u64) {
    eprintln!("{what}: {rounds} rounds, {records} records, none lost, none twice, chains unbroken");
}

/// A proxy in front of a server that can cut its connections at any moment.
struct CutWay {
    url: String,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl CutWay {
    fn to(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let way = format!("http://{}", listener.local_addr().unwrap());
        let server = url.trim_start_matches("http://").to_owned();
        let open: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let known = Arc::clone(&open);
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(&server) else { continue };
                known.lock().unwrap().extend([near.try_clone().unwrap(), far.try_clone().unwrap()]);
                let (mut near_in, mut far_out) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut near_in, &mut far_out));
                let (mut far_in, mut near_out) = (far, near);
                std::thread::spawn(move || std::io::copy(&mut far_in, &mut near_out));
            }
        });
        Self { url: way, open }
    }

    fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn cut_connections() {
    let cluster = Cluster::start().unwrap();
    let team = team(&cluster);
    let way = CutWay::to(&team.url);
    let joined = (0..4).map(|at| Machine::join(&team, &format!("m{at}"), Role::Member));
    let machines: Vec<Machine> = joined.map(|machine| machine.again(&way.url)).collect();
    let acknowledged = while_pushing(&machines, || {
        for _ in 0..rounds() {
            wait(20, 120);
            way.cut();
        }
        wait(300, 0);
    });
    told("cuts", rounds(), check(&team, &machines, &acknowledged));
    cluster.stop();
}

fn power_cut() {
    let cluster = Cluster::start().unwrap();
    let team = team(&cluster);
    let machines: Vec<Machine> =
        (0..4).map(|at| Machine::join(&team, &format!("m{at}"), Role::Member)).collect();
    let acknowledged = while_pushing(&machines, || {
        for round in 0..rounds() {
            wait(100, 300);
            cluster.kill();
            assert!(
                cluster.resume(""),
                "PostgreSQL does not come back in round {round}: {}",
                cluster.log_end()
            );
        }
        wait(300, 0);
    });
    told("power cuts", rounds(), check(&team, &machines, &acknowledged));
    cluster.stop();
}

fn failover() {
    // Each round needs its own primary and standby.
    for _ in 0..rounds() {
        let primary = Cluster::start().unwrap();
        let team = team(&primary);
        let database = primary.newest();
        let standby = primary.standby();
        // The server knows both and uses the one that accepts writes.
        let address = format!(
            "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/{database}?target_session_attrs=read-write",
            primary.port, standby.port
        );
        let place = DatabaseAddress::Postgres(address, Tls::default());
        let url = serve(&place);
        let team = Team { pool: Pool::new(place.clone()), place, url: url.clone(), folder: team.folder };
        let mut machines: Vec<Machine> =
            (0..20).map(|at| Machine::join(&team, &format!("m{at}"), Role::Member)).collect();
        for machine in &mut machines {
            machine.url.clone_from(&url);
        }
        let acknowledged = while_pushing(&machines, || {
            wait(500, 1000);
            primary.kill();
            standby.promote();
            wait(1500, 0);
        });
        told("failover", 1, check(&team, &machines, &acknowledged));
        standby.stop();
    }
}
