//! Accepts connections, with or without TLS, and limits their number, size and time.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::server::conn::http1;
use hyper::service::Service as _;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::db::Pool;
use crate::http::{App, BODY_PATIENCE, Places, RejectionKind};

/// The maximum number of connections at the same time; more wait in the system's queue.
const CONNECTIONS: usize = 512;
/// The maximum number of connections from one address, so that no address takes all of them. Not used if a proxy is
/// in front.
const OF_ADDRESS: usize = 128;
/// The maximum number of threads that wait for the database at the same time.
const THREADS: usize = 16;
/// The time limit for a connection.
const CONNECTION_LASTS: Duration = Duration::from_hours(1);

/// The time limits for receiving a request.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For its head, and for a TLS handshake.
    pub head: Duration,
    /// For its body.
    pub body: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { head: Duration::from_secs(10), body: BODY_PATIENCE }
    }
}

/// How to serve.
#[derive(Debug)]
pub struct Serving {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Certificate chain and key in PEM, for TLS.
    pub certificate: Option<(std::path::PathBuf, std::path::PathBuf)>,
    /// Whether a proxy is in front, which says where requests are from (`X-Forwarded-For`).
    pub is_behind_proxy: bool,
    /// The database, with its tables.
    pub pool: Pool,
    /// How long requests may take to arrive.
    pub patience: Patience,
    /// The clock.
    pub now_ms: fn() -> i64,
}

/// A server that listens but does not answer yet.
#[derive(Debug)]
pub struct Listening {
    listener: std::net::TcpListener,
    acceptor: Option<Acceptor>,
    is_behind_proxy: bool,
    app: App,
}

#[derive(Clone)]
struct Acceptor(TlsAcceptor);

impl std::fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Acceptor")
    }
}

impl Serving {
    /// Starts listening.
    pub fn bind(self) -> io::Result<Listening> {
        let acceptor = match &self.certificate {
            None => None,
            Some((chain, key)) => Some(Acceptor(TlsAcceptor::from(Arc::new(server_tls(chain, key)?)))),
        };
        let taken = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot listen on {}: {error}", self.listen))
        };
        let listener = std::net::TcpListener::bind(self.listen).map_err(taken)?;
        listener.set_nonblocking(true)?;
        let is_behind_proxy = self.is_behind_proxy;
        Ok(Listening {
            listener,
            acceptor,
            is_behind_proxy,
            app: App::new(self.pool, is_behind_proxy, self.patience, self.now_ms),
        })
    }
}

fn server_tls(chain: &Path, key: &Path) -> io::Result<rustls::ServerConfig> {
    let unusable = |path: &Path, error: &dyn std::fmt::Display| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {error}", path.display()))
    };
    let chain_found = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(chain, &error))?;
    let key_found = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| unusable(chain, &error))?.with_no_client_auth();
    config.with_single_cert(chain_found, key_found).map_err(|error| unusable(chain, &error))
}

impl Listening {
    /// The address it listens on.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until the process is told to end (Ctrl-C or SIGTERM). Requests that have begun are finished.
    pub fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(THREADS)
            .enable_all()
            .build()?;
        // Kept until after the runtime: database connections cannot be closed on one of its threads.
        let app = self.app.clone();
        let outcome = runtime.block_on(self.accept());
        runtime.shutdown_timeout(Duration::from_secs(10));
        drop(app);
        outcome
    }

    async fn accept(self) -> io::Result<()> {
        let listener = TcpListener::from_std(self.listener)?;
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let by_address = Places::new(if self.is_behind_proxy { CONNECTIONS } else { OF_ADDRESS });
        let router = self.app.router();
        let mut ending = std::pin::pin!(told_to_end());
        let recording = tokio::spawn(self.app.clone().keep_record());
        loop {
            let next = async {
                let place = Arc::clone(&places).acquire_owned().await.map_err(io::Error::other)?;
                Ok::<_, io::Error>((place, listener.accept().await?))
            };
            let accepted = tokio::select! {
                accepted = next => accepted,
                () = &mut ending => break,
            };
            let Ok((place, (stream, peer))) = accepted else {
                // Too many open files: wait until some connections end.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let Some(own) = by_address.enter(network(peer.ip())) else {
                self.app.turn_away(peer.ip(), RejectionKind::Frequent);
                continue;
            };
            let _ = stream.set_nodelay(true);
            let (acceptor, router, app) = (self.acceptor.clone(), router.clone(), self.app.clone());
            tokio::spawn(async move {
                let _places = (place, own);
                let served = async {
                    match acceptor {
                        None => answer(stream, peer, router, &app).await,
                        Some(acceptor) => {
                            match tokio::time::timeout(app.patience().head, acceptor.0.accept(stream)).await {
                                Ok(Ok(stream)) => answer(stream, peer, router, &app).await,
                                Ok(Err(_)) => {}
                                Err(_) => app.turn_away(peer.ip(), RejectionKind::Slow),
                            }
                        }
                    }
                };
                let _ = tokio::time::timeout(CONNECTION_LASTS, served).await;
            });
        }
        // Requests in progress still get their answers.
        let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(Duration::from_secs(5), places.acquire_many(all)).await;
        recording.abort();
        self.app.store_record().await;
        Ok(())
    }
}

/// What counts as one address. For IPv6 it is the /64 network, because its owner has all addresses in it.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address @ IpAddr::V4(_) => address,
    }
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    peer: SocketAddr,
    router: Router,
    app: &App,
) {
    let heard = Arc::new(AtomicBool::new(false));
    let router = TowerToHyperService::new(router.layer(axum::Extension(ConnectInfo(peer))));
    let answered = Arc::clone(&heard);
    let service = hyper::service::service_fn(move |request| {
        let (answer, answered) = (router.call(request), Arc::clone(&answered));
        async move {
            let answer = answer.await;
            answered.store(false, Ordering::Relaxed);
            answer
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(app.patience().head).max_buf_size(64 << 10);
    let stream = Heard { stream, heard: Arc::clone(&heard) };
    // An error on one connection does not concern the others.
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        // An idle connection ends with the same error. A request was only too slow if a part of it has arrived.
        if error.is_timeout() && heard.load(Ordering::Relaxed) {
            app.turn_away(peer.ip(), RejectionKind::Slow);
        } else if error.is_parse_too_large() {
            app.turn_away(peer.ip(), RejectionKind::Large);
        }
    }
}

/// A connection that remembers whether anything has arrived since the last answer.
struct Heard<S> {
    stream: S,
    heard: Arc<AtomicBool>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Heard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, into);
        if into.filled().len() > before {
            self.heard.store(true, Ordering::Relaxed);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Heard<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(unix)]
async fn told_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminated) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = terminated.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

#[cfg(not(unix))]
async fn told_to_end() {
    let _ = tokio::signal::ctrl_c().await;
}
