//! Parses a shell command and walks it as a shell would, without running anything.

mod ast;
mod braces;
mod calls;
mod compound;
mod eval;
mod expand;
mod filters;
mod flow;
mod folders;
mod loops;
mod notes;
mod numbers;
mod parameter;
mod parse;
mod redirect;
mod redirections;
mod simple;
mod transform;
mod variables;
mod word;

pub(crate) use eval::Shell;
pub(crate) use flow::Flow;
pub(crate) use notes::VOLUMES;
pub(crate) use redirect::Taint;
