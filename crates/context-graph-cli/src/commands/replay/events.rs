//! Hook payloads, one per line.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use context_graph_events::decode::MAX_INPUT_BYTES;
use context_graph_events::{Event, decode};

use super::player::{EventSink, timestamp_of};
use crate::commands::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;

pub(crate) fn play(file: &Path, player: &mut dyn EventSink) -> CommandResult {
    let unreadable = |error: std::io::Error| {
        Failure::new(ErrorCode::Parse, format!("cannot read {}: {error}", file.display()))
            .with_next_step("name a file that you can read, or `-` for stdin")
    };
    if file.as_os_str() == "-" {
        play_lines(std::io::stdin().lock(), player).map_err(unreadable)
    } else {
        let opened = std::fs::File::open(file).map_err(unreadable)?;
        play_lines(BufReader::new(opened), player).map_err(unreadable)
    }
}

fn play_lines(mut reader: impl BufRead, player: &mut dyn EventSink) -> std::io::Result<()> {
    let mut last_ms = 0;
    for number in 1.. {
        let mut line = Vec::new();
        let limit = MAX_INPUT_BYTES as u64 + 2;
        if reader.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let understood = decode::object(&line).and_then(|object| {
            let at_ms = timestamp_of(&object);
            Event::from_object(object).map(|event| (event, at_ms))
        });
        match understood {
            Ok((event, at_ms)) => {
                last_ms = at_ms.unwrap_or(last_ms);
                if let Err(error) = player.take(number, event, last_ms) {
                    player.refuse(number, &error.to_string());
                }
            }
            Err(error) => player.refuse(number, &error.to_string()),
        }
    }
    Ok(())
}
