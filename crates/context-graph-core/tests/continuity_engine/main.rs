//! The continuity engine on small test sessions.

mod drift;
mod golden;
mod loops;
mod playing;
