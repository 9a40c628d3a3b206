//! Faults: while machines push, the database goes away and comes back, or another one takes over.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use context_graph_server::db::{Place, Pool, Tls};
use context_graph_server::members::Role;
use context_graph_server::schema;

use crate::cluster::Cluster;
use crate::machine::{Machine, link};
use crate::{Team, now_ms, serve};

pub(crate) const SCENARIOS: [(&str, fn()); 2] = [
    ("a power cut of the database loses nothing that was acknowledged", power_cut),
    ("a failover loses nothing that was acknowledged", failover),
];

/// How many rounds.
fn rounds() -> u64 {
    std::env::var("CONTEXT_GRAPH_TEAM_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2)
}

fn team(cluster: &Cluster) -> Team {
    let place = Place::Postgres(cluster.new_database(), Tls::default());
    let pool = Pool::new(place.clone());
    schema::migrate(&pool, true, now_ms()).unwrap();
    Team { url: serve(&place), pool, place, folder: tempfile::tempdir().unwrap() }
}

/// Pushes more and more of a session, a few records at a time, until told to stop. Stores what was
/// acknowledged last.
fn push_on(machine: &Machine, session: &str, is_over: &AtomicBool, acknowledged: &AtomicU64) {
    let mut safe = 0;
    while !is_over.load(Ordering::Relaxed) && safe < 2000 {
        if let Ok(records) = machine.push(session, (safe + 1, safe + 5)) {
            safe = records;
            acknowledged.store(safe, Ordering::Relaxed);
            continue;
        }
        // Like the real client: after any error, it asks the server how far it has come.
        std::thread::sleep(Duration::from_millis(50));
        if let Ok(standing) = machine.client().standing(session) {
            safe = standing.map_or(0, |standing| standing.records);
        }
    }
}

/// Checks that everything acknowledged is there once, and that the chain is unbroken.
fn check(team: &Team, machines: &[Machine], acknowledged: &[AtomicU64]) {
    for (machine, acknowledged) in machines.iter().zip(acknowledged) {
        let standing = machine
            .client()
            .standing("s")
            .unwrap()
            .map_or((0, String::new()), |found| (found.records, found.link));
        let acknowledged = acknowledged.load(Ordering::Relaxed);
        assert!(
            standing.0 >= acknowledged,
            "{} records of {acknowledged} that were acknowledged",
            standing.0
        );
        if standing.0 > 0 {
            assert_eq!(standing.1, link("s", 1, standing.0, "").to_string());
        }
        let of = |sql: &str| team.count(&format!("{sql} WHERE machine = {}", machine.number)).cast_unsigned();
        assert_eq!(of("SELECT count(*) FROM events"), standing.0);
        assert_eq!(of("SELECT count(DISTINCT seq) FROM events"), standing.0);
    }
    assert_eq!(team.count("SELECT count(*) FROM refused"), 0);
}

fn power_cut() {
    let cluster = Cluster::start().unwrap();
    let team = team(&cluster);
    let machines: Vec<Machine> =
        (0..4).map(|at| Machine::join(&team, &format!("m{at}"), Role::Member)).collect();
    let acknowledged: Vec<AtomicU64> = machines.iter().map(|_| AtomicU64::new(0)).collect();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (machine, acknowledged) in machines.iter().zip(&acknowledged) {
            scope.spawn(|| push_on(machine, "s", &is_over, acknowledged));
        }
        for round in 0..rounds() {
            std::thread::sleep(Duration::from_millis(100 + round * 37 % 300));
            cluster.kill();
            assert!(cluster.resume(""), "PostgreSQL does not come back");
        }
        std::thread::sleep(Duration::from_millis(300));
        is_over.store(true, Ordering::Relaxed);
    });
    check(&team, &machines, &acknowledged);
    assert!(acknowledged.iter().any(|count| count.load(Ordering::Relaxed) > 0), "nothing was pushed at all");
    cluster.stop();
}

fn failover() {
    // Each round needs its own primary and standby.
    for _ in 0..rounds().div_ceil(2) {
        let primary = Cluster::start().unwrap();
        let team = team(&primary);
        let database = primary.newest();
        let standby = primary.standby();
        // The server knows both and uses the one that accepts writes.
        let address = format!(
            "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/{database}?target_session_attrs=read-write",
            primary.port, standby.port
        );
        let place = Place::Postgres(address, Tls::default());
        let url = serve(&place);
        let team = Team { pool: Pool::new(place.clone()), place, url: url.clone(), folder: team.folder };
        let mut machines: Vec<Machine> =
            (0..20).map(|at| Machine::join(&team, &format!("m{at}"), Role::Member)).collect();
        for machine in &mut machines {
            machine.url.clone_from(&url);
        }
        let acknowledged: Vec<AtomicU64> = machines.iter().map(|_| AtomicU64::new(0)).collect();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for (machine, acknowledged) in machines.iter().zip(&acknowledged) {
                scope.spawn(|| push_on(machine, "s", &is_over, acknowledged));
            }
            std::thread::sleep(Duration::from_secs(2));
            primary.kill();
            standby.promote();
            std::thread::sleep(Duration::from_secs(3));
            is_over.store(true, Ordering::Relaxed);
        });
        check(&team, &machines, &acknowledged);
        assert!(
            acknowledged.iter().any(|count| count.load(Ordering::Relaxed) > 0),
            "nothing was pushed at all"
        );
        standby.stop();
    }
}
