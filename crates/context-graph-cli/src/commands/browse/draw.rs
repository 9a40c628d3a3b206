//! Draws the list, the preview beside or below it, and a line of keys.

use ratatui::Frame;
use ratatui::layout::{Constraint, Direction, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, List, ListItem, ListState, Paragraph, Wrap};

use super::items::{Item, ItemKind, Source};
use super::state::Browser;
use crate::terminal;

/// With at least this many columns, the preview is beside the list.
const WIDE: u16 = 100;

const KEYS: &str = "/ filter  Enter open  y copy id  Tab kind  ? help  q quit";

const HELP: &[&str] = &[
    "up, down, j, k     one further",
    "PageUp, PageDown   ten further",
    "g, G               first, last",
    "/                  filter; Enter keeps it, Esc drops it",
    "Tab                switch between both kinds, sessions only, calls only",
    "Enter              the whole text, in the pager",
    "y                  copy the id",
    "Esc                back; q and Ctrl-C leave",
];

/// What the terminal can show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) has_colour: bool,
    pub(super) is_ascii: bool,
}

impl Look {
    fn style(self, colour: Color) -> Style {
        if self.has_colour { Style::new().fg(colour) } else { Style::new() }
    }

    fn block(self, title: String) -> Block<'static> {
        let ascii = border::Set {
            top_left: "+",
            top_right: "+",
            bottom_left: "+",
            bottom_right: "+",
            vertical_left: "|",
            vertical_right: "|",
            horizontal_top: "-",
            horizontal_bottom: "-",
        };
        let set = if self.is_ascii { ascii } else { border::PLAIN };
        Block::new().borders(Borders::ALL).border_set(set).title(title)
    }

    fn shown(self, text: &str) -> String {
        if self.is_ascii { terminal::ascii(text) } else { text.to_owned() }
    }
}

pub(super) fn draw(frame: &mut Frame<'_>, browser: &mut Browser, source: &dyn Source, look: Look) {
    let [main, foot] = Layout::vertical([Constraint::Min(3), Constraint::Length(1)]).areas::<2>(frame.area());
    let direction = if main.width >= WIDE { Direction::Horizontal } else { Direction::Vertical };
    let halves = Layout::new(direction, [Constraint::Percentage(50), Constraint::Percentage(50)]).split(main);
    list(frame, halves[0], browser, look);
    let lines: Vec<Line<'_>> =
        browser.preview(source).iter().map(|line| Line::from(look.shown(line))).collect();
    let title = browser.chosen_item().map(|item| look.shown(&item.id)).unwrap_or_default();
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }).block(look.block(title)), halves[1]);
    let words = if browser.is_typing {
        format!("/{}_", browser.filter)
    } else if !browser.message.is_empty() {
        browser.message.clone()
    } else if browser.filter.is_empty() {
        KEYS.to_owned()
    } else {
        format!("/{}   Esc drops the filter", browser.filter)
    };
    frame.render_widget(Paragraph::new(look.shown(&terminal::plain(&words, false))), foot);
    if browser.shows_help {
        help(frame, main, look);
    }
}

fn list(frame: &mut Frame<'_>, area: Rect, browser: &Browser, look: Look) {
    let items: Vec<ListItem<'_>> = browser.found().map(|item| row(item, look)).collect();
    let chosen = Style::new().add_modifier(Modifier::REVERSED);
    let list =
        List::new(items).block(look.block(browser.counted())).highlight_symbol("> ").highlight_style(chosen);
    let at = browser.chosen_item().map(|_| browser.chosen());
    frame.render_stateful_widget(list, area, &mut ListState::default().with_selected(at));
}

fn row(item: &Item, look: Look) -> ListItem<'static> {
    let (mark, colour) = match (item.kind, item.is_bad) {
        (ItemKind::Session, _) => ("session", look.style(Color::Cyan)),
        (ItemKind::Call, true) => ("", look.style(Color::Red)),
        (ItemKind::Call, false) => ("", Style::new()),
    };
    let note = if item.kind == ItemKind::Session { mark } else { item.note.as_str() };
    ListItem::new(Line::from(vec![
        Span::styled(format!("{:<11} ", item.when), look.style(Color::DarkGray)),
        Span::styled(look.shown(&format!("{note:>11}  {}", item.title)), colour),
    ]))
}

fn help(frame: &mut Frame<'_>, area: Rect, look: Look) {
    let height = u16::try_from(HELP.len()).unwrap_or(u16::MAX).saturating_add(2).min(area.height);
    let width = 58.min(area.width);
    let [row] =
        Layout::vertical([Constraint::Length(height)]).flex(ratatui::layout::Flex::Center).areas::<1>(area);
    let [place] =
        Layout::horizontal([Constraint::Length(width)]).flex(ratatui::layout::Flex::Center).areas::<1>(row);
    let lines: Vec<Line<'_>> = HELP.iter().map(|line| Line::from(*line)).collect();
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(look.block("keys".to_owned())), place);
}
