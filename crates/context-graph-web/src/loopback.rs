//! The dashboard of one user on one machine.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::middleware::from_fn_with_state;

use crate::door::{Door, guard};
use crate::site::Site;

/// How often to check whether anybody still visits.
const LOOK: Duration = Duration::from_secs(5);
/// How many threads may wait for the store at the same time.
const THREADS: usize = 4;

/// A dashboard that listens on the loopback but does not answer yet.
#[derive(Debug)]
pub struct Loopback {
    listener: TcpListener,
    door: Arc<Door>,
}

impl Loopback {
    /// Listens on this loopback port, or on a free one if it is 0.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let door = Arc::new(Door::new(listener.local_addr()?.port())?);
        Ok(Self { listener, door })
    }

    /// The address that gives a browser access. It is secret while the dashboard runs.
    pub fn address(&self) -> String {
        self.door.address()
    }

    /// Answers until nobody has visited for `idle`.
    pub fn run(self, site: &Site, idle: Duration) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(THREADS)
            .build()?;
        let app = site.router().layer(from_fn_with_state(Arc::clone(&self.door), guard));
        let outcome = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let looking = tokio::spawn(Arc::clone(&site.pulse).look(site.records()));
            let (door, pulse) = (self.door, Arc::clone(&site.pulse));
            let nobody_visits = async move {
                while pulse.is_watched() || door.last_visit().elapsed() < idle {
                    tokio::time::sleep(LOOK.min(idle)).await;
                }
            };
            let outcome = axum::serve(listener, app).with_graceful_shutdown(nobody_visits).await;
            looking.abort();
            outcome
        });
        // A slow query must not keep the program from ending.
        runtime.shutdown_background();
        outcome
    }
}
