//! What is shown, and what keys do. Nothing here needs a terminal.

use std::collections::HashMap;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::items::{Item, ItemKind, MOST_CALLS, MOST_SESSIONS, Source};
use crate::summary::thousands;

/// What the screen must do after a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Nothing,
    Quit,
    /// Show the whole text of the chosen item.
    Open,
    /// Copy this.
    Copy(String),
}

pub(super) struct Browser {
    items: Vec<Item>,
    /// Indexes into `items`, best match first.
    found: Vec<usize>,
    chosen: usize,
    kind: Option<ItemKind>,
    pub(super) filter: String,
    pub(super) is_typing: bool,
    pub(super) shows_help: bool,
    /// A message if the effect of the last key is not visible.
    pub(super) message: String,
    previews: HashMap<usize, Vec<String>>,
    matcher: Matcher,
}

impl Browser {
    pub(super) fn new(items: Vec<Item>) -> Self {
        let found = (0..items.len()).collect();
        Self {
            items,
            found,
            chosen: 0,
            kind: None,
            filter: String::new(),
            is_typing: false,
            shows_help: false,
            message: String::new(),
            previews: HashMap::new(),
            matcher: Matcher::new(Config::DEFAULT),
        }
    }

    pub(super) fn found(&self) -> impl Iterator<Item = &Item> {
        self.found.iter().map(|at| &self.items[*at])
    }

    pub(super) fn chosen(&self) -> usize {
        self.chosen
    }

    pub(super) fn chosen_item(&self) -> Option<&Item> {
        self.found.get(self.chosen).map(|at| &self.items[*at])
    }

    /// How many items are shown, of how many, and of which kind.
    pub(super) fn counted(&self) -> String {
        let what = match self.kind {
            None => "sessions and calls",
            Some(ItemKind::Session) => "sessions",
            Some(ItemKind::Call) => "calls",
        };
        let of = self.items.iter().filter(|item| self.is_wanted(item)).count();
        let many = |kind, most| self.items.iter().filter(|item| item.kind == kind).count() >= most;
        let is_cut = many(ItemKind::Session, MOST_SESSIONS) || many(ItemKind::Call, MOST_CALLS);
        let newest = if is_cut { "the newest " } else { "" };
        let [found, of] = [self.found.len(), of].map(|count| thousands(count as u64));
        format!("{found} of {newest}{of} {what}")
    }

    /// The text beside the list. It is loaded once per item.
    pub(super) fn preview(&mut self, source: &dyn Source) -> &[String] {
        let Some(at) = self.found.get(self.chosen).copied() else { return &[] };
        let item = &self.items[at];
        self.previews.entry(at).or_insert_with(|| source.text(item, false))
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Wish {
        self.message.clear();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c' | 'd') => Wish::Quit,
                _ => Wish::Nothing,
            };
        }
        if self.shows_help {
            self.shows_help = false;
            return Wish::Nothing;
        }
        match key.code {
            KeyCode::Up => self.go_to(self.chosen.saturating_sub(1)),
            KeyCode::Down => self.go_to(self.chosen + 1),
            KeyCode::PageUp => self.go_to(self.chosen.saturating_sub(10)),
            KeyCode::PageDown => self.go_to(self.chosen + 10),
            KeyCode::Tab => self.turn(),
            _ if self.is_typing => self.type_in(key.code),
            code => return self.command(code),
        }
        Wish::Nothing
    }

    fn command(&mut self, code: KeyCode) -> Wish {
        match code {
            KeyCode::Char('q') => return Wish::Quit,
            KeyCode::Esc if self.filter.is_empty() => return Wish::Quit,
            KeyCode::Esc => self.set_filter(String::new()),
            KeyCode::Enter if self.chosen_item().is_some() => return Wish::Open,
            KeyCode::Char('y') => {
                if let Some(item) = self.chosen_item() {
                    let id = item.id.clone();
                    self.message = format!("copied {id}");
                    return Wish::Copy(id);
                }
            }
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('?') => self.shows_help = true,
            KeyCode::Char('k') => self.go_to(self.chosen.saturating_sub(1)),
            KeyCode::Char('j') => self.go_to(self.chosen + 1),
            KeyCode::Char('g') | KeyCode::Home => self.go_to(0),
            KeyCode::Char('G') | KeyCode::End => self.go_to(usize::MAX),
            _ => {}
        }
        Wish::Nothing
    }

    fn type_in(&mut self, code: KeyCode) {
        let mut filter = self.filter.clone();
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.set_filter(String::new());
            }
            KeyCode::Backspace => {
                filter.pop();
                self.set_filter(filter);
            }
            KeyCode::Char(c) if !c.is_control() => {
                filter.push(c);
                self.set_filter(filter);
            }
            _ => {}
        }
    }

    fn go_to(&mut self, at: usize) {
        self.chosen = at.min(self.found.len().saturating_sub(1));
    }

    /// Switches from both kinds to sessions, to calls, and back.
    fn turn(&mut self) {
        self.kind = match self.kind {
            None => Some(ItemKind::Session),
            Some(ItemKind::Session) => Some(ItemKind::Call),
            Some(ItemKind::Call) => None,
        };
        self.look();
    }

    fn set_filter(&mut self, filter: String) {
        self.filter = filter;
        self.look();
    }

    fn is_wanted(&self, item: &Item) -> bool {
        self.kind.is_none_or(|kind| kind == item.kind)
    }

    /// Applies the filter: best match first, and newest first among equals.
    fn look(&mut self) {
        let pattern = Pattern::parse(&self.filter, CaseMatching::Smart, Normalization::Smart);
        let mut letters = Vec::new();
        let mut found: Vec<(u32, usize)> = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            if !self.is_wanted(item) {
                continue;
            }
            let score = pattern.score(Utf32Str::new(&item.text(), &mut letters), &mut self.matcher);
            found.extend(score.map(|score| (score, at)));
        }
        found.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
        self.found = found.into_iter().map(|(_, at)| at).collect();
        self.chosen = 0;
    }
}
