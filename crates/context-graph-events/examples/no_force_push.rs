//! A whole hook: it refuses `git push --force`. Register it for `PreToolUse`.

use std::io::Read as _;

use context_graph_events::claude_code::PreToolUseReply;
use context_graph_events::{Event, HookReply as _};

#[expect(clippy::print_stdout, reason = "a hook answers on stdout")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    if let Event::PreToolUse(call) = Event::from_slice(&bytes)?
        && call.get_command().is_some_and(|command| command.contains("push --force"))
    {
        println!("{}", PreToolUseReply::deny("Push without --force.").into_body());
    }
    Ok(())
}
