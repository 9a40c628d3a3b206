//! The binary: everything it does is in the library.

fn main() -> std::process::ExitCode {
    context_graph_cli::main().into()
}
