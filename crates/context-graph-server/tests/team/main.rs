//! The team server with SQLite and with a real PostgreSQL, one scenario per promise. If PostgreSQL is not
//! installed, its scenarios are ignored, with the reason. `CONTEXT_GRAPH_TEAM_ROUNDS=200` repeats the faults.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::cast_possible_wrap,
    reason = "a test fails by panicking, and may start processes"
)]

mod attacks;
mod cluster;
mod evident;
mod faults;
mod hostile;
mod machine;
mod managing;
mod metrics;
mod pages;
mod tls;
mod upgrade;

use context_graph_server::db::{DatabaseAddress, Pool, Tls};
use context_graph_server::{Patience, Serving, schema};
use libtest_mimic::{Arguments, Failed, Trial};

use cluster::Cluster;

/// A new database and a server on it.
pub(crate) struct Team {
    pub(crate) pool: Pool,
    pub(crate) place: DatabaseAddress,
    pub(crate) url: String,
    /// The folder of an SQLite database.
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// Starts another server on a database.
pub(crate) fn serve(place: &DatabaseAddress) -> String {
    serve_as(place, |_| {})
}

/// The same with other settings.
pub(crate) fn serve_as(place: &DatabaseAddress, change: impl FnOnce(&mut Serving)) -> String {
    let mut serving = Serving {
        listen: "127.0.0.1:0".parse().unwrap(),
        certificate: None,
        is_behind_proxy: false,
        pool: Pool::new(place.clone()),
        patience: Patience::default(),
        now_ms,
    };
    change(&mut serving);
    let listening = serving.bind().unwrap();
    let url = format!("http://{}", listening.address().unwrap());
    std::thread::spawn(move || listening.run());
    url
}

impl Team {
    fn new(cluster: Option<&Cluster>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = match cluster {
            None => DatabaseAddress::Sqlite(folder.path().join("team.db")),
            Some(cluster) => DatabaseAddress::Postgres(cluster.new_database(), Tls::default()),
        };
        let pool = Pool::new(place.clone());
        schema::migrate(&pool, true, now_ms()).unwrap();
        Self { url: serve(&place), pool, place, folder }
    }

    pub(crate) fn count(&self, sql: &str) -> i64 {
        self.pool.with(|connection| connection.one(sql, &[])).unwrap().map_or(0, |row| row.int(0))
    }
}

type Scenario = (&'static str, fn(&Team));

const SCENARIOS: &[Scenario] = &[
    ("slow and endless requests are cut off", attacks::slow),
    ("a record is stored once however often it is pushed", evident::once),
    ("two servers that take the same sessions store them once", evident::two_servers),
    ("pieces give the same rows as the whole", evident::pieces),
    ("what does not go on from the record is refused and kept aside", evident::refused),
    ("what was forgotten stays forgotten", evident::forgotten),
    ("nobody pushes for others", attacks::others),
    ("what is altered, forged or too large is refused", attacks::altered),
    ("text is never SQL", attacks::text_is_text),
    ("who asks too often is refused, by the address that a proxy tells", attacks::too_often),
    ("who was removed stays out, also when invited again", hostile::removed),
    ("late records change the same rows in pieces and at once", hostile::late),
    ("times that cannot be spoil no page", hostile::times),
    ("who fills the record of refusals hides nothing", hostile::many_refusals),
    ("one address cannot take all connections", hostile::connections),
    ("a machine that sends slowly does not keep others from pushing", hostile::hog),
    ("a member who asks for many pages at once keeps no others waiting", hostile::many_pages),
    ("each sees what the role allows, and looks are noted", pages::roles),
    ("admins manage members on a page, and nobody else does", managing::members_page),
    ("a scrape of the metrics is what Prometheus reads", metrics::scrape),
    ("a tool's or an outcome's calls are found by any spelling of its name", pages::filters),
    ("a search finds what records say, as far as the role allows", pages::search),
];

/// How many scenarios run at the same time. They mostly wait: for the database, for the other side or for a timeout.
const THREADS: usize = 8;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let cluster: Option<&'static Cluster> = Cluster::start().map(|cluster| &*Box::leak(Box::new(cluster)));
    let mut trials = Vec::new();
    // The longest first, so that the others run beside them.
    for (name, scenario) in faults::SCENARIOS.into_iter().chain([pages::PLANS]) {
        let trial = Trial::test(format!("postgresql: {name}"), move || {
            scenario();
            Ok(())
        });
        trials.push(trial.with_ignored_flag(cluster.is_none()));
    }
    let secure = || run(None, tls::only_the_right_certificate);
    let trial = Trial::test("sqlite: only a server with the right certificate is told anything", secure);
    trials.push(trial.with_ignored_flag(!tls::is_possible()));
    let name = "tables of earlier versions are upgraded with all their rows";
    trials.push(Trial::test(format!("sqlite: {name}"), || {
        upgrade::of_sqlite();
        Ok(())
    }));
    let trial = Trial::test(format!("postgresql: {name}"), move || {
        cluster.into_iter().for_each(upgrade::of_postgres);
        Ok(())
    });
    trials.push(trial.with_ignored_flag(cluster.is_none()));
    let retention = move || run(cluster, evident::retention);
    let trial =
        Trial::test("postgresql: a month that was dropped is gone, and the server goes on", retention);
    trials.push(trial.with_ignored_flag(cluster.is_none()));
    let waited_for = move || run(cluster, evident::waited_for);
    let trial =
        Trial::test("postgresql: commits are waited for, whatever the database is set to", waited_for);
    trials.push(trial.with_ignored_flag(cluster.is_none()));
    for &(name, scenario) in SCENARIOS {
        trials.push(Trial::test(format!("sqlite: {name}"), move || run(None, scenario)));
        let trial = Trial::test(format!("postgresql: {name}"), move || run(cluster, scenario));
        trials.push(trial.with_ignored_flag(cluster.is_none()).with_kind(if cluster.is_none() {
            "PostgreSQL is not installed"
        } else {
            ""
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let Some(cluster) = cluster {
        cluster.end();
    }
    conclusion.exit();
}

#[expect(clippy::unnecessary_wraps, reason = "a trial is told so")]
fn run(cluster: Option<&Cluster>, scenario: fn(&Team)) -> Result<(), Failed> {
    let team = Team::new(cluster);
    scenario(&team);
    drop(team.folder);
    Ok(())
}
