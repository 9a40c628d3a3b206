//! The continuity engine on small made-up sessions.

mod drift;
mod golden;
mod loops;
mod playing;
