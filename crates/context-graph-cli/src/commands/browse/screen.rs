//! The terminal: taken over, read from, and always restored.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::clipboard::CopyToClipboard;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::crossterm::execute;

use super::draw::{Look, draw};
use super::items::Source;
use super::state::{Browser, Wish};
use crate::commands::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::{Environment, table};

/// How soon a signal is noticed.
const PATIENCE: Duration = Duration::from_millis(200);

pub(super) fn run(mut browser: Browser, source: &dyn Source) -> CommandResult {
    let ended = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&ended)).map_err(|error| failed(&error))?;
    }
    // This also restores the terminal on a panic.
    let mut terminal = ratatui::try_init().map_err(|error| failed(&error))?;
    let looked = look(&mut terminal, &mut browser, source, &ended);
    let given_back = ratatui::try_restore();
    looked.and(given_back).map_err(|error| failed(&error))
}

fn failed(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("the terminal cannot be used: {error}"))
        .with_next_step("`context-graph audit log` prints the same")
}

fn look(
    terminal: &mut DefaultTerminal,
    browser: &mut Browser,
    source: &dyn Source,
    ended: &AtomicBool,
) -> io::Result<()> {
    let look = Look { has_colour: Environment::welcomes_colour(), is_ascii: !Environment::reads_unicode() };
    while !ended.load(Ordering::Relaxed) {
        terminal.draw(|frame| draw(frame, browser, source, look))?;
        while !ended.load(Ordering::Relaxed) && !event::poll(PATIENCE)? {}
        if ended.load(Ordering::Relaxed) {
            break;
        }
        let Event::Key(key) = event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match browser.press(key) {
            Wish::Nothing => {}
            Wish::Quit => break,
            Wish::Open => {
                let text = browser.chosen_item().map(|item| source.text(item, true)).unwrap_or_default();
                ratatui::try_restore()?;
                show(&text);
                *terminal = ratatui::try_init()?;
            }
            Wish::Copy(id) => {
                let mut out = io::stdout();
                execute!(out, CopyToClipboard::to_clipboard_from(id))?;
                out.flush()?;
            }
        }
    }
    Ok(())
}

/// Shows the whole text in a pager.
fn show(lines: &[String]) {
    let _ = table::read_at_leisure(&(lines.join("\n") + "\n"));
}
